"""Where the examples live: dense arrays and CSR matrices."""

from cutplane.sources.base import Source
from cutplane.sources.matrix import CsrSource, DenseSource, as_source

__all__ = ["CsrSource", "DenseSource", "Source", "as_source"]
