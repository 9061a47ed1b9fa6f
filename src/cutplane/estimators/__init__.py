"""Scikit-learn classes by family: linear, kernel, ranking, structured, strings; in `common` what they share.

Each is imported when first asked for: the command must answer Ctrl-C before the second that scikit-learn takes, and
whoever wants one estimator need not wait for all.
"""

from importlib import import_module

TYPE_CHECKING = False  # typing's own takes as long to import as all that is here
if TYPE_CHECKING:
    from cutplane.estimators.common.proofs import verify
    from cutplane.estimators.kernel.kernel_maps import CholeskyFeatures, WhitenedKernelMap
    from cutplane.estimators.kernel.one_class_svm import OneClassSVM
    from cutplane.estimators.kernel.sampled_cut_svc import SampledCutSVC
    from cutplane.estimators.kernel.svc import SVC, NuSVC
    from cutplane.estimators.kernel.svr import SVR, NuSVR
    from cutplane.estimators.linear.cross_validation import LinearSVCCV, LinearSVRCV, LogisticRegressionCV
    from cutplane.estimators.linear.linear_one_class import LinearOneClassSVM
    from cutplane.estimators.linear.linear_svc import LinearSVC
    from cutplane.estimators.linear.linear_svr import LinearSVR
    from cutplane.estimators.linear.logistic_regression import LogisticRegression
    from cutplane.estimators.loading import load
    from cutplane.estimators.ranking.ordinal_svc import OrdinalSVC
    from cutplane.estimators.ranking.rank_svm import RankSVM
    from cutplane.estimators.strings.string_svc import StringSVC
    from cutplane.estimators.structured.kernel_structural_svm import KernelStructuralSVM
    from cutplane.estimators.structured.sequence_svm import SequenceSVM
    from cutplane.estimators.structured.structural_svm import StructuralSVM

# Where each name is.
_MODULES = {
    "SVC": "kernel.svc",
    "SVR": "kernel.svr",
    "CholeskyFeatures": "kernel.kernel_maps",
    "KernelStructuralSVM": "structured.kernel_structural_svm",
    "LinearOneClassSVM": "linear.linear_one_class",
    "LinearSVC": "linear.linear_svc",
    "LinearSVCCV": "linear.cross_validation",
    "LinearSVR": "linear.linear_svr",
    "LinearSVRCV": "linear.cross_validation",
    "LogisticRegression": "linear.logistic_regression",
    "LogisticRegressionCV": "linear.cross_validation",
    "NuSVC": "kernel.svc",
    "NuSVR": "kernel.svr",
    "OneClassSVM": "kernel.one_class_svm",
    "OrdinalSVC": "ranking.ordinal_svc",
    "RankSVM": "ranking.rank_svm",
    "SampledCutSVC": "kernel.sampled_cut_svc",
    "SequenceSVM": "structured.sequence_svm",
    "StringSVC": "strings.string_svc",
    "StructuralSVM": "structured.structural_svm",
    "WhitenedKernelMap": "kernel.kernel_maps",
    "load": "loading",
    "verify": "common.proofs",
}

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
    "LogisticRegression",
    "LogisticRegressionCV",
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
    "load",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'cutplane.estimators' has no attribute {name!r}")
    value = getattr(import_module(f"cutplane.estimators.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
