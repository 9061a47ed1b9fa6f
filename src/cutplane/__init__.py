"""Support vector machines on large data by cutting planes, each with a proven optimality gap."""

from importlib.metadata import version

from cutplane._runtime import load_core

load_core()

from cutplane.estimators.cross_validation import LinearSVCCV, LinearSVRCV
from cutplane.estimators.kernel_maps import CholeskyFeatures, WhitenedKernelMap
from cutplane.estimators.kernel_structural_svm import KernelStructuralSVM
from cutplane.estimators.linear_one_class import LinearOneClassSVM
from cutplane.estimators.linear_svc import LinearSVC
from cutplane.estimators.linear_svr import LinearSVR
from cutplane.estimators.one_class_svm import OneClassSVM
from cutplane.estimators.ordinal_svc import OrdinalSVC
from cutplane.estimators.persistence import load
from cutplane.estimators.rank_svm import RankSVM
from cutplane.estimators.sampled_cut_svc import SampledCutSVC
from cutplane.estimators.string_svc import StringSVC
from cutplane.estimators.sequence_svm import SequenceSVM
from cutplane.estimators.structural_svm import StructuralSVM
from cutplane.estimators.svc import SVC, NuSVC
from cutplane.estimators.svr import SVR, NuSVR

__version__ = version("cutplane")
__all__ = [
    "SVC",
    "SVR",
    "CholeskyFeatures",
    "KernelStructuralSVM",
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LinearSVRCV",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OrdinalSVC",
    "RankSVM",
    "SampledCutSVC",
    "SequenceSVM",
    "StringSVC",
    "StructuralSVM",
    "WhitenedKernelMap",
    "__version__",
    "load",
]
