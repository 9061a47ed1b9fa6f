"""Classes that few examples decide: sets of the smallest margins, and models that all examples prove."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.device.test_kernels import rows_of
from tests.device.test_lockstep import Sums

from cutplane import LinearSVC
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.estimators.linear import lockstep, working_sets
from cutplane.solvers.newton import lockstep as solver


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Few features are enough, nobody gets far in lockstep, and sets are small; how many classes each round had."""
    monkeypatch.setattr(lockstep, "_FEWEST_FEATURES", 1)
    monkeypatch.setattr(solver, "TUNING", solver.LockstepTuning(most_steps=3))
    monkeypatch.setattr(working_sets, "_FIRST", 60)
    monkeypatch.setattr(working_sets, "_MORE", 40)
    train, counted = working_sets.WorkingSets._train, list[int]()

    def counting(self: Any, found: Any, places: Any, *more: Any) -> Any:
        counted.append(len(places))
        return train(self, found, places, *more)

    monkeypatch.setattr(working_sets.WorkingSets, "_train", counting)
    return counted


def apart(n: int = 1500, d: int = 12, k: int = 4) -> tuple[Any, Any]:
    """Classes that are far from each other but for a few examples."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, k, n)
    X = 4.0 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))
    return X.astype(np.float32), np.where(rng.random(n) < 0.003, (y + 1) % k, y)


@pytest.mark.parametrize("most", [1, 5, 1000])
def test_nearest_are_those_of_the_smallest_margins(kernels: Kernels, most: int) -> None:
    given = Sums(kernels, "hinge", 300, 4, weighted=False)
    codes = np.asarray(kernels.to_host(given.of.codes))
    found = given.there.nearest(given.of, given.there.in_single(given.S.copy()), most)
    for k, label in enumerate(given.of.classes):
        margins = np.where(codes == label, 1.0, -1.0) * given.S[:, k]
        rows = np.asarray(kernels.to_host(found[k]))
        assert len(set(rows.tolist())) == min(most, 300)
        assert margins[rows].max() == np.sort(margins)[min(most, 300) - 1]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_models_are_those_of_the_host(
    kernels: Kernels, rounds: list[int], loss: str, weighted: bool, intercept: bool
) -> None:
    X, y = apart()
    weights = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
    settings: dict[str, Any] = {"C": 3.0, "loss": loss, "fit_intercept": intercept}
    found = LinearSVC(**settings).fit(DeviceMatrix(rows_of(kernels, X)), y, sample_weight=weights)
    assert len(rounds) > 1  # a second look was needed
    exact = LinearSVC(**settings, tol=1e-9).fit(X, y, sample_weight=weights)
    assert found.gap_ <= 1e-3
    for one, other in zip(found.certificates_, exact.certificates_, strict=True):
        assert one.stop_reason == "gap"
        assert all(step.estimate is not None for step in one.history[:-1])  # on sets to the end
        assert one.lower_bound <= other.objective
        assert one.objective >= other.lower_bound
    # The optimum is where the certificates say it is.
    assert (np.linalg.norm(found.coef_ - exact.coef_, axis=1) <= [c.radius + 1e-6 for c in found.certificates_]).all()


def test_classes_that_many_examples_decide_go_on_by_themselves(
    kernels: Kernels, rounds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working_sets, "_MOST", 90)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 6)).astype(np.float32), rng.integers(0, 3, 1200)
    found = LinearSVC(C=0.1).fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert not rounds
    assert found.gap_ <= 1e-3
    assert any(step.estimate is None for step in found.certificates_[0].history[:-1])
