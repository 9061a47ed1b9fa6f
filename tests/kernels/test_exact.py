"""Kernel values in double precision against extended precision: every error is within the bound that is charged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane.kernels import Kernel
from cutplane.kernels.exact import exact_products

KERNELS = ["linear", "rbf", "poly", "sigmoid", "laplacian", "chi2"]


def in_extended_precision(kernel: Kernel, A: Any, B: Any) -> Any:
    """The kernel by its formula, in the widest floats there are."""
    A, B = A.astype(np.longdouble), B.astype(np.longdouble)
    gamma, coef0 = np.longdouble(kernel.gamma), np.longdouble(kernel.coef0)
    apart, product = A[:, None] - B[None], A @ B.T
    whole = A[:, None] + B[None]
    return {
        "linear": lambda: product,
        "poly": lambda: (gamma * product + coef0) ** kernel.degree,
        "sigmoid": lambda: np.tanh(gamma * product + coef0),
        "rbf": lambda: np.exp(-gamma * (apart**2).sum(-1)),
        "laplacian": lambda: np.exp(-gamma * np.abs(apart).sum(-1)),
        "chi2": lambda: np.exp(-gamma * (apart**2 / np.where(whole > 0, whole, 1)).sum(-1)),
    }[kernel.name]()


@pytest.mark.parametrize("name", KERNELS)
@given(
    seed=st.integers(0, 10**6),
    log_scale=st.integers(-40, 40),
    log_gamma=st.floats(-12, 12),
    offset=st.sampled_from([0.0, 1.0, 1e6]),
    sparse=st.booleans(),
)
def test_products_are_within_the_error_that_is_charged(
    name: str, seed: int, log_scale: int, log_gamma: float, offset: float, sparse: bool
) -> None:
    rng = np.random.default_rng(seed)
    scale = 10.0**log_scale
    X = (np.abs(rng.normal(size=(12, 5))) + offset) * scale * (rng.random((12, 5)) < 0.7)
    gamma = 10.0**log_gamma / scale ** (1 if name in ("laplacian", "chi2") else 2)
    kernel = Kernel(name, gamma=gamma, coef0=0.5, degree=3)
    support, coef = np.arange(0, 12, 2), rng.normal(size=(6, 1)) * 10.0 ** rng.integers(-5, 6)
    found, errors = exact_products(kernel, sp.csr_array(X) if sparse else X, support, coef)
    exact = in_extended_precision(kernel, X, X[support]) @ coef.astype(np.longdouble)
    assert np.all(np.abs(found - exact) <= errors)


def test_errors_are_charged_no_more_than_they_need() -> None:
    X = np.random.default_rng(0).normal(size=(50, 10))
    _, errors = exact_products(Kernel("rbf", gamma=0.1), X, np.arange(50), np.ones((50, 1)))
    assert errors.max() < 1e-10
