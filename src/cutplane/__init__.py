"""Support vector machines on large data by cutting planes, each with a proven optimality gap."""

from importlib import import_module

from cutplane import estimators

TYPE_CHECKING = False  # typing's own takes as long to import as all that is here
if TYPE_CHECKING:
    from cutplane.estimators import *  # noqa: F403

    __version__: str

_SUBPACKAGES = (
    "datasets",
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

__all__ = ["__version__"]
__all__ += estimators.__all__


def __getattr__(name: str) -> object:
    if name in estimators.__all__:
        value = getattr(estimators, name)
    elif name == "_core":
        from cutplane._runtime.core import load_core

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
