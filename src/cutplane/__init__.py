"""Support vector machines on large data by cutting planes, each with a proven optimality gap."""

from importlib import import_module

TYPE_CHECKING = False  # typing's own takes as long to import as all that is here
if TYPE_CHECKING:
    from cutplane.estimators.cross_validation import LinearSVCCV, LinearSVRCV
    from cutplane.estimators.kernel_maps import CholeskyFeatures, WhitenedKernelMap
    from cutplane.estimators.kernel_structural_svm import KernelStructuralSVM
    from cutplane.estimators.linear_one_class import LinearOneClassSVM
    from cutplane.estimators.linear_svc import LinearSVC
    from cutplane.estimators.linear_svr import LinearSVR
    from cutplane.estimators.one_class_svm import OneClassSVM
    from cutplane.estimators.ordinal_svc import OrdinalSVC
    from cutplane.estimators.persistence import load
    from cutplane.estimators.proofs import verify
    from cutplane.estimators.rank_svm import RankSVM
    from cutplane.estimators.sampled_cut_svc import SampledCutSVC
    from cutplane.estimators.sequence_svm import SequenceSVM
    from cutplane.estimators.string_svc import StringSVC
    from cutplane.estimators.structural_svm import StructuralSVM
    from cutplane.estimators.svc import SVC, NuSVC
    from cutplane.estimators.svr import SVR, NuSVR

    __version__: str

# Where the public names are. They are imported when first asked for: the command must answer Ctrl-C before the second
# that scikit-learn takes, and whoever wants one estimator need not wait for all.
_MODULES = {
    "SVC": "svc",
    "SVR": "svr",
    "CholeskyFeatures": "kernel_maps",
    "KernelStructuralSVM": "kernel_structural_svm",
    "LinearOneClassSVM": "linear_one_class",
    "LinearSVC": "linear_svc",
    "LinearSVCCV": "cross_validation",
    "LinearSVR": "linear_svr",
    "LinearSVRCV": "cross_validation",
    "NuSVC": "svc",
    "NuSVR": "svr",
    "OneClassSVM": "one_class_svm",
    "OrdinalSVC": "ordinal_svc",
    "RankSVM": "rank_svm",
    "SampledCutSVC": "sampled_cut_svc",
    "SequenceSVM": "sequence_svm",
    "StringSVC": "string_svc",
    "StructuralSVM": "structural_svm",
    "WhitenedKernelMap": "kernel_maps",
    "load": "persistence",
    "verify": "proofs",
}
_SUBPACKAGES = (
    "datasets",
    "estimators",
    "io",
    "kernels",
    "metrics",
    "plotting",
    "proof",
    "report",
    "risks",
    "solvers",
    "sources",
)

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
    "verify",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value = getattr(import_module(f"cutplane.estimators.{_MODULES[name]}"), name)
    elif name == "_core":
        from cutplane._runtime import load_core

        value = load_core()
    elif name == "__version__":
        from importlib.metadata import version

        value = version("cutplane")
    elif name in _SUBPACKAGES:
        value = import_module(f"cutplane.{name}")
    else:
        raise AttributeError(f"module 'cutplane' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBPACKAGES})
