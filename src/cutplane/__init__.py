"""Support vector machines on large data by cutting planes, each with a proven optimality gap."""

from importlib.metadata import version

from cutplane._runtime import load_core

load_core()

from cutplane.estimators.linear_svc import LinearSVC
from cutplane.estimators.one_class_svm import OneClassSVM
from cutplane.estimators.persistence import load
from cutplane.estimators.svc import SVC, NuSVC
from cutplane.estimators.svr import SVR, NuSVR

__version__ = version("cutplane")
__all__ = ["SVC", "SVR", "LinearSVC", "NuSVC", "NuSVR", "OneClassSVM", "__version__", "load"]
