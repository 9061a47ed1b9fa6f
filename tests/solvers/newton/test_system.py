"""Systems of Newton's method, against dense linear algebra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from cutplane.shards.curvature import RowCurvature as Curvature
from cutplane.solvers.newton import system as newton_system
from cutplane.solvers.newton.system import LARGEST_FACTOR, NewtonSystem
from cutplane.sources import as_source
from cutplane.sources.augmented import AugmentedSource


def problem(n: int, d: int, *, intercept: bool, sparse: bool = False) -> tuple[Curvature, np.ndarray, np.ndarray]:
    """A curvature of n examples, rows whose outer products add up to it, and a gradient."""
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(2 * n, d)).astype(np.float32)
    rows, weights = np.arange(n, dtype=np.int64), rng.uniform(0.5, 2.0, n)
    mean = X[:n].astype(float).T @ weights / np.sqrt(weights.sum()) if intercept else None
    centre = 0.0 if mean is None else mean / np.sqrt(weights.sum())
    source = as_source(sp.csr_matrix(X) if sparse else X)
    return Curvature(source, rows, weights, mean), np.sqrt(weights)[:, None] * (X[:n] - centre), rng.normal(size=d)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_root_of_a_curvature(intercept: bool, sparse: bool) -> None:
    curvature, rows, _ = problem(20, 30, intercept=intercept, sparse=sparse)
    root = curvature.root(20)
    assert root is not None
    assert_allclose(root.T @ root, rows.T @ rows, atol=1e-4)
    assert curvature.root(19) is None


def test_some_sources_have_no_root() -> None:
    augmented = AugmentedSource(as_source(np.ones((3, 2))), 1.0)
    assert Curvature(augmented, np.arange(3), np.ones(3), None).root(3) is None


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kappa", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize(("n", "d"), [(60, 30), (60, 450), (150, 450), (300, 450), (20, LARGEST_FACTOR + 1)])
def test_a_direction_leaves_little_of_the_gradient(n: int, d: int, kappa: float, intercept: bool) -> None:
    curvature, rows, gradient = problem(n, d, intercept=intercept)
    p = NewtonSystem(d).solve(curvature, kappa, gradient)
    assert p @ gradient < 0.0
    # By a system of as many unknowns as there are examples (Woodbury).
    exact = rows.T @ np.linalg.solve(np.eye(n) / kappa + rows @ rows.T, rows @ gradient) - gradient
    difference = p - exact
    error = difference @ difference + kappa * np.sum((rows @ difference) ** 2)
    assert error <= 0.05 * (exact @ -gradient)


@pytest.mark.parametrize("intercept", [False, True])
def test_few_examples_of_many_features_are_solved_exactly(intercept: bool) -> None:
    """As many unknowns as examples, where conjugate gradients alone leave a tenth."""
    curvature, rows, gradient = problem(100, 450, intercept=intercept)
    p = NewtonSystem(450).solve(curvature, 100.0, gradient)
    exact = np.linalg.solve(np.eye(450) + 100.0 * rows.T @ rows, -gradient)
    assert_allclose(p, exact, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_factor_of_a_small_system_sees_some_of_very_many_examples(
    intercept: bool, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton_system, "TUNING", replace(newton_system.TUNING, rows_per_feature_of_small=100, many=2))
    curvature, rows, gradient = problem(10_000, 5, intercept=intercept, sparse=sparse)
    seen = []
    gram = type(curvature.source).gram
    monkeypatch.setattr(
        type(curvature.source), "gram", lambda self, some, weights: seen.append(len(some)) or gram(self, some, weights)
    )
    exact = np.linalg.solve(np.eye(5) + 30.0 * rows.T @ rows, -gradient)
    found = NewtonSystem(5).solve(curvature, 30.0, gradient)
    assert 250 < seen[0] <= 500
    assert len(seen) == 1
    error = found - exact
    assert 0.0 < error @ error + 30.0 * np.sum((rows @ error) ** 2) <= 0.02 * (exact @ -gradient)


def test_examples_that_depend_on_each_other_are_no_obstacle() -> None:
    curvature, _, gradient = problem(100, 450, intercept=False)
    twice = Curvature(curvature.source, np.repeat(curvature.rows, 2)[:150], np.ones(150), None)
    p = NewtonSystem(450).solve(twice, 1e18, gradient)
    assert np.all(np.isfinite(p))
    assert p @ gradient < 0.0


@pytest.mark.parametrize("d", [1, 5, 64, 65, 150])
def test_systems_of_one_curvature_are_solved_at_any_kappa(d: int) -> None:
    """The factor lies beside the curvature it was made of."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((300, d))
    curvature = Curvature(as_source(X), np.arange(300), rng.random(300), None)
    gradient = rng.standard_normal(d)
    system = NewtonSystem(d)
    dense = X.T @ (curvature.weights[:, None] * X)
    for kappa in (1.0, 30.0, 1e-3):
        p = system.solve(curvature, kappa, gradient, residual=1e-10)
        assert_allclose(p, -np.linalg.solve(np.eye(d) + kappa * dense, gradient), rtol=1e-6, atol=1e-9)
        # A factor of the system itself leaves nothing to do: one product, and a second where it is rounded.
        taken = system._conjugate_gradients(system._precondition, curvature.products(), kappa, gradient, 1e-3)[1]
        assert taken == 1


def test_a_factor_in_double_precision_solves_its_system_by_itself() -> None:
    curvature, rows, gradient = problem(60, 20, intercept=True, sparse=True)
    assert curvature.exact
    exact = np.linalg.solve(np.eye(20) + 30.0 * rows.T @ rows, -gradient)
    p = NewtonSystem(20).solve(curvature, 30.0, gradient, residual=0.9)
    assert_allclose(p, exact, rtol=1e-6, atol=1e-12)
    p = NewtonSystem.of(curvature, 20).solve(curvature, 1.0, gradient, residual=0.9)
    assert_allclose(p, np.linalg.solve(np.eye(20) + rows.T @ rows, -gradient), rtol=1e-6, atol=1e-12)
