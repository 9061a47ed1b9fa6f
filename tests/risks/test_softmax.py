"""The softmax risk: by its definition, by differences, and as planes that nothing is below."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import entr, logsumexp, softmax

from cutplane.risks.softmax import Softmax
from cutplane.testing.risk_contract import check_risk


def problem(n: int = 40, k: int = 4, seed: int = 0) -> tuple[Softmax, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y, weights = rng.integers(k, size=n), rng.random(n)
    return Softmax(y, k, sample_weight=weights), 3.0 * rng.standard_normal((n, k)), y, weights / weights.sum()


def by_definition(scores: np.ndarray, y: np.ndarray, c: np.ndarray) -> float:
    return float(c @ (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]))


@pytest.mark.parametrize("k", [2, 5])
def test_it_keeps_the_contract_of_risks(k: int) -> None:
    y = np.random.default_rng(0).integers(k, size=30)
    check_risk(Softmax(y, k), 30, n_scores=k)


@pytest.mark.parametrize("k", [2, 3, 7, 50])
def test_value_and_plane_are_those_of_the_definition(k: int) -> None:
    risk, scores, y, c = problem(k=k)
    assert risk.value(scores) == pytest.approx(by_definition(scores, y, c), rel=1e-13)
    cut = risk.cut(scores)
    p = softmax(scores, axis=1)
    one = np.eye(k)[y]
    np.testing.assert_allclose(cut.coef, c[:, None] * (p - one), rtol=1e-12, atol=1e-17)
    assert cut.offset == pytest.approx(float(c @ entr(p).sum(axis=1)), rel=1e-12)
    assert float(np.vdot(cut.coef, scores)) + cut.offset == pytest.approx(cut.value, rel=1e-12)


def test_planes_of_any_probabilities_are_below_the_risk() -> None:
    risk, scores, y, c = problem()
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = rng.dirichlet(np.full(4, 0.5), len(y))
        coef, offset = c[:, None] * (p - np.eye(4)[y]), float(c @ entr(p).sum(axis=1))
        other = scores + rng.standard_normal(scores.shape)
        assert float(np.vdot(coef, other)) + offset <= risk.value(other) + 1e-14


def test_coefficients_of_certain_examples_keep_their_digits() -> None:
    scores = np.array([[60.0, 0.0, 1.0]])
    coef, _, value = Softmax([0], 3).cut(scores)
    rest = np.exp(-60.0) + np.exp(-59.0)
    assert coef[0, 0] == pytest.approx(-rest, rel=1e-13)
    assert value == pytest.approx(rest, rel=1e-13)


def test_scores_too_large_for_powers_are_no_trouble() -> None:
    risk = Softmax([0, 1], 3)
    scores = np.array([[1e300, -1e300, 0.0], [1e5, 0.0, -1e5]])
    cut = risk.cut(scores)
    assert cut.value == pytest.approx(0.5 * 1e5)
    assert cut.offset == 0.0


def test_derivatives_are_those_of_differences() -> None:
    risk, scores, _, _ = problem()
    rng = np.random.default_rng(2)
    v, h = rng.standard_normal(scores.shape), 1e-5
    cut = risk.cut(scores)
    product = v.copy()
    totals = risk.curve(cut.coef, product)
    ahead, behind = risk.cut(scores + h * v).coef, risk.cut(scores - h * v).coef
    np.testing.assert_allclose(product, (ahead - behind) / (2.0 * h), atol=1e-9)
    np.testing.assert_allclose(totals, product.sum(axis=0), atol=1e-15)
    value, slope, curvature = risk.along(scores, v, 0.3)
    there = risk.cut(scores + 0.3 * v)
    assert value == pytest.approx(there.value, rel=1e-13)
    assert slope == pytest.approx(float(np.vdot(there.coef, v)), rel=1e-11)
    bent = v.copy()
    risk.curve(there.coef, bent)
    assert curvature == pytest.approx(float(np.vdot(bent, v)), rel=1e-10)
    single = v.astype(np.float32)
    risk.curve(cut.coef, single)
    np.testing.assert_allclose(single, product, atol=1e-7)


def test_derivatives_in_the_intercepts() -> None:
    risk, scores, _, _ = problem()
    b = np.array([0.5, -1.0, 0.2, 0.0])
    value, gradient, hessian = risk.in_intercepts(scores, b)
    cut = risk.cut_at(scores, b)
    assert value == pytest.approx(cut.value, rel=1e-13)
    np.testing.assert_allclose(gradient, cut.totals, atol=1e-15)
    np.testing.assert_allclose(cut.totals, cut.coef.sum(axis=0), atol=1e-15)
    columns = []
    for unit in np.eye(4):
        change = np.broadcast_to(unit, scores.shape).copy()
        columns.append(risk.curve(cut.coef, change))
    np.testing.assert_allclose(hessian, columns, atol=1e-14)


def test_parts_add_up() -> None:
    risk, scores, _, _ = problem()
    rows = np.arange(len(scores))
    parts = [risk.take(part, scale=2.0).value(scores[part]) for part in (rows[:13], rows[13:])]
    assert sum(parts) == pytest.approx(2.0 * risk.value(scores), rel=1e-13)


def test_sums_are_the_same_to_the_bit_by_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    y, scores = rng.integers(5, size=20_000), rng.standard_normal((20_000, 5))
    one, two = (Softmax(y, 5, n_threads=threads).cut(scores) for threads in (1, 2))
    assert one.value == two.value
    assert one.coef.tobytes() == two.coef.tobytes()


def test_the_ray_finds_its_least_point() -> None:
    risk, scores, _, _ = problem()
    ray = risk.ray(scores, np.zeros_like(scores))
    t = ray.minimise(0.01, 0.0, 1.0)
    grid = np.linspace(0.0, 3.0, 3001)
    values = [0.005 * s * s + ray.value(float(s)) for s in grid]
    assert 0.005 * t * t + ray.value(t) <= min(values) + 0.011 * (values[0] - min(values))


@pytest.mark.parametrize(("y", "weights"), [([0, 3], None), ([0, -1], None), ([0, 1], [1.0])])
def test_labels_and_weights_that_do_not_fit_are_refused(y: list[int], weights: list[float] | None) -> None:
    with pytest.raises(ValueError, match="label"):
        Softmax(y, 3, sample_weight=weights)
