"""Decisions of kernel machines: an independent solver's optimum must lie in every interval."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from cutplane import SVC, SVR, NuSVC, load
from cutplane.proof import ball

KERNELS: dict[str, dict[str, Any]] = {
    "linear": {},
    "rbf": {"gamma": 0.5},
    "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
    "laplacian": {"gamma": 0.5},
}


def examples(seed: int, n: int = 25) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, 3)) * 0.5 if seed % 2 else rng.normal(size=(n, 3))
    scores = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n)
    return X, scores, rng.normal(size=(20, 3))


def optimum(kernel: str, X: np.ndarray, loss: Any, C: float) -> tuple[np.ndarray, float]:
    """Coefficients of the examples and the intercept, by an independent solver."""
    K = pairwise_kernels(X, metric=kernel, **KERNELS[kernel])
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    v, b = cp.Variable(len(X)), cp.Variable()
    objective = 0.5 * cp.sum_squares(v) + C * cp.sum(loss(root @ v + b))
    cp.Problem(cp.Minimize(objective)).solve(
        solver=cp.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    )
    kept = values > 1e-10 * values.max()
    return vectors[:, kept] @ ((vectors[:, kept].T @ (root @ v.value)) / values[kept]), float(b.value)


def misses(model: Any, kernel: str, X: np.ndarray, new: np.ndarray, best: tuple[np.ndarray, float]) -> int:
    rows = np.vstack([X, new])
    scores = pairwise_kernels(rows, X, metric=kernel, **KERNELS[kernel]) @ best[0] + best[1]
    low, high = model.decision_bounds(rows)
    return int(np.sum((scores + 1e-3 < low) | (scores - 1e-3 > high)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_optimum_of_a_classifier_lies_in_every_interval(kernel):
    for seed in range(4):
        X, scores, new = examples(seed)
        y = np.where(scores > np.median(scores), 1, -1)
        best = optimum(kernel, X, lambda s, y=y: cp.pos(1 - cp.multiply(y, s)), 1.0)
        for tol in (0.5, 1e-3, 1e-6):
            model = SVC(kernel=kernel, tol=tol, **KERNELS[kernel]).fit(X, y).certify_intercept(X, y)
            assert misses(model, kernel, X, new, best) == 0
        labels, certain = model.predict(new, return_certain=True)
        at_best = pairwise_kernels(new, X, metric=kernel, **KERNELS[kernel]) @ best[0] + best[1]
        assert certain.mean() > 0.7
        assert np.array_equal(labels[certain], np.where(at_best > 0, 1, -1)[certain])


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_optimum_of_a_regression_lies_in_every_interval(kernel):
    for seed in range(3):
        X, y, new = examples(seed)
        best = optimum(kernel, X, lambda s, y=y: cp.pos(cp.abs(s - y) - 0.1), 1.0)
        for tol in (0.5, 1e-5):
            model = SVR(kernel=kernel, tol=tol, **KERNELS[kernel]).fit(X, y).certify_intercept(X, y)
            assert misses(model, kernel, X, new, best) == 0
        assert model.score_bounds(X, y)["r2"][0] <= model.score(X, y) <= model.score_bounds(X, y)["r2"][1]


def test_a_radius_too_small_would_be_noticed(monkeypatch):
    monkeypatch.setattr("cutplane.estimators.kernel.certain_kernel.radius", lambda *bounds: 0.1 * ball.radius(*bounds))
    found = 0
    for seed in range(8):
        X, scores, new = examples(seed)
        y = np.where(scores > np.median(scores), 1, -1)
        best = optimum("rbf", X, lambda s, y=y: cp.pos(1 - cp.multiply(y, s)), 1.0)
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            model = SVC(gamma=0.5, max_iter=4).fit(X, y).certify_intercept(X, y)
        found += misses(model, "rbf", X, new, best)
    assert found > 0


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(multi_class):
    X, _, new = examples(2, 60)
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [-0.3, 0.8])
    settings = {"gamma": 0.5, "multi_class": multi_class}
    model = SVC(tol=1e-3, **settings).fit(X, y).certify_intercept(X, y)
    exact = SVC(tol=1e-9, **settings).fit(X, y)
    labels, certain = model.predict(new, return_certain=True)
    assert certain.mean() > 0.3
    assert np.array_equal(labels[certain], exact.predict(new)[certain])
    low, _ = model.decision_bounds(sp.csr_array(new))
    assert low.shape == (20, 3)
    assert np.allclose(low, model.decision_bounds(new)[0])


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("model", [SVC(gamma=0.5), SVC(gamma=0.5, multi_class="ovr"), SVR(gamma=0.5)], ids=str)
def test_intervals_outlive_a_file(model, convert, tmp_path):
    X, scores, new = examples(2, 60)
    y = scores if isinstance(model, SVR) else np.digitize(scores, [-0.3, 0.8])
    model = clone(model).fit(convert(X), y)
    model.save(tmp_path / "without")
    with pytest.raises(ValueError, match=r"call certify_intercept\(X, y\)"):
        load(tmp_path / "without").decision_bounds(new)
    model.certify_intercept(convert(X), y).save(tmp_path / "with")
    again = load(tmp_path / "with")
    assert np.array_equal(again.decision_bounds(convert(new)), model.decision_bounds(convert(new)))
    assert again.score_bounds(X, y) == model.score_bounds(X, y)
    # Two numbers for the ends of an intercept and one for a radius, of each machine.
    assert (tmp_path / "with").stat().st_size < (tmp_path / "without").stat().st_size + 400


def test_damaged_bounds_are_refused():
    X, scores, _ = examples(0)
    model = SVC().fit(X, scores > 0).certify_intercept(X, scores > 0)
    arrays, stored = model._to_file()
    damaged = {"intercept_bounds": arrays["intercept_bounds"][:, ::-1], "radii": np.array([-1.0])}
    for name, message in (("intercept_bounds", "a low and a high one"), ("radii", "0 or more for each machine")):
        with pytest.raises(ValueError, match=message):
            model._from_file({**arrays, name: damaged[name]}, stored)


def test_what_is_not_proven_is_refused():
    X, scores, _ = examples(0)
    y = scores > 0
    with pytest.raises(ValueError, match=r"call certify_intercept\(X, y\)"):
        SVC().fit(X, y).predict(X, return_certain=True)
    with pytest.raises(ValueError, match="Nothing is proven of scores with the precomputed kernel"):
        SVC(kernel="precomputed").fit(X @ X.T, y).certify_intercept(X @ X.T, y)
    assert not hasattr(NuSVC, "decision_bounds")
