"""Which kernel matrices pass for positive semi-definite."""

from __future__ import annotations

import numpy as np
import pytest

from cutplane.kernels import Kernel
from cutplane.kernels.definite import distance_to_definite

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("rank", [1, 5, 60])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_matrices_of_any_rank_and_scale_pass(rank: int, scale: float, dtype: type) -> None:
    vectors = RNG.normal(size=(60, rank))
    if dtype is np.float32 and scale != 1.0:
        scale = scale**0.2
    gram = (vectors @ vectors.T * scale).astype(dtype)
    distance = distance_to_definite(gram)
    assert distance is not None
    assert distance <= 1e-4 * np.abs(gram).max()


@pytest.mark.parametrize("share", [1.0, 1e-3, 1e-9])
def test_an_eigenvalue_below_zero_is_seen(share: float) -> None:
    basis, _ = np.linalg.qr(RNG.normal(size=(40, 40)))
    values = np.linspace(1.0, 2.0, 40)
    values[7] = -share
    assert distance_to_definite((basis * values) @ basis.T) is None


def test_nothing_but_zeros_passes_and_its_opposite_does_not() -> None:
    assert distance_to_definite(np.zeros((5, 5))) == 0.0
    assert distance_to_definite(-np.eye(5)) is None
    assert distance_to_definite(np.array([[0.0, 1.0], [1.0, 0.0]])) is None


def test_kernels_that_are_definite_by_construction() -> None:
    assert all(Kernel(name).definite for name in ("linear", "rbf", "laplacian", "chi2", "poly"))
    assert not any(k.definite for k in (Kernel("sigmoid"), Kernel("poly", coef0=-1.0), Kernel("precomputed")))
