"""The contract of risks, on every loss that has a name; and facts of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cutplane.risks.one_class import OneClass
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.testing import check_risk

N = 60
RNG = np.random.default_rng(1)
LABELS = np.where(RNG.random(N) < 0.4, 1, -1).astype(np.int8)
TARGETS = RNG.integers(-3, 4, N) + 0.0
WEIGHTS = RNG.random(N)
WEIGHTS[::7] = 0.0
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "epsilon_insensitive": [{}, {"epsilon": 0.5}, {"epsilon": 2.0}],
    "squared_epsilon_insensitive": [{}, {"epsilon": 0.5}],
    "huber": [{}, {"delta": 0.1}, {"delta": 30.0}],
    "quantile": [{}, {"quantile": 0.9}],
}
CASES = [(BINARY, name, options) for name in BINARY for options in OPTIONS.get(name, [{}])]
CASES += [(REGRESSION, name, options) for name in REGRESSION for options in OPTIONS.get(name, [{}])]
EACH = pytest.mark.parametrize(("known", "name", "options"), CASES, ids=[f"{name}-{o}" for _, name, o in CASES])


def make(known: Any, name: str, options: dict[str, Any], *, weighted: bool = False, n_threads: int = 0) -> Any:
    y = LABELS if known is BINARY else TARGETS
    return known[name](y, WEIGHTS if weighted else None, n_threads=n_threads, **options)


@EACH
@pytest.mark.parametrize("weighted", [False, True])
def test_contract(known, name, options, weighted):
    check_risk(make(known, name, options, weighted=weighted), N)


@pytest.mark.parametrize("nu", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_contract_of_the_one_class_risk(nu, weighted):
    check_risk(OneClass(N, WEIGHTS if weighted else None, nu=nu), N)


PLAIN = {
    "hinge": lambda s, y: np.maximum(0.0, 1.0 - y * s),
    "squared_hinge": lambda s, y: np.maximum(0.0, 1.0 - y * s) ** 2,
    "logistic": lambda s, y: np.logaddexp(0.0, -y * s),
    "epsilon_insensitive": lambda s, y, epsilon=0.0: np.maximum(0.0, np.abs(s - y) - epsilon),
    "squared_epsilon_insensitive": lambda s, y, epsilon=0.0: np.maximum(0.0, np.abs(s - y) - epsilon) ** 2,
    "huber": lambda s, y, delta=1.0: np.where(
        np.abs(s - y) <= delta, 0.5 * (s - y) ** 2, delta * np.abs(s - y) - 0.5 * delta**2
    ),
    "quantile": lambda s, y, quantile=0.5: np.where(s < y, quantile * (y - s), (1.0 - quantile) * (s - y)),
}


@EACH
@pytest.mark.parametrize("weighted", [False, True])
def test_the_value_is_the_mean_of_the_losses(known, name, options, weighted):
    risk = make(known, name, options, weighted=weighted)
    y = LABELS if known is BINARY else TARGETS
    for scale in (0.0, 0.1, 3.0, 800.0):
        scores = scale * RNG.normal(size=N)
        each = PLAIN[name](scores, y, **options)
        assert risk.value(scores) == pytest.approx(np.average(each, weights=WEIGHTS if weighted else None), rel=1e-14)


@EACH
def test_the_offset_is_minus_the_conjugate(known, name, options):
    """For random slopes, found by minimising loss - slope·s by brute force."""
    y = LABELS if known is BINARY else TARGETS
    risk = make(known, name, options)
    coef = 0.7 * risk.smoothed(2.0 * RNG.normal(size=N), 1.0).coef
    least = 0.0
    for slope, target in zip(N * coef, y + 0.0, strict=True):
        found = minimize_scalar(
            lambda s, a=slope, t=target: float(PLAIN[name](s, t, **options)) - a * s,
            bounds=(-80.0, 80.0),
            method="bounded",
            options={"xatol": 1e-10},
        )
        least += found.fun / N
    assert risk.plane_offset(coef) == pytest.approx(least, abs=1e-7)


@EACH
@pytest.mark.parametrize("h", [2.0, 0.3])
def test_curvature_and_slope_are_those_of_the_rounded_risk(known, name, options, h):
    risk = make(known, name, options, weighted=True)
    scores, direction = RNG.normal(size=N), RNG.normal(size=N)
    rows, weights = risk.kinks(scores, h)
    value, slope, curvature = risk.smoothed_ray(scores, direction, 0.0, h)
    assert curvature == pytest.approx(weights @ direction[rows] ** 2 / h)
    assert slope == pytest.approx(risk.smoothed(scores, h).coef @ direction)
    near = [risk.smoothed_ray(scores, direction, t, h)[0] for t in (-1e-6, 1e-6)]
    assert (near[1] - near[0]) / 2e-6 == pytest.approx(slope, abs=1e-6)
    assert value <= risk.value(scores) + 0.5 * h  # rounding moves the risk by little


@EACH
def test_a_part_of_the_sample_is_a_part_of_the_sum(known, name, options):
    risk = make(known, name, options, weighted=True)
    scores, rows = RNG.normal(size=N), np.arange(0, N, 2)
    others = np.arange(1, N, 2)
    assert risk.take(rows).value(scores[rows]) + risk.take(others).value(scores[others]) == pytest.approx(
        risk.value(scores)
    )
    assert risk.take(rows, scale=2.0).value(scores[rows]) == pytest.approx(2.0 * risk.take(rows).value(scores[rows]))


@pytest.mark.parametrize("known", [BINARY, REGRESSION], ids=["binary", "regression"])
def test_threads_do_not_matter(known):
    n = 300_000
    scores, end = RNG.normal(size=n), RNG.normal(size=n)
    y = np.where(RNG.random(n) < 0.5, 1, -1).astype(np.int8) if known is BINARY else RNG.normal(size=n)
    for name, loss in known.items():
        if name == "hinge":
            continue  # has its own test
        one, two = (loss(y, None, n_threads=threads) for threads in (1, 2))
        assert one.value(scores) == two.value(scores)
        assert np.array_equal(one.cut(scores).coef, two.cut(scores).coef)
        assert one.cut(scores)[1:] == two.cut(scores)[1:]
        assert one.smoothed(scores, 0.5)[1:] == two.smoothed(scores, 0.5)[1:]
        assert one.ray(scores, end).minimise(1.0, -0.5, 2.0) == two.ray(scores, end).minimise(1.0, -0.5, 2.0)
        assert one.shift(scores) == two.shift(scores)
        assert all(np.array_equal(a, b) for a, b in zip(one.kinks(scores, 0.5), two.kinks(scores, 0.5), strict=True))


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_the_best_shift_of_the_quantile_loss_is_a_quantile(quantile):
    y = RNG.normal(size=1001)
    shift = REGRESSION["quantile"](y, quantile=quantile).shift(np.zeros(1001))
    assert np.mean(y < shift) <= quantile <= np.mean(y <= shift)


def test_logistic_far_out_is_neither_lost_nor_infinite():
    risk = BINARY["logistic"](np.array([1, -1]))
    assert risk.value(np.array([-1e8, 1e8])) == 1e8
    assert risk.value(np.array([40.0, -40.0])) == pytest.approx(np.exp(-40.0), rel=1e-12)
    assert risk.cut(np.array([-1e8, 1e8])).offset == 0.0


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("epsilon_insensitive", {"epsilon": -0.1}, r"epsilon=-0.1 must be a number, 0 or greater and finite"),
        ("squared_epsilon_insensitive", {"epsilon": "x"}, "epsilon='x' must be a number"),
        ("huber", {"delta": 0.0}, "delta=0.0 must be a number, greater than 0 and finite"),
        ("huber", {"delta": np.inf}, "delta=inf must"),
        ("quantile", {"quantile": 1.0}, "quantile=1.0 must be a number, greater than 0 and less than 1"),
    ],
)
def test_bad_options_are_refused(name, options, words):
    with pytest.raises(ValueError, match=words):
        REGRESSION[name](TARGETS, **options)
