"""Data sets that come with the package."""

from cutplane.datasets.adult import Dataset, adult_svmlight, load_adult
from cutplane.datasets.adult_names import adult_feature_names

__all__ = ["Dataset", "adult_feature_names", "adult_svmlight", "load_adult"]
