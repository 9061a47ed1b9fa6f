"""Support vector machines on large data by cutting planes, each with a proven optimality gap."""

from importlib.metadata import version

from cutplane._runtime import load_core

load_core()

from cutplane.estimators.linear_svc import LinearSVC
from cutplane.estimators.ordinal_svc import OrdinalSVC
from cutplane.estimators.persistence import load
from cutplane.estimators.rank_svm import RankSVM

__version__ = version("cutplane")
__all__ = ["LinearSVC", "OrdinalSVC", "RankSVM", "__version__", "load"]
