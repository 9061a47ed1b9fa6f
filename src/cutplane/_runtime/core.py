"""How idle threads wait: settled before the compiled core, and OpenMP with it, is loaded."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

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
        return import_module("cutplane._core")
    finally:
        if ours:
            del os.environ["GOMP_SPINCOUNT"]
