"""Bounds of every method against optima by enumeration."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from cutplane.solvers.stopping import Stopping
from cutplane.structured.cache import PlaneCache
from cutplane.structured.objective import StructuredObjective
from cutplane.structured.oracle import OracleSample
from cutplane.structured.training import METHODS, StructuredTraining
from cutplane.testing import check_certificate

sys.path.insert(0, str(Path(__file__).parent))
from tiny import Enumerated, optimum, sequences

TIGHT = Stopping(1e-6, max_iter=3000)


def run(sample, C, method, *, cache=None, line_search="three-point", stopping=TIGHT):
    training = StructuredTraining(C * sample.examples, stopping, method, line_search, cache=cache)
    return training.run(StructuredObjective(sample))


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_bounds_hold_and_meet(method, rescaling, C):
    X, Y = sequences()
    model = Enumerated()
    best = optimum(model, X, Y, C, rescaling)
    result = run(OracleSample(model, X, Y, rescaling), C, method)
    check_certificate(result.history, result.upper, result.lower, best, accuracy=1e-6)
    assert result.stop_reason == "gap"
    assert result.upper == pytest.approx(best, rel=2e-6)


def test_one_slack_for_all_has_the_optimum_of_one_for_each():
    X, Y = sequences(n=3, longest=2)
    model = Enumerated()
    assert optimum(model, X, Y, 0.5, slacks="1") == pytest.approx(optimum(model, X, Y, 0.5), rel=1e-6)


@pytest.mark.parametrize("search", ["exact", "adaptive"])
def test_exact_line_searches_arrive_too(search):
    X, Y = sequences(seed=3)
    model = Enumerated()
    result = run(OracleSample(model, X, Y), 1.0, "oca", line_search=search)
    assert result.upper == pytest.approx(optimum(model, X, Y, 1.0), rel=2e-6)


def test_cached_planes_spare_searches():
    X, Y = sequences(n=20, seed=1)
    sweeps = {}
    for name in ("without", "with"):
        sample = OracleSample(Enumerated(), X, Y)
        cache = PlaneCache(sample.examples, sample.dimension) if name == "with" else None
        sample.on_planes = None if cache is None else cache.add
        result = run(sample, 1.0, "one-slack", cache=cache)
        sweeps[name] = len(result.history)
        assert result.stop_reason == "gap"
    assert sweeps["with"] < sweeps["without"]


@pytest.mark.nightly
@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_workers_do_not_change_a_bit(backend):
    X, Y = sequences(n=9, seed=2)
    w = np.random.default_rng(0).normal(size=8)
    one = OracleSample(Enumerated(), X, Y).sweep(w)
    two = OracleSample(Enumerated(), X, Y, workers=2, backend=backend).sweep(w)
    assert np.array_equal(one.slope, two.slope)
    assert np.array_equal(one.heights, two.heights)
    assert one.offset == two.offset


def test_a_ray_is_the_risk_along_its_line():
    X, Y = sequences(seed=4)
    objective = StructuredObjective(OracleSample(Enumerated(), X, Y))
    rng = np.random.default_rng(0)
    a, b = objective.at(rng.normal(size=8)), objective.at(rng.normal(size=8))
    ray = objective.ray(a, b)
    grid = np.linspace(0.0, 3.0, 61)

    def f(t):
        return 0.5 * t * t - 0.2 * t + 2.0 * objective.value(objective.mix(a, b, t))

    assert ray.value(0.3) == objective.value(objective.mix(a, b, 0.3))
    found = ray.minimise(1.0, -0.2, 2.0)
    least = min(f(t) for t in grid)
    assert f(found) <= least + 0.2 * (f(0.0) - least) + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_the_last_step_is_that_of_the_proof_and_no_objective_is_below_the_truth(method):
    """Features are quarters: sums of them are exact."""
    X, Y = sequences()
    X = [np.round(4.0 * x) / 4.0 for x in X]
    model = Enumerated()
    result = run(OracleSample(model, X, Y), 0.3, method, stopping=Stopping(1e-3, max_iter=300))
    w = [Fraction(value) for value in result.w.tolist()]

    def height(x, y, other):
        change = model.joint_feature(x, other) - model.joint_feature(x, y)
        return Fraction(model.loss(y, other)) + sum(a * Fraction(b) for a, b in zip(w, change.tolist(), strict=True))

    risk = sum(max(height(x, y, other) for other in model.labellings(x)) for x, y in zip(X, Y, strict=True))
    truth = sum(value * value for value in w) / 2 + Fraction(0.3) * risk
    assert truth <= Fraction(result.upper) <= truth * (1 + Fraction(1, 10**9))
    assert (result.history[-1].upper, result.history[-1].lower) == (result.upper, result.lower)


def test_weights_that_sum_to_more_than_one_prove_no_more():
    X, Y = sequences()
    ascent = OracleSample(Enumerated(), X, Y).ascent(1.0, 0)
    for _ in range(3):
        ascent.epoch()
    slope, offset = ascent.plane()
    for block in ascent._blocks:
        block.weights = {key: 1.5 * weight for key, weight in block.weights.items()}
    more_slope, more_offset = ascent.plane()
    np.testing.assert_allclose(more_slope, slope, rtol=1e-12, atol=1e-15)
    assert more_offset == pytest.approx(offset, rel=1e-12)
