"""How the compiled core is loaded: the module that this machine can run, and how its idle threads wait."""

from __future__ import annotations

import os
import sys
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
_SETTINGS = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def load_core() -> ModuleType:
    """The core, loaded with patient threads; whoever has set how threads wait is left alone."""
    ours = not any(name in os.environ for name in _SETTINGS)
    if ours:
        os.environ["GOMP_SPINCOUNT"] = _SPIN_ROUNDS
    try:
        return _import_core()
    finally:
        if ours:
            del os.environ["GOMP_SPINCOUNT"]


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
