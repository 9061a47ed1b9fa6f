"""Kernel machines on a device: proven there as on the processor, whatever the kernel and however many machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from cutplane import SVC, SVR, OneClassSVM
from cutplane.device.kernels import Kernels
from cutplane.device.pair_steps import KernelRows, Sets, Variables
from cutplane.device.pair_steps_twin import TwinPairSteps
from cutplane.device.twin import TwinKernels
from cutplane.kernels import DualProblem, Kernel
from cutplane.kernels.certificate import certify
from cutplane.kernels.device_matrix import DeviceKernelMatrix
from cutplane.kernels.device_smo import DeviceRun, solve_on_device
from cutplane.kernels.exact import exact_products

Put = Callable[[Any], Any]

KERNELS = [
    Kernel("rbf", gamma=0.3),
    Kernel("linear"),
    Kernel("poly", gamma=0.2, coef0=1.0, degree=3),
    Kernel("sigmoid", gamma=0.05, coef0=0.1),
]


def examples(n: int = 240, classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += y
    return X, y


def same(found: Any, alone: Any) -> None:
    """Both are proven, of the same problems."""
    for one, other in zip(found.certificates_, alone.certificates_, strict=True):
        assert one.lower_bound <= other.objective
        assert other.lower_bound <= one.objective
        assert one.objective - one.lower_bound <= 0.02 * abs(one.objective) + 1e-9


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_classes(put: Put, kernel: Kernel, dtype: type) -> None:
    X, y = examples()
    settings: Any = {"kernel": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "C": 3.0}
    found, alone = (SVC(device=device, **settings).fit(X.astype(dtype), y) for device in ("cuda", None))
    same(found, alone)
    assert found.certificate_of_ == "kernel"
    assert set(found.stop_reason_.split()) <= {"kkt"} or found.stop_reason_ == "kkt"
    assert_allclose(found.intercept_, alone.intercept_, atol=0.01 * max(1.0, float(np.abs(alone.intercept_).max())))
    assert np.mean(found.predict(X) == alone.predict(X)) > 0.98


def test_two_classes_sparse_weights_and_probabilities(put: Put) -> None:
    X, y = examples(classes=2)
    weights = np.random.default_rng(1).random(len(y))
    weights[:5] = 0.0
    sparse = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    found, alone = (
        SVC(device=device, probability=True, class_weight={0: 2.0}).fit(sparse, y, weights) for device in ("cuda", None)
    )
    same(found, alone)
    assert_allclose(found.predict_proba(sparse), alone.predict_proba(sparse), atol=0.02)


def test_targets_and_one_class(put: Put) -> None:
    X, y = examples()
    z = X[:, 0] + 0.1 * y
    same(SVR(device="cuda").fit(X, z), SVR().fit(X, z))
    found, alone = OneClassSVM(nu=0.2, device="cuda").fit(X), OneClassSVM(nu=0.2).fit(X)
    assert found.lower_bound_ <= alone.objective_
    assert alone.lower_bound_ <= found.objective_
    assert np.mean(found.predict(X) == alone.predict(X)) > 0.97


def test_the_same_bits_every_time(put: Put) -> None:
    X, y = examples()
    first, second = (SVC(device="cuda").fit(X, y) for _ in range(2))
    assert_array_equal(first.dual_coef_, second.dual_coef_)
    assert first.lower_bound_ == second.lower_bound_


def test_rows_where_the_whole_matrix_does_not_fit(put: Put, kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = examples()
    whole = SVC(device="cuda").fit(X, y)
    monkeypatch.setattr(type(kernels), "free_bytes", property(lambda self: 1000))
    same(SVC(device="cuda").fit(X, y), whole)


@pytest.mark.parametrize(
    "limit", [{"max_iter": 7}, {"time_limit": 1e-9}, {"on_step": lambda step: True}], ids=["steps", "time", "caller"]
)
def test_what_ends_early_is_proven(put: Put, limit: dict[str, Any]) -> None:
    X, y = examples()
    with pytest.warns(UserWarning, match=r"max_iter|out of time|interrupted"):
        found = SVC(device="cuda", **limit).fit(X, y)
    for one, best in zip(found.certificates_, SVC().fit(X, y).certificates_, strict=True):
        assert one.stop_reason in ("max_iter", "time_limit", "interrupted")
        assert one.lower_bound <= best.objective
        assert best.lower_bound <= one.objective
        assert one.n_iter <= 7


def test_steps_are_seen(put: Put) -> None:
    X, y = examples()
    steps: list[Any] = []
    model = SVC(device="cuda", on_step=steps.append).fit(X, y)
    assert {step.problem for step in steps} == {0, 1, 2}
    assert len(model.history_) > 3


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"device": "gpu"}, "device='gpu' must be 'cuda'"),
        ({"device": ["cuda:0", "cuda:1"]}, "kernel machines are trained on one GPU"),
        ({"stopping": "gap"}, "stopping='gap' is for the processor"),
        ({"selection": "ofs1"}, "selection='ofs1' is for the processor"),
        ({"kernel": "laplacian"}, "has the kernels linear, poly, rbf and sigmoid, not 'laplacian'"),
        ({"kernel": "linear", "C": 1.0}, "Kernel values are up to"),
    ],
)
def test_what_is_refused(put: Put, settings: dict[str, Any], sentence: str) -> None:
    X, y = examples()
    with pytest.raises(ValueError, match=sentence):
        SVC(**{"device": "cuda", **settings}).fit(X * 1e10, y)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_scores_for_proofs_are_within_their_errors(kernels: Kernels, kernel: Kernel) -> None:
    X, _ = examples()
    rng = np.random.default_rng(3)
    rows = rng.permutation(len(X))[:150].astype(np.int64)
    support, coef = np.arange(0, 150, 3), rng.normal(size=50)
    found, errors = DeviceKernelMatrix(kernels, X, kernel).exact_scores(rows, support, coef)
    exact, own = exact_products(kernel, X[rows], support, coef[:, None])
    assert (np.abs(found - exact[:, 0]) <= errors + own[:, 0]).all()
    assert errors.max() < 1e-10
    assert errors.min() > 0.0


def test_bounds_are_those_of_the_certificate(kernels: Kernels) -> None:
    X, y = examples(classes=2)
    kernel = Kernel("rbf", gamma=0.3)
    problem = DualProblem.classification(np.where(y > 0, 1, -1), 3.0)
    (found,) = solve_on_device([problem], [np.arange(len(y))], DeviceKernelMatrix(kernels, X, kernel), DeviceRun(1e-4))
    support = np.flatnonzero(found.alpha)
    proof = certify(kernel, X, problem, support, (problem.y * found.alpha)[support], found.rho)
    assert found.primal == pytest.approx(proof.objective, rel=1e-9)
    assert found.dual == pytest.approx(proof.lower_bound, rel=1e-9)
    assert found.gap < 1e-3


def test_nu_problems_are_refused(kernels: Kernels) -> None:
    X, y = examples(classes=2)
    problem = DualProblem.nu_classification(np.where(y > 0, 1, -1), 0.3)
    with pytest.raises(ValueError, match="for the processor"):
        solve_on_device([problem], [np.arange(len(y))], DeviceKernelMatrix(kernels, X, KERNELS[0]), DeviceRun(1e-3))


@pytest.mark.parametrize("q", [32, 1500, 2048])
def test_pair_steps_are_the_twins(kernels: Kernels, q: int) -> None:
    """Sets of any size: multipliers stay within their bounds, sums stay, and what violates is what the twin leaves."""
    rng = np.random.default_rng(q)
    X = rng.normal(size=(2, q, 3))
    sizes = np.array([q, q - 7], np.int32)
    y = np.where(rng.random((2, q)) < 0.5, 1, -1).astype(np.int8)
    K = np.exp(-0.5 * ((X.reshape(-1, 1, 3) - X.reshape(1, -1, 3)) ** 2).sum(axis=2)).astype(np.float32)
    column = np.arange(2 * q, dtype=np.int32).reshape(2, q)
    eps, upper = np.array([1e-3, 1e-2]), np.full((2, q), 2.0)

    def left(of: Kernels) -> Any:
        at = of.to_device(column)
        sets = Sets(
            at,
            of.to_device(y),
            of.to_device(upper),
            of.to_device(np.zeros((2, q))),
            of.to_device(y.astype(np.float64)),
            of.to_device(sizes),
            of.to_device(eps),
        )
        rows = KernelRows(of.to_device(K), at)
        steps = of.pair_steps().take(rows, sets, 100_000)
        pull = of.to_device(y.astype(np.float64).ravel())
        change = of.to_device(np.ascontiguousarray(of.to_host(sets.alpha) * y))
        variables = Variables(of.to_device(np.array([0, q, 2 * q])), q, of.to_device(column.ravel()))
        of.pair_steps().update(rows, change, variables, pull)
        return of.to_host(steps), of.to_host(sets.alpha), of.to_host(sets.pull), of.to_host(pull).reshape(2, q)

    steps, alpha, pull, updated = left(kernels)
    expected = left(TwinKernels())
    assert isinstance(TwinKernels().pair_steps(), TwinPairSteps)
    assert (steps > 0).all()
    assert ((alpha >= 0.0) & (alpha <= upper)).all()
    for k, size in enumerate(sizes):
        one = slice(0, size)
        assert abs(float((y[k] * alpha[k]).sum())) < 1e-9
        assert not alpha[k, size:].any()
        rises = np.where(y[k, one] > 0, alpha[k, one] < 2.0, alpha[k, one] > 0.0)
        falls = np.where(y[k, one] > 0, alpha[k, one] > 0.0, alpha[k, one] < 2.0)
        assert pull[k, one][rises].max() - pull[k, one][falls].min() <= eps[k] * 1.01
        assert_allclose(updated[k, one], pull[k, one], atol=1e-5)
        value = [
            0.5 * float((y[k] - p[k]) @ (y[k] * a[k])) - float(a[k].sum()) for a, p in ((alpha, pull), expected[1:3])
        ]
        assert value[0] == pytest.approx(value[1], rel=1e-2)


@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_products_beyond_single_precision(kernels: Kernels, kernel: str, scale: float) -> None:
    """Where gamma brings them back, as `gamma="scale"` does: their squares would be beyond it."""
    X, _ = examples(20)
    values = [
        kernels.to_host(
            DeviceKernelMatrix(kernels, X * by, Kernel(kernel, gamma=0.3 / by**2, coef0=1.0)).rows(at).values
        )
        for by in (1.0, scale)
        for at in [kernels.to_device(np.arange(20, dtype=np.int32))]
    ]
    assert_allclose(values[1], values[0], rtol=1e-4, atol=1e-4)
