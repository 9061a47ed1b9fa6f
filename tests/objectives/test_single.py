"""Scores in single precision: planes as valid as ever, and an objective that is exact in the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import LinearSVC
from cutplane.objectives.factory import in_single, make_objective
from cutplane.objectives.rounded import RoundedObjective
from cutplane.proof.prover import Prover
from cutplane.risks.hinge import Hinge
from cutplane.shards import hinge as hinge_shard
from cutplane.shards.hinge import SingleHingeShard
from cutplane.shards.rows import positions_of
from cutplane.solvers.base import ScoresTooCoarseError
from cutplane.sources import as_source

LAYOUTS = {
    "dense": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "float32": lambda X: np.ascontiguousarray(X, np.float32),
    "csr": sp.csr_array,
}


def data(n: int = 3000, d: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.5, rng.standard_normal((n, d)), 0.0).astype(np.float32).astype(np.float64)
    y = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0.0, 1, -1).astype(np.int8)
    return X, y, rng.random(n)


def both(layout: str, *, weighted: bool) -> tuple[RoundedObjective, RoundedObjective]:
    X, y, weights = data()
    source, risk = as_source(LAYOUTS[layout](X), n_threads=2), Hinge(y, weights if weighted else None, n_threads=2)
    return RoundedObjective(SingleHingeShard(source, risk)), make_objective(source, risk)


@pytest.fixture
def always_single(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hinge_shard, "_MANY_EXAMPLES", 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_is_the_objective_in_double_but_for_rounding(layout: str, weighted: bool) -> None:
    single, double = both(layout, weighted=weighted)
    rng = np.random.default_rng(1)
    v, w = rng.standard_normal((2, 12))
    a, b, a_double, b_double = single.at(v), single.score(w, 0.0), double.at(v), double.at(w)
    assert a.scores.dtype == np.float32
    np.testing.assert_allclose(a.scores, a_double.scores, rtol=1e-6, atol=1e-6)
    assert single.value(a) == pytest.approx(double.value(a_double), rel=1e-6)
    assert single.rounding_error(a, 0.5) == pytest.approx(double.rounding_error(a_double, 0.5), rel=1e-5)
    np.testing.assert_allclose(
        single.extrapolated_slope(a, 0.3, 0.5), double.extrapolated_slope(a_double, 0.3, 0.5), atol=1e-5
    )
    crossed = [positions_of(each.crossed(*ends)) for each, *ends in ((single, a, b), (double, a_double, b_double))]
    np.testing.assert_array_equal(*crossed)
    near = [positions_of(each.near_kinks(at, 0.4)) for each, at in ((single, a), (double, a_double))]
    np.testing.assert_array_equal(*near)
    for t in (0.0, 0.4, 3.0):
        np.testing.assert_allclose(
            single.smoothed_ray(a, b, [t], 0.3), double.smoothed_ray(a_double, b_double, [t], 0.3), rtol=1e-4
        )
    for C in (0.1, 10.0):
        ray, ray_double = single.ray(a, b), double.ray(a_double, b_double)
        assert ray is not None
        assert ray_double is not None
        assert ray.minimise(1.0, -0.5, C) == pytest.approx(ray_double.minimise(1.0, -0.5, C), abs=1e-5)
        assert ray.value(0.7) == pytest.approx(ray_double.value(0.7), rel=1e-6)
    for base, base_double in ((None, None), (a, a_double)):
        (there, plane), (there_double, plane_double) = single.stepped(base, w, 0.3), double.stepped(base_double, w, 0.3)
        assert there.scores.dtype == np.float32
        np.testing.assert_allclose(there.scores, there_double.scores, atol=1e-5)
        np.testing.assert_allclose(plane.slope, plane_double.slope, atol=1e-5)
        assert plane.value == pytest.approx(plane_double.value, rel=1e-6)
    mixed = single.mix(a, b, 0.3)
    np.testing.assert_allclose(mixed.scores, double.mix(a_double, b_double, 0.3).scores, atol=1e-5)
    moved, value, cut = single.advance(a, b, 0.2, 0.1, 1.0)
    moved_double, value_double, cut_double = double.advance(a_double, b_double, 0.2, 0.1, 1.0)
    np.testing.assert_array_equal(moved.w, moved_double.w)
    np.testing.assert_allclose(moved.scores, moved_double.scores, atol=1e-5)
    assert value == pytest.approx(value_double, rel=1e-6)
    np.testing.assert_allclose(cut().slope, cut_double().slope, atol=1e-3)  # one example on its kink is 1/n


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_planes_lie_below_the_risk_itself(layout: str, weighted: bool) -> None:
    single, double = both(layout, weighted=weighted)
    rng = np.random.default_rng(2)
    point, end = single.at(rng.standard_normal(12)), single.at(rng.standard_normal(12))
    planes: list[Any] = [single.cut(point), single.smoothed(point, 0.4)]
    planes.append(single.advance(point, end, 0.1, 0.5, 1.0)[2]())
    for plane in planes:
        for _ in range(20):
            w = rng.standard_normal(12) * rng.choice([0.1, 1.0, 10.0])
            assert plane.slope @ w + plane.offset <= double.value(double.at(w)) + 1e-13
    # ... and touch it where they were taken, but for rounding.
    w = rng.standard_normal(12)
    touching = single.cut(single.at(w))
    assert touching.slope @ w + touching.offset == pytest.approx(double.value(double.at(w)), rel=1e-7)


@pytest.mark.usefixtures("always_single")
@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_objective_of_a_model_is_exact(method: str, layout: str) -> None:
    X, y, weights = data()
    model = LinearSVC(C=0.1, method=method, fit_intercept=False, tol=1e-4, n_jobs=1)
    model.fit(LAYOUTS[layout](X), y, sample_weight=weights)
    w = model.coef_[0]
    exact = 0.5 * w @ w + 0.1 * weights @ np.maximum(0.0, 1.0 - y * (X @ w))
    assert model.objective_ == pytest.approx(exact, rel=1e-13)
    assert model.history_[-1].upper == model.objective_
    assert model.gap_ <= 1e-4
    in_double = LinearSVC(C=0.1, fit_intercept=False, tol=1e-9).fit(X, y, sample_weight=weights)
    assert model.lower_bound_ <= in_double.objective_ <= model.objective_ * (1.0 + 1e-9)
    threaded = LinearSVC(C=0.1, method=method, fit_intercept=False, tol=1e-4, n_jobs=3)
    threaded.fit(LAYOUTS[layout](X), y, sample_weight=weights)
    assert (threaded.coef_ == model.coef_).all()
    assert threaded.objective_ == model.objective_


@pytest.mark.usefixtures("always_single")
def test_an_interrupted_run_is_exact_too() -> None:
    X, y, _ = data()
    model = LinearSVC(method="oca", fit_intercept=False, on_step=lambda step: step.iteration == 7)
    with pytest.warns(match="interrupted"):
        model.fit(X, y)
    w = model.coef_[0]
    assert model.objective_ == pytest.approx(0.5 * w @ w + np.maximum(0.0, 1.0 - y * (X @ w)).sum(), rel=1e-12)

    def stop(step: Any) -> None:
        if step.iteration == 7:
            raise KeyboardInterrupt

    with pytest.warns(match="interrupted"):
        again = LinearSVC(method="oca", fit_intercept=False, on_step=stop).fit(X, y)
    assert again.objective_ == model.objective_


@pytest.mark.usefixtures("always_single")
@pytest.mark.parametrize("method", ["auto", "newton", "oca"])
def test_a_gap_that_the_prover_does_not_grant_is_closed_in_double(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = data()
    upper, asked = Prover.upper, []

    def doubtful(self: Prover, w: Any, intercept: Any) -> float:
        asked.append(w)
        return (1.01 if len(asked) == 1 else 1.0) * upper(self, w, intercept)

    monkeypatch.setattr(Prover, "upper", doubtful)
    model = LinearSVC(method=method, fit_intercept=False).fit(X, y)
    assert len(asked) == 2
    w = model.coef_[0]
    assert model.gap_ <= 1e-3
    assert model.stop_reason_ == "gap"
    assert model.objective_ == pytest.approx(0.5 * w @ w + np.maximum(0.0, 1.0 - y * (X @ w)).sum(), rel=1e-12)


@pytest.mark.usefixtures("always_single")
@pytest.mark.parametrize("method", ["auto", "newton", "oca"])
@pytest.mark.parametrize("passes", [0, 1, 3])
def test_scores_beyond_single_precision_are_kept_in_double(
    method: str, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, _ = data()
    small = LinearSVC(C=1.0, method=method, fit_intercept=False).fit(X, y)
    scores, left = SingleHingeShard.at, [passes]

    def soon_too_large(self: SingleHingeShard, w: np.ndarray) -> Any:
        left[0] -= 1
        return scores(self, w if left[0] >= 0 else 1e40 * (w + 1.0))

    monkeypatch.setattr(SingleHingeShard, "at", soon_too_large)
    large = LinearSVC(C=1.0, method=method, fit_intercept=False).fit(X, y)
    assert left[0] == -1
    assert large.gap_ <= 1e-3
    assert large.objective_ == pytest.approx(small.objective_, rel=2e-3)


def test_a_step_beyond_single_precision_is_noticed() -> None:
    single, _ = both("dense", weighted=False)
    point = single.at(np.ones(12))
    assert single.stepped(point, np.full(12, 1e20), 0.3) is not None
    for p in (np.full(12, 1e35), np.full(12, 1e300)):
        for base in (None, point):
            with pytest.raises(ScoresTooCoarseError):
                single.stepped(base, p, 0.3)


@pytest.mark.usefixtures("always_single")
def test_a_start_beyond_single_precision_is_made_in_double(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = data()
    small = LinearSVC(C=1.0, method="newton", fit_intercept=False).fit(X, y)
    step, asked = SingleHingeShard._scored_plane, []

    def too_large(self: SingleHingeShard, w: np.ndarray, base: Any, h: float) -> Any:
        asked.append(base)
        return step(self, 1e40 * (w + 1.0), base, h)

    monkeypatch.setattr(SingleHingeShard, "_scored_plane", too_large)
    large = LinearSVC(C=1.0, method="newton", fit_intercept=False).fit(X, y)
    assert asked == [None]
    assert large.gap_ <= 1e-3
    assert large.objective_ == pytest.approx(small.objective_, rel=2e-3)


def test_it_is_for_many_short_examples_and_gaps_that_it_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = data()
    objective = make_objective(as_source(X), Hinge(y))
    assert in_single(objective, 1e-3) is objective
    monkeypatch.setattr(hinge_shard, "_MANY_EXAMPLES", len(y))
    assert isinstance(in_single(objective, 1e-3).shard, SingleHingeShard)
    assert in_single(objective, 1e-7) is objective
    with_intercept = make_objective(as_source(X), Hinge(y), intercept=True)
    assert in_single(with_intercept, 1e-3) is with_intercept
    monkeypatch.setattr(hinge_shard, "_FEW_ENTRIES", 3)
    assert in_single(objective, 1e-3) is objective
