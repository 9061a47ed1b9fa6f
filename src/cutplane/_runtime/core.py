"""How the compiled core is loaded: the module that this machine can run, and how its idle threads wait."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

_NAME = "cutplane._core"
_PACKAGE = Path(__file__).resolve().parents[1]

# Where the compiler or the system cannot put code for several CPUs into one module, the core is built again for each
# level of x86-64, in a folder of that name (CMakeLists.txt).
_LEVELS = {4: "x86-64-v4", 3: "x86-64-v3"}

# GNU OpenMP lets a thread that waits for others spin for milliseconds. Where another process holds one of the cores,
# the thread that is waited for cannot run meanwhile, and short passes take many times as long (measured: training on
# 32,000 rows beside a busy process, 1.0 s against 0.06 s). This many rounds are some 100 µs.
_SPIN_ROUNDS = "2000"
_WAITING = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def load_core() -> ModuleType:
    """The core, loaded with patient threads that children of fork can make anew."""
    # LLVM's OpenMP, which Clang uses, begins anew in the child of a fork; scikit-learn turns that off for all of a
    # process, and the child's first fit would wait for threads that it does not have.
    settings = {"KMP_INIT_AT_FORK": "TRUE"}
    if not any(name in os.environ for name in _WAITING):  # whoever has set how threads wait is left alone
        settings["GOMP_SPINCOUNT"] = _SPIN_ROUNDS
    with _environment(settings):
        return _import_core()


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """The process's environment with these settings, and as it was afterwards."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def core_folder(package: Path, level: int) -> Path:
    """The folder of the best core that `package` has for a machine of this level of x86-64."""
    fitting = [package / name for number, name in _LEVELS.items() if number <= level]
    return next((folder for folder in fitting if folder.is_dir()), package)


def _import_core() -> ModuleType:
    if _NAME in sys.modules or not any((_PACKAGE / name).is_dir() for name in _LEVELS.values()):
        return import_module(_NAME)
    folder = core_folder(_PACKAGE, import_module("cutplane._cpu_level").cpu_level())
    spec = PathFinder.find_spec(_NAME, [str(folder)])
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} has no compiled core for this Python; install cutplane again.", name=_NAME)
    module = module_from_spec(spec)
    sys.modules[_NAME] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[_NAME]
        raise
    return module
