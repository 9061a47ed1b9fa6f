"""A deadline ends loops early, wherever they are; what is proven does not depend on it."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cutplane import LinearSVC, LinearSVR, OrdinalSVC, RankSVM, StructuralSVM
from cutplane._runtime.deadline import deadline, time_is_up
from cutplane.risks.bracketing import ray_minimum
from cutplane.structured.classes import MulticlassModel


def test_there_is_time_unless_a_deadline_says_otherwise() -> None:
    assert not time_is_up()
    with deadline(None):
        assert not time_is_up()
    with deadline(0.0):
        assert time_is_up()
    assert not time_is_up()


def test_an_inner_deadline_never_gives_more_time() -> None:
    with deadline(0.0), deadline(1000.0):
        assert time_is_up()
    with deadline(1000.0):
        with deadline(-1.0):
            assert time_is_up()
        assert not time_is_up()


def test_a_deadline_is_that_of_its_own_thread() -> None:
    found: list[bool] = []
    with deadline(0.0):
        thread = threading.Thread(target=lambda: found.append(time_is_up()))
        thread.start()
        thread.join()
    assert found == [False]


def test_a_line_search_out_of_time_looks_at_its_start_alone() -> None:
    seen: list[float] = []

    def at(t: float) -> tuple[float, float]:
        seen.append(t)
        return abs(t - 7.3), 1.0 if t >= 7.3 else -1.0

    with deadline(0.0):
        assert ray_minimum(at, 1e-3, 0.0, 1.0) == 0.0
    assert seen == [0.0]
    assert ray_minimum(at, 1e-3, 0.0, 1.0) == pytest.approx(7.3)


_TERSE: dict[str, Any] = {"C": 0.5, "tol": 1e-6}
_MODELS = {
    "newton": LinearSVC(method="newton", **_TERSE),
    "auto": LinearSVC(**_TERSE),
    "three-point": LinearSVC(method="oca", line_search="three-point", **_TERSE),
    "squared hinge": LinearSVC(loss="squared_hinge", **_TERSE),
    "joint classes": LinearSVC(multi_class="crammer_singer", method="oca", **_TERSE),
    "joint classes by ascent": LinearSVC(multi_class="crammer_singer", **_TERSE),
    "regression": LinearSVR(**_TERSE),
    "ranking": RankSVM(method="oca", **_TERSE),
    "ranking by newton": RankSVM(method="newton", **_TERSE),
    "ordered classes": OrdinalSVC(method="oca", **_TERSE),
    "frank-wolfe": StructuralSVM(MulticlassModel(range(3)), method="frank-wolfe", **_TERSE),
    "structured oca": StructuralSVM(MulticlassModel(range(3)), method="oca", **_TERSE),
}


@pytest.mark.parametrize("name", _MODELS)
def test_bounds_hold_where_every_loop_is_cut_short(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=60), [-0.5, 0.5])
    hasty, patient = clone(_MODELS[name]).set_params(max_iter=15), clone(_MODELS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with deadline(0.0):
            hasty.fit(X, y.tolist())
        patient.fit(X, y.tolist())
    assert hasty.lower_bound_ <= patient.objective_
    assert hasty.objective_ >= patient.lower_bound_
    assert np.isfinite(hasty.objective_)
