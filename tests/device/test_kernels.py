"""What the kernels add up is what the core adds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.risk import DeviceRisk
from cutplane.device.source import CsrRows, DenseRows, DeviceRows
from cutplane.device.twin_arrays import TwinNumPy, on_twin
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.risks.visited import VisitedRisk
from cutplane.sources import as_source

RISKS: dict[str, Any] = {
    name: loss
    for name, loss in {**BINARY, **REGRESSION}.items()
    if isinstance(loss, type) and issubclass(loss, VisitedRisk)
}
N, D = 500, 7
every_risk = pytest.mark.parametrize("name", RISKS)
weighted = pytest.mark.parametrize("weighted", [False, True])


def rows_of(kernels: Kernels, X: Any) -> DeviceRows:
    if not sp.issparse(X):
        return DenseRows(kernels, kernels.to_device(np.ascontiguousarray(X)))
    if isinstance(kernels.xp, TwinNumPy):
        return CsrRows(kernels, X)
    from cupyx.scipy.sparse import csr_matrix

    return CsrRows(kernels, csr_matrix(sp.csr_matrix(X)))


def pair(kernels: Kernels, name: str, *, weighted: bool) -> tuple[Any, DeviceRisk]:
    rng = np.random.default_rng(sorted(RISKS).index(name))
    z = rng.normal(size=N)
    y = np.where(z > 0, 1, -1) if name in BINARY else z
    risk = RISKS[name](y, rng.random(N) + 0.1 if weighted else None)
    there = DeviceRisk.on(kernels, risk)
    assert there is not None
    return risk, there


@every_risk
@weighted
def test_sums_of_scores(kernels: Kernels, name: str, weighted: bool) -> None:
    risk, there = pair(kernels, name, weighted=weighted)
    rng = np.random.default_rng(1)
    s, v = 1.5 * rng.normal(size=(2, N))
    on = kernels.to_device
    assert there.value(on(s)) == pytest.approx(risk.value(s), rel=1e-12)
    for here, other in ((risk.cut(s), there.cut(on(s))), (risk.smoothed(s, 0.4), there.smoothed(on(s), 0.4))):
        assert_allclose(kernels.to_host(other.coef), here.coef, rtol=1e-12, atol=1e-15)
        assert other[1:3] == pytest.approx(here[1:3], rel=1e-12)
    assert there.smoothed(on(s), 0.4)[3:] == pytest.approx(risk.smoothed(s, 0.4)[3:], rel=1e-9, abs=1e-15)
    found = kernels.to_host(there.extrapolated(on(s), 0.4, 0.8))
    assert_allclose(found, risk.extrapolated(s, 0.4, 0.8), rtol=1e-12, atol=1e-15)
    rows, weights = risk.kinks(s, 0.4)
    assert_array_equal(kernels.to_host(there.kinks(on(s), 0.4)[0]), rows)
    assert_allclose(kernels.to_host(there.kinks(on(s), 0.4)[1]), weights, rtol=1e-12)
    for direction in (v, None):
        expected = [risk.smoothed_ray(s, direction, t, 0.4) for t in (0.3, -1.0, 2.0, 0.0, 0.7)]
        other = there.probed(on(s), None if direction is None else on(direction), (0.3, -1.0, 2.0, 0.0, 0.7), 0.4)
        assert_allclose(other, expected, rtol=1e-11, atol=1e-14)
    assert there.plane_offset(on(risk.smoothed(s, 0.4).coef)) == pytest.approx(
        risk.plane_offset(risk.smoothed(s, 0.4).coef), rel=1e-11
    )


@every_risk
def test_lines(kernels: Kernels, name: str) -> None:
    risk, there = pair(kernels, name, weighted=True)
    s, e = np.random.default_rng(2).normal(size=(2, N))
    ray, other = risk.ray(s, e), there.ray(kernels.to_device(s), kernels.to_device(e))
    assert ray is not None
    for t in (0.0, 0.4, 3.0):
        assert (other.value(t), other.slope(t)) == pytest.approx((ray.value(t), ray.slope(t)), rel=1e-11, abs=1e-13)
    for quadratic in (0.0, 0.3):
        best = ray.minimise(quadratic, -0.2, 1.0)
        found = other.minimise(quadratic, -0.2, 1.0)
        at = [0.5 * quadratic * t * t - 0.2 * t + ray.value(t) for t in (best, found)]
        assert at[1] <= at[0] + 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.uint8])
@pytest.mark.parametrize("shape", [(1, 1), (40, 3), (700, 54), (300, 300)])
def test_dense_passes(kernels: Kernels, dtype: Any, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    X = np.abs(3.0 * rng.normal(size=shape)).astype(dtype)
    wide = X.astype(np.float64)
    rows, w, coef = rows_of(kernels, X), rng.normal(size=shape[1]), rng.normal(size=shape[0])
    coef[::3] = 0.0
    assert_allclose(kernels.to_host(rows.scores(w)), wide @ w, rtol=1e-12, atol=1e-12)
    assert_allclose(rows.combine(coef), wide.T @ coef, rtol=1e-11, atol=1e-11)
    some = kernels.to_device(np.arange(0, shape[0], 2))
    weights = kernels.to_device(rng.random(len(some)))
    there = kernels.to_host(weights)
    assert_allclose(rows.gram(some, weights), (wide[::2].T * there) @ wide[::2], rtol=1e-11, atol=1e-11)
    v = rng.normal(size=shape[1])
    expected = wide[::2].T @ (there * (wide[::2] @ v))
    assert_allclose(rows.curvature(some, weights, v), expected, rtol=1e-11, atol=1e-11)
    extent, own = rows.extent, as_source(wide).extent
    assert extent.reach == pytest.approx(own.reach, rel=1e-6)
    assert_allclose(extent.columns, own.columns)


@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_passes(kernels: Kernels, dtype: Any, indices: Any) -> None:
    rng = np.random.default_rng(4)
    dense = np.where(rng.random((5000, 30)) < 0.2, rng.normal(size=(5000, 30)), 0.0).astype(dtype)
    dense[:, 2] = 1.0  # a column of several segments
    X = sp.csr_array(dense)
    X.indices, X.indptr = X.indices.astype(indices), X.indptr.astype(indices)
    wide = X.astype(np.float64)
    rows, w, coef = rows_of(kernels, X), rng.normal(size=30), rng.normal(size=5000)
    assert_allclose(kernels.to_host(rows.scores(w)), wide @ w, rtol=1e-12, atol=1e-12)
    assert_allclose(rows.combine(coef), wide.T @ coef, rtol=1e-10, atol=1e-10)
    some = kernels.to_device(np.arange(0, 5000, 2))
    assert_allclose(rows.take(some).combine(kernels.to_device(coef[::2])), wide[::2].T @ coef[::2], atol=1e-10)
    extent, own = rows.extent, as_source(wide).extent
    assert (extent.reach, extent.row_depth) == pytest.approx((own.reach, own.row_depth), rel=1e-6)
    assert_allclose(extent.columns, own.columns)


def test_what_is_not_finite_is_seen(kernels: Kernels) -> None:
    for wrong in (np.nan, np.inf):
        X = np.ones((300, 5))
        X[17, 3] = wrong
        for rows in (rows_of(kernels, X), rows_of(kernels, sp.csr_array(X))):
            with pytest.raises(ValueError, match="not finite"):
                DeviceMatrix(rows).check_finite()


def test_arrays_of_the_twin_do_not_mix_with_those_of_the_host() -> None:
    there, here = on_twin(np.arange(3.0)), np.arange(3.0)
    for wrong in (lambda: there + here, lambda: here * there, lambda: np.concatenate([there, here])):
        with pytest.raises(TypeError, match="host"):
            wrong()
    with pytest.raises(IndexError, match="host"):
        there[np.array([0, 1])]
    with pytest.raises(TypeError, match="not known"):
        np.median(there)
    assert float((there + 1.0).sum()) == 6.0
