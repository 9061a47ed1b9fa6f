"""Newton's systems: the factor lies beside the curvature it was made of."""

from __future__ import annotations

import numpy as np
import pytest

from cutplane.solvers.base import Curvature
from cutplane.solvers.newton_system import NewtonSystem
from cutplane.sources import as_source


@pytest.mark.parametrize("d", [1, 5, 64, 65, 150])
def test_systems_of_one_curvature_are_solved_at_any_kappa(d: int) -> None:
    rng = np.random.default_rng(d)
    X = rng.standard_normal((300, d))
    curvature = Curvature(as_source(X), np.arange(300), rng.random(300), None)
    gradient = rng.standard_normal(d)
    system = NewtonSystem(d)
    dense = X.T @ (curvature.weights[:, None] * X)
    for kappa in (1.0, 30.0, 1e-3):
        p = system.solve(curvature, kappa, gradient, residual=1e-10)
        np.testing.assert_allclose(p, -np.linalg.solve(np.eye(d) + kappa * dense, gradient), rtol=1e-6, atol=1e-9)
        # A factor of the system itself leaves nothing to do: one product, and a second where it is rounded.
        assert system._conjugate_gradients(curvature, kappa, gradient, 1e-3)[1] == 1
