"""Support vector machines on large data by cutting planes, each with a proven optimality gap."""

from importlib.metadata import version

from cutplane._runtime import load_core

load_core()

from cutplane.estimators.linear_svc import LinearSVC
from cutplane.estimators.persistence import load
from cutplane.estimators.sequence_svm import SequenceSVM
from cutplane.estimators.structural_svm import StructuralSVM

__version__ = version("cutplane")
__all__ = ["LinearSVC", "SequenceSVM", "StructuralSVM", "__version__", "load"]
