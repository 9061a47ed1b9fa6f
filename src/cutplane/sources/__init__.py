"""Where the examples live: arrays, CSR matrices, strings, files larger than memory."""

from cutplane.sources.base import Source, given_source
from cutplane.sources.mapped import MappedSource, open_rows
from cutplane.sources.matrix import CsrSource, DenseSource, as_source
from cutplane.sources.stacked import Stacked
from cutplane.sources.strings import Spectrum, WeightedDegree

__all__ = [
    "CsrSource",
    "DenseSource",
    "MappedSource",
    "Source",
    "Spectrum",
    "Stacked",
    "WeightedDegree",
    "as_source",
    "given_source",
    "open_rows",
]
