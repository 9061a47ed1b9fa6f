"""Limits of time and Ctrl-C where examples lie on a device: fits end, and the best model is returned."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.device.test_kernels import rows_of
from tests.device.test_lockstep import labelled

from cutplane import LinearSVC
from cutplane.device import programs
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.estimators.linear import joint_classes, lockstep, working_sets
from cutplane.shards import joint
from cutplane.shards import lockstep as shards
from cutplane.solvers.newton import lockstep as solver
from cutplane.testing import device_tour


def pressed(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, at: int) -> None:
    """Ctrl-C, once, when a method is called for the time given."""
    method, calls = getattr(owner, name), list[int]()

    def called(self: Any, *args: Any, **settings: Any) -> Any:
        calls.append(1)
        if len(calls) == at:
            os.kill(os.getpid(), signal.SIGINT)
        return method(self, *args, **settings)

    monkeypatch.setattr(owner, name, called)


def interrupted(model: Any, rows: Any, y: Any) -> Any:
    with pytest.warns(UserWarning, match="was interrupted"):
        model.fit(rows, y)
    assert "interrupted" in {c.stop_reason for c in model.certificates_}
    assert all(c.lower_bound <= c.objective for c in model.certificates_)
    assert threading.current_thread() is threading.main_thread()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return model


def test_ctrl_c_in_lockstep(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "_FEWEST_FEATURES", 1)
    X, y = labelled()
    pressed(monkeypatch, shards.LockstepShard, "look", 3)
    model = interrupted(LinearSVC(tol=1e-4), DeviceMatrix(rows_of(kernels, X)), y)
    assert model.score(X, y) > 0.4  # of five classes


def test_ctrl_c_in_working_sets(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "_FEWEST_FEATURES", 1)
    monkeypatch.setattr(solver, "TUNING", solver.LockstepTuning(most_steps=2))
    monkeypatch.setattr(working_sets, "_FIRST", 60)
    X, y = labelled()
    pressed(monkeypatch, working_sets.WorkingSets, "_solve", 1)
    interrupted(LinearSVC(tol=1e-4), DeviceMatrix(rows_of(kernels, X)), y)


def test_ctrl_c_in_joint_steps(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_classes, "_LEAST_WORK", 0.0)
    X, y = labelled()
    pressed(monkeypatch, joint.JointShard, "step", 2)
    interrupted(LinearSVC(multi_class="crammer_singer"), DeviceMatrix(rows_of(kernels, X)), y)


def test_classes_that_a_sample_leaves_go_on_together(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once they went on one by one, though they had seen no more than the sample."""
    monkeypatch.setattr(lockstep, "_FEWEST_FEATURES", 1)
    X, y = labelled()

    def left(self: lockstep._Group) -> solver.Reached:
        start = self._steps(self._of).run(self._shard(self._X, self._of))
        start.gave_up[:] = True
        return start

    monkeypatch.setattr(lockstep._Group, "_on_sample", left)
    model = LinearSVC(C=0.3).fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert [c.stop_reason for c in model.certificates_] == ["gap"] * 5
    assert all(step.estimate is not None for c in model.certificates_ for step in c.history[:-1])


def test_no_class_goes_on_alone_when_the_time_is_up(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "_FEWEST_FEATURES", 1)
    monkeypatch.setattr(solver, "TUNING", solver.LockstepTuning(most_steps=2))
    X, y = labelled()
    results = lockstep._Group.results

    def slowly(self: lockstep._Group) -> Any:
        found = results(self)
        time.sleep(max(0.0, self._settings.seconds_left))
        return found

    monkeypatch.setattr(lockstep._Group, "results", slowly)
    monkeypatch.setattr(working_sets, "_MOST", 0)
    with pytest.warns(UserWarning, match="ran out of time"):
        model = LinearSVC(tol=1e-4, time_limit=2.0).fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert {c.stop_reason for c in model.certificates_} == {"time_limit"}
    assert all(step.estimate is not None for c in model.certificates_ for step in c.history[:-1])


def test_near_kinks_are_balanced_on_the_device(kernels: Kernels) -> None:
    """Their planes were once handed to the core, by default fits of a few classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 60)).astype(np.float32)
    y = X[:, :20].sum(axis=1) + 0.3 * rng.standard_normal(30_000) > 0
    model = LinearSVC(C=1e4, tol=1e-6).fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert model.gap_ <= 1e-6
    assert any("interior_point" in step.phases for step in model.history_)


def test_kernels_are_compiled_once_on_a_machine(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    made = programs.Compiled(b"code\n\0", {"f<int, double>": "_Zf"})
    calls: list[int] = []

    def compile_() -> programs.Compiled:
        calls.append(1)
        return made

    assert [programs.kept("key", compile_) for _ in range(3)] == [made] * 3
    assert len(calls) == 1
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-1])  # half of it, as by a full disk
    assert programs.kept("key", compile_) == made
    assert programs.kept("another key", compile_) == made
    assert len(calls) == 3
    monkeypatch.setenv("CUPY_CACHE_DIR", str(path))  # no folder
    assert programs.kept("key", compile_) == made


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(len(device_tour.KINDS)))
def test_a_tour_of_estimators(kernels: Kernels, put: Callable[[Any], Any], number: int) -> None:
    places = {"cupy": put, "host": lambda array: array}
    kind = device_tour.KINDS[number]
    for case in device_tour.cases(list(places), 12):
        if case.kind == kind:
            found = device_tour.judged(case, places, 300, 12)
            assert "wrong" not in found, found
