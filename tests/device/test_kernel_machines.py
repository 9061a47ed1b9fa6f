"""Kernel machines on a device: proven there as on the processor, whatever the kernel and however many machines."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from tests.selection import first_cases

from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from cutplane.device.kernels import Kernels
from cutplane.device.pair_steps import KernelRows, Sets, Variables
from cutplane.device.pair_steps_twin import TwinPairSteps
from cutplane.device.twin import TwinKernels
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve
from cutplane.kernels import device_scores as device_scores_module
from cutplane.kernels.certificate import certify
from cutplane.kernels.device_cache import DeviceRowCache
from cutplane.kernels.device_matrix import device_kernel_matrix
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
    for free in (1000, 100_000):  # room for no set, and for 62 of 240 rows
        monkeypatch.setattr(type(kernels), "free_bytes", property(lambda self, free=free: free))
        same(SVC(device="cuda", working_set=32).fit(X, y), whole)


def test_rows_are_kept_until_others_are_needed(kernels: Kernels) -> None:
    """Whatever is asked for, each row is the one that `block` would compute, and none is computed twice in a row."""
    rng, xp, computed = np.random.default_rng(0), kernels.xp, []
    cache = DeviceRowCache(xp, 50, 12)

    def block(rows: Any) -> Any:
        computed.append(len(rows))
        return (rows[:, None] * 1000 + xp.arange(50)).astype(np.float32)

    for turn in range(40):
        columns = rng.integers(0, 50 if turn % 3 else 9, (2, 4)).astype(np.int32)
        found = cache.rows(kernels.to_device(columns), block)
        values = kernels.to_host(found.values)[kernels.to_host(found.at)]
        assert_array_equal(values, columns[..., None] * 1000.0 + np.arange(50))
        before = len(computed)
        cache.rows(kernels.to_device(columns[::-1].copy()), block)
        assert len(computed) == before
    everything = kernels.to_device(np.arange(50, dtype=np.int32))  # more than there is room for
    assert_array_equal(kernels.to_host(cache.rows(everything, block).values)[:, 0], np.arange(50) * 1000.0)


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
        ({"device": ["cuda:0", "cuda:1"]}, "kernels are computed on one GPU"),
        ({"stopping": "gap"}, "stopping='gap' is for the processor"),
        ({"selection": "ofs1"}, "selection='ofs1' is for the processor"),
        (
            {"kernel": "laplacian"},
            "has the kernels linear, .* precomputed ones, not 'laplacian'",
        ),
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
    found, errors = device_kernel_matrix(kernels, X, kernel).exact_scores(rows, support, coef)
    exact, own = exact_products(kernel, X[rows], support, coef[:, None])
    assert (np.abs(found - exact[:, 0]) <= errors + own[:, 0]).all()
    assert errors.max() < 1e-10
    assert errors.min() > 0.0


@pytest.mark.parametrize("scale", [1e2, 3e2, 1e3, 1e7, 1e10])
def test_scores_for_proofs_of_examples_far_apart(kernels: Kernels, scale: float) -> None:
    """Pairs near each other: distances as differences of products lose digits there, or are nothing but rounding."""
    X = np.repeat(np.round(examples(30)[0] * scale), 2, axis=0)
    X[1::2] += 0.5
    kernel, rows, coef = Kernel("rbf", gamma=1.0), np.arange(60), np.random.default_rng(3).normal(size=60)
    found, errors = device_kernel_matrix(kernels, X, kernel).exact_scores(rows, rows, coef)
    exact = np.exp(-cdist(X, X, "sqeuclidean")) @ coef
    assert (np.abs(found - exact) <= errors + 1e-15).all()
    assert errors.max() < 1e-8


def test_bounds_are_those_of_the_certificate(kernels: Kernels) -> None:
    X, y = examples(classes=2)
    kernel = Kernel("rbf", gamma=0.3)
    problem = DualProblem.classification(np.where(y > 0, 1, -1), 3.0)
    (found,) = solve_on_device(
        [problem], [np.arange(len(y))], device_kernel_matrix(kernels, X, kernel), DeviceRun(1e-4)
    )
    support = np.flatnonzero(found.alpha)
    proof = certify(kernel, X, problem, support, (problem.y * found.alpha)[support], found.rho)
    assert found.primal == pytest.approx(proof.objective, rel=1e-9)
    assert found.dual == pytest.approx(proof.lower_bound, rel=1e-9)
    assert found.gap < 1e-3


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=lambda kernel: kernel.name)
def test_sums_by_label(kernels: Kernels, kernel: Kernel) -> None:
    """As nu-machines have them: of both labels, and of the two variables of each target."""
    X, y = examples(classes=2)
    rows = np.arange(len(y))
    weights = np.random.default_rng(5).uniform(0.5, 2.0, len(y))
    for problem in (
        DualProblem.nu_classification(np.where(y > 0, 1, -1), 0.75, weights),
        DualProblem.nu_regression(X[:, 0] + 0.3 * X[:, 1], 2.0 * weights, 0.4),
    ):
        (found,) = solve_on_device([problem], [rows], device_kernel_matrix(kernels, X, kernel), DeviceRun(1e-5))
        best = solve(problem, KernelMatrix(X, kernel), eps=1e-5)
        assert found.stop_reason == "kkt"
        assert problem.start is not None
        for label in (1, -1):
            of = problem.y == label
            assert found.alpha[of].sum() == pytest.approx(problem.start[of].sum(), rel=1e-12)
        off = 1e-6 * abs(best.primal)  # the processor's bounds are of a matrix in single precision
        assert found.dual <= best.primal + off
        assert best.dual <= found.primal + off
        assert found.primal - found.dual <= 1e-2 * abs(found.primal) + 1e-9
        assert_allclose(found.rho, best.rho, atol=5e-3)


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
            device_kernel_matrix(kernels, X * by, Kernel(kernel, gamma=0.3 / by**2, coef0=1.0)).rows(at).values
        )
        for by in (1.0, scale)
        for at in [kernels.to_device(np.arange(20, dtype=np.int32))]
    ]
    assert_allclose(values[1], values[0], rtol=1e-4, atol=1e-4)


MACHINES: list[Any] = [
    (SVC(gamma=0.3, C=3.0), "y"),
    (SVC(gamma=0.3, multi_class="ovr"), "y"),
    (SVC(kernel="linear"), "y"),
    (SVC(kernel="poly", gamma=0.3, coef0=1.0, probability=True), "y"),
    (NuSVC(nu=0.4, gamma=0.3, tol=1e-4), "y"),
    (SVR(gamma=0.3, C=2.0), "z"),
    (NuSVR(gamma=0.3, nu=0.4), "z"),
    (OneClassSVM(gamma=0.3, nu=0.3), "y"),
]


@pytest.mark.parametrize(("model", "target"), first_cases([pytest.param(*each) for each in MACHINES], 2))
def test_examples_that_lie_there(put: Put, kernels: Kernels, model: Any, target: str) -> None:
    """They are trained on there, and predictions come back there; both are those of arrays that are copied."""
    X, y = examples()
    t = y if target == "y" else X[:, 0] + 0.1 * y
    copied, lying = clone(model).set_params(device="cuda").fit(X, t), clone(model).fit(put(X), put(t))
    assert_array_equal(copied.dual_coef_, lying.dual_coef_)
    assert copied.lower_bound_ == lying.lower_bound_
    assert lying.certificate_of_ == "kernel"
    alone = clone(model).fit(X, t)
    same(lying, alone)
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples"):
        if not hasattr(model, method):
            continue
        there = getattr(lying, method)(put(X))
        assert isinstance(there, type(kernels.to_device(np.zeros(1))))
        found, expected = kernels.to_host(there), getattr(copied, method)(X)
        assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
        if method == "decision_function":
            assert_allclose(found, lying.set_params(device=None).decision_function(X), rtol=1e-4, atol=1e-4)


def test_nu_machines(put: Put) -> None:
    X, y = examples()
    for model, target in (
        (NuSVC(nu=0.5, gamma=0.3, tol=1e-4), y),
        (NuSVR(nu=0.5, gamma=0.3, tol=1e-4), X[:, 0] + 0.1 * y),
    ):
        found, alone = clone(model).set_params(device="cuda").fit(X, target), clone(model).fit(X, target)
        same(found, alone)
        assert found.certificate_of_ == "kernel"
        assert_allclose(found.intercept_, alone.intercept_, atol=0.02)
        assert np.mean(np.abs(found.predict(X) - alone.predict(X)) < 0.02) > 0.97


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrices_that_are_given(put: Put, kernels: Kernels, dtype: type) -> None:
    X, y = examples()
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2)).astype(dtype)
    there, alone = (SVC(kernel="precomputed", C=3.0, device=device).fit(K, y) for device in ("cuda", None))
    same(there, alone)
    assert there.certificate_of_ == alone.certificate_of_
    assert_array_equal(there.predict(K), alone.predict(K))
    called = SVC(kernel=lambda a, b: np.exp(-0.3 * ((a[:, None] - b) ** 2).sum(axis=2)), C=3.0, device="cuda")
    same(called.fit(X, y), SVC(gamma=0.3, C=3.0).fit(X, y))
    lying = SVC(kernel="precomputed", C=3.0).fit(put(K), put(y))
    assert_array_equal(kernels.to_host(lying.predict(put(K))), there.predict(K))


def test_a_matrix_that_is_nearly_definite_is_charged(put: Put) -> None:
    """By how far it is from a definite one; one that is far is said to prove nothing."""
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    y = np.where(U[:, 0] > 0, 1, -1)
    for least, proven in ((-1e-15, True), (-0.1, False)):
        K = (U * np.linspace(least, 1.0, 60)) @ U.T
        K = 0.5 * (K + K.T)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            there = SVC(kernel="precomputed", C=3.0, device="cuda").fit(K, y)
            alone = SVC(kernel="precomputed", C=3.0).fit(K, y)
        assert np.isfinite(there.lower_bound_) == proven
        assert any("not positive semi-definite" in str(each.message) for each in said) != proven
        if proven:
            same(there, alone)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("sparse", [False, True])
def test_scores_of_new_examples(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch, kernel: Kernel, sparse: bool
) -> None:
    """Block by block, for groups and any number of columns."""
    monkeypatch.setattr(device_scores_module, "_AT_ONCE", 1000)
    X, _ = examples()
    vectors, rng = X[:37], np.random.default_rng(7)
    given = sp.csr_array(np.where(np.abs(X) > 0.4, X, 0.0)) if sparse else X
    dense = given.toarray() if sparse else given
    for k in (1, 3, 19):
        coef = rng.normal(size=(37, k))
        found = kernels.to_host(
            device_scores_module.device_scores(
                kernel, device_scores_module.rows_of_host(kernels, given), vectors, coef, [5, 5, 37]
            )
        )
        exact = kernel.block(dense, vectors).astype(np.float64)
        assert found.shape == (len(X), 3, k)
        assert_allclose(found[:, 0], exact[:, :5] @ coef[:5], rtol=1e-4, atol=1e-4)
        assert not found[:, 1].any()
        assert_allclose(found[:, 2], exact[:, 5:] @ coef[5:], rtol=1e-4, atol=1e-4)


def test_new_examples_that_are_wrong(put: Put) -> None:
    X, y = examples()
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but the model was trained with 4"):
        model.predict(put(X[:, :3]))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="Column 1 of X"):
        model.predict(put(X))
