"""Which compiled core is loaded."""

from __future__ import annotations

import os
import platform

import numpy as np
import pytest

from cutplane import _core
from cutplane._runtime import core
from cutplane._runtime.core import core_folder


@pytest.mark.parametrize(
    ("built", "level", "loaded"),
    [
        ([], 4, "."),
        (["x86-64-v3", "x86-64-v4"], 1, "."),
        (["x86-64-v3", "x86-64-v4"], 3, "x86-64-v3"),
        (["x86-64-v3", "x86-64-v4"], 4, "x86-64-v4"),
        (["x86-64-v3"], 4, "x86-64-v3"),
    ],
)
def test_the_best_core_that_the_machine_can_run_is_loaded(tmp_path, built, level, loaded):
    for name in built:
        (tmp_path / name).mkdir()
    assert core_folder(tmp_path, level) == tmp_path / loaded


def test_loops_use_the_registers_of_the_machine():
    # NumPy asks the CPU on its own.
    features = np._core._multiarray_umath.__cpu_features__
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        assert _core.register_lanes() == 2
    elif platform.system() != "Darwin" and features["AVX512_SKX"]:
        assert _core.register_lanes() == 8
    else:
        assert _core.register_lanes() == (4 if features["AVX2"] and features["FMA3"] else 2)


@pytest.mark.parametrize("before", [{}, {"KMP_INIT_AT_FORK": "FALSE", "OMP_WAIT_POLICY": "active"}])
def test_settings_of_openmp_are_those_of_the_load_alone(monkeypatch, before):
    names = ("KMP_INIT_AT_FORK", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    seen = {}
    monkeypatch.setattr(core, "_import_core", lambda: seen.update({name: os.environ.get(name) for name in names}))
    core.load_core()
    # scikit-learn's FALSE is overruled; how threads wait is not, once somebody has said it.
    spin = None if "OMP_WAIT_POLICY" in before else "2000"
    assert seen == {
        "KMP_INIT_AT_FORK": "TRUE",
        "GOMP_SPINCOUNT": spin,
        "OMP_WAIT_POLICY": before.get("OMP_WAIT_POLICY"),
    }
    assert {name: os.environ[name] for name in names if name in os.environ} == before
