"""Data sets that come with the package."""

from cutplane.datasets.adult import Dataset, adult_svmlight, load_adult

__all__ = ["Dataset", "adult_svmlight", "load_adult"]
