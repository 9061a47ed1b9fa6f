"""Newton's method with vectors that stay on the device from one product to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.device.test_device_fits import same
from tests.device.test_kernels import rows_of

from cutplane import LinearSVC
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.shards import device
from cutplane.shards.curvature import RowCurvature
from cutplane.shards.device import DeviceCurvature
from cutplane.solvers import auto
from cutplane.solvers.newton.system import LARGEST_FACTOR, NewtonSystem
from cutplane.sources import as_source


@pytest.fixture(autouse=True)
def every_vector_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_LONG", 1)


def sparse(n: int, d: int) -> sp.csr_array:
    """Some features are in most rows and most in few, as words are."""
    rng = np.random.default_rng(n + d)
    columns = np.minimum(d - 1, (d * rng.random((n, 8)) ** 6).astype(int))
    X = sp.csr_array((rng.random(8 * n), (np.repeat(np.arange(n), 8), columns.ravel())), shape=(n, d))
    X.sum_duplicates()
    return X


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])  # few rows are copied, of many all are gone through
def test_products(kernels: Kernels, kind: str, intercept: bool, share: float) -> None:
    X = sparse(400, 30)
    X = X if kind == "sparse" else X.toarray()
    rng = np.random.default_rng(2)
    rows = np.flatnonzero(rng.random(400) < share)
    weights, v = rng.random(len(rows)), rng.normal(size=30)
    mean = rng.normal(size=30) if intercept else None
    here = RowCurvature(as_source(X), rows, weights, mean)
    there = DeviceCurvature(rows_of(kernels, X), kernels.to_device(rows), kernels.to_device(weights), mean)
    products = there.products()
    assert_allclose(products.back(products.times(products.there(v))), here.product(v), rtol=1e-10, atol=1e-12)
    assert products.diagonal is not None
    exact = (sp.csr_array(X)[rows].toarray() ** 2).T @ weights
    assert_allclose(products.back(products.diagonal()), exact, rtol=1e-12)
    p = NewtonSystem(30).solve(there, 50.0, v, residual=1e-9)
    system = np.eye(30) + 50.0 * (sp.csr_array(X)[rows].toarray().T * weights) @ sp.csr_array(X)[rows].toarray()
    if mean is None:
        assert_allclose(p, -np.linalg.solve(system, v), rtol=1e-6, atol=1e-9)


def test_no_examples_on_kinks(kernels: Kernels) -> None:
    none = kernels.to_device(np.zeros(0, np.int64)), kernels.to_device(np.zeros(0))
    found = DeviceCurvature(rows_of(kernels, sparse(20, 5)), *none, None).products()
    assert_allclose(found.times(np.ones(5)), 0.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", [False, True])
def test_wide_rows(kernels: Kernels, monkeypatch: pytest.MonkeyPatch, loss: str, intercept: bool) -> None:
    """On a device, Newton's method; on the host cutting planes, where examples cannot be visited one by one."""
    monkeypatch.setattr(auto, "TUNING", replace(auto.TUNING, very_wide=LARGEST_FACTOR))
    d = LARGEST_FACTOR + 100
    X = sparse(600, d)
    rng = np.random.default_rng(3)
    y = np.where(X @ rng.normal(size=d) + 0.1 * rng.normal(size=600) > 0, 1, -1)
    settings: dict[str, Any] = {"C": 1.0, "loss": loss, "fit_intercept": intercept}
    there = LinearSVC(**settings).fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert any("newton" in step.phases for step in there.history_)
    same(there, LinearSVC(**settings).fit(X, y), 1e-3)
