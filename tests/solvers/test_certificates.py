"""Every method's bounds hold the optimum, from the first iteration to the last: the point of this library."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cutplane import LinearSVC
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.solvers.base import Cut
from cutplane.testing import check_certificate
from cutplane.testing.reference import HingeSample

METHODS: dict[str, dict[str, Any]] = {
    "auto": {"method": "auto"},
    "newton": {"method": "newton"},
    "oca-adaptive": {"method": "oca"},
    "oca-exact": {"method": "oca", "line_search": "exact"},
    "oca-three-point": {"method": "oca", "line_search": "three-point"},
    "cpa": {"method": "cpa"},
}
INTERCEPTS: dict[str, dict[str, Any]] = {
    "free": {},
    "none": {"fit_intercept": False},
    "penalised": {"intercept_scaling": 0.5},
}
methods = pytest.mark.parametrize("method", METHODS)
intercepts = pytest.mark.parametrize("intercept", INTERCEPTS)

KINDS = (
    "separable",
    "overlapping",
    "duplicated rows",
    "dependent columns",
    "more features than examples",
    "zero rows",
    "all zero",
    "constant column",
    "badly scaled columns",
    "integers",
)


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray


@cache
def make(kind: str, weighted: bool = False, n: int = 40, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    d = 70 if kind == "more features than examples" else 5
    X = rng.normal(size=(n, d))
    noise = 0.0 if kind == "separable" else 0.8
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + noise * rng.normal(size=n) > 0.2, 1, -1)
    if kind == "separable":
        X[:, 0] += y
    elif kind == "duplicated rows":
        X[n // 2 :] = X[: n // 2]
    elif kind == "dependent columns":
        X = np.column_stack([X, X[:, :2] @ [[1.0, 2.0], [3.0, 1.0]], X[:, 0]])
    elif kind == "zero rows":
        X[::3] = 0.0
    elif kind == "all zero":
        X[:] = 0.0
    elif kind == "constant column":
        X[:, 2], X[:, 3] = 1.0, 7.0
    elif kind == "badly scaled columns":
        X *= 10.0 ** np.linspace(-3, 3, d)
    elif kind == "integers":
        X = np.round(X)
    weights = rng.integers(0, 4, size=n).astype(float) if weighted else np.ones(n)
    weights[[np.argmax(y), np.argmin(y)]] = 1.0
    return Problem(X, y, weights)


def augmented(X: np.ndarray, intercept: str) -> np.ndarray:
    return np.column_stack([X, np.full(len(X), 0.5)]) if intercept == "penalised" else X


def objective(problem: Problem, C: float, w: np.ndarray, b: float) -> float:
    losses = np.maximum(0.0, 1.0 - problem.y * (problem.X @ w + b))
    return 0.5 * float(w @ w) + C * float(problem.weights @ losses)


class Optimum(NamedTuple):
    """Proven bounds on the optimum, and which side is which does not depend on how well Clarabel did."""

    lower: float
    upper: float

    @property
    def accuracy(self) -> float:
        return (self.upper - self.lower) / self.upper


@cache
def optimum(kind: str, C: float, intercept: str, weighted: bool = False) -> Optimum:
    problem = make(kind, weighted)
    X, y, bounds = augmented(problem.X, intercept), problem.y, C * problem.weights
    # Variables of size one whatever C is: w = length·u, the objective in units of `unit`.
    best = Optimum(0.0, C * problem.weights.sum())
    unit, length = min(best.upper, 1.0 + C), 1.0
    for _ in range(2):
        best = max(best, _clarabel(X, y, bounds, intercept == "free", unit, length), key=lambda o: -o.accuracy)
        unit, length = max(best.upper, 1e-300), np.sqrt(2.0 * best.upper)
    return best


def _clarabel(X: np.ndarray, y: np.ndarray, bounds: np.ndarray, free: bool, unit: float, length: float) -> Optimum:
    u, b, loss = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    margins = cp.multiply(y, length * (X @ u) + (b if free else 0.0))
    meets = [margins + loss >= 1.0]
    least = cp.Problem(cp.Minimize(0.5 * length**2 / unit * cp.sum_squares(u) + bounds / unit @ loss), meets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bounds are proven below, however accurate it says it was
        least.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12, max_iter=300)
    w = length * u.value
    twin = HingeSample(y, bounds)
    scores = X @ w
    if free:
        scores = scores + twin.best_intercept(scores)
    upper = 0.5 * float(w @ w) + twin.value(scores)
    alpha = np.clip(unit * meets[0].dual_value, 0.0, bounds)
    if free:  # the heavier side gives way
        sums = [alpha[y == side].sum() for side in (1, -1)]
        for side, total in zip((1, -1), sums, strict=True):
            alpha[y == side] *= min(sums) / total if total > 0.0 else 0.0
    v = X.T @ (alpha * y)
    return Optimum(float(alpha.sum() - 0.5 * v @ v), upper)


def fit(problem: Problem, **parameters: Any) -> LinearSVC:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weights = None if np.all(problem.weights == 1.0) else problem.weights
        return LinearSVC(**parameters).fit(problem.X, problem.y, sample_weight=weights)


def rounding(problem: Problem, C: float, model: LinearSVC) -> float:
    """What rounding alone can do to the objective: a score is a sum of as many roundings as there are features."""
    X = problem.X
    scores = np.linalg.norm(X, axis=1).max() * np.linalg.norm(model.coef_[0]) + np.abs(model.intercept_[0])
    return (2.0 * X.shape[1] + 60.0) * np.finfo(float).eps * C * float(problem.weights.sum()) * (1.0 + scores)


def assert_certified(model: LinearSVC, problem: Problem, C: float, best: Optimum, intercept: str) -> None:
    slack = rounding(problem, C, model)
    check_certificate(
        model.history_,
        model.objective_,
        model.lower_bound_,
        best.upper,
        accuracy=best.accuracy + 1e-9 + slack / best.upper,
        charged=slack,
    )
    w, b = model.coef_[0], float(model.intercept_[0])
    expected = objective(problem, C, w, b)
    if intercept == "penalised":
        expected += 0.5 * (b / 0.5) ** 2
    assert model.objective_ == pytest.approx(expected, rel=1e-9, abs=slack)
    assert model.gap_ == pytest.approx((model.objective_ - model.lower_bound_) / model.objective_, abs=1e-15)
    assert model.n_iter_ == len(model.history_)
    if model.stop_reason_ == "gap":
        assert model.gap_ <= model.tol
    else:
        assert model.stop_reason_ in ("max_iter", "stalled")


@methods
@intercepts
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e3, 1e8])
def test_bounds_hold_the_optimum(method: str, intercept: str, kind: str, C: float) -> None:
    problem = make(kind)
    best = optimum(kind, C, intercept)
    assert best.accuracy <= 1e-4, "the oracle itself"
    model = fit(problem, C=C, tol=1e-6, max_iter=150, **METHODS[method], **INTERCEPTS[intercept])
    assert_certified(model, problem, C, best, intercept)


@methods
@intercepts
@pytest.mark.parametrize("C", [1e-2, 10.0])
def test_weights_and_class_weights(method: str, intercept: str, C: float) -> None:
    problem = make("overlapping", weighted=True)
    settings = {**METHODS[method], **INTERCEPTS[intercept]}
    model = fit(problem, C=C, tol=1e-6, max_iter=300, **settings)
    assert_certified(model, problem, C, optimum("overlapping", C, intercept, weighted=True), intercept)
    # Factors by class are factors on the examples of the class.
    factors = np.where(problem.y > 0, 3.0, 0.5)
    heavy = fit(problem, C=C, tol=1e-6, max_iter=300, class_weight={1: 3.0, -1: 0.5}, **settings)
    same = fit(problem._replace(weights=problem.weights * factors), C=C, tol=1e-6, max_iter=300, **settings)
    np.testing.assert_array_equal(heavy.coef_, same.coef_)
    assert heavy.objective_ == same.objective_


@methods
@intercepts
def test_weights_are_repetitions(method: str, intercept: str) -> None:
    problem = make("overlapping", weighted=True)
    times = problem.weights.astype(int)
    repeated = Problem(np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times), np.ones(times.sum()))
    settings = {**METHODS[method], **INTERCEPTS[intercept]}
    one, other = (fit(p, C=1.0, tol=1e-5, max_iter=500, **settings) for p in (problem, repeated))
    assert one.lower_bound_ <= other.objective_ * (1 + 1e-12)
    assert other.lower_bound_ <= one.objective_ * (1 + 1e-12)


def blobs(n: int, d: int, seed: int = 0, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.3, 1, -1)
    return X.astype(dtype), y


@pytest.mark.parametrize("method", ["auto", "newton", "oca-exact", "cpa"])
@intercepts
@pytest.mark.parametrize(("C", "tol"), [(1e-3, 1e-8), (0.1, 1e-8), (10.0, 1e-6)])
def test_tight_tolerances_are_reached(method: str, intercept: str, C: float, tol: float) -> None:
    X, y = blobs(2000, 8)
    model = LinearSVC(C=C, tol=tol, max_iter=2000, **METHODS[method], **INTERCEPTS[intercept]).fit(X, y)
    assert model.stop_reason_ == "gap"
    assert model.gap_ <= tol


@methods
@intercepts
def test_the_default_tolerance_is_reached_by_all(method: str, intercept: str) -> None:
    X, y = blobs(1000, 10)
    for C in (1e-3, 1.0, 10.0):
        model = LinearSVC(C=C, **METHODS[method], **INTERCEPTS[intercept]).fit(X, y)
        assert model.stop_reason_ == "gap"
        assert model.gap_ <= 1e-3


@pytest.mark.parametrize("method", ["auto", "newton", "oca-exact", "cpa"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_a_free_intercept_does_not_care_where_zero_is(method: str, offset: float) -> None:
    """Moving a column changes the intercept alone: the optimum stays, and so must the bounds."""
    rng = np.random.default_rng(1)
    X = np.round(8 * rng.normal(size=(200, 5))) / 8  # so that moving them is exact
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0, 1, -1)
    for C in (1e-2, 1.0, 100.0):
        known = LinearSVC(C=C, tol=1e-8, method="cpa").fit(X, y)
        model = fit(Problem(X + offset, y, np.ones(200)), C=C, tol=1e-6, max_iter=500, **METHODS[method])
        assert model.lower_bound_ <= known.objective_ * (1 + 1e-9)
        assert model.objective_ >= known.lower_bound_ * (1 - 1e-9)
        if offset < 1e6:  # beyond, scores are differences of large numbers
            assert model.stop_reason_ == "gap"


@methods
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_no_bit(method: str, dtype: type) -> None:
    X, y = blobs(30_000, 4, dtype=dtype)
    models = [LinearSVC(C=1e-3, tol=1e-4, n_jobs=threads, **METHODS[method]).fit(X, y) for threads in (1, 2, 5)]
    for other in models[1:]:
        np.testing.assert_array_equal(other.coef_, models[0].coef_)
        np.testing.assert_array_equal(other.intercept_, models[0].intercept_)
        assert [step.lower for step in other.history_] == [step.lower for step in models[0].history_]


@methods
def test_the_same_data_give_the_same_model(method: str) -> None:
    X, y = blobs(6000, 3)
    first, again, seeded, seeded_again = (
        LinearSVC(random_state=seed, **METHODS[method]).fit(X, y) for seed in (None, None, 7, 7)
    )
    np.testing.assert_array_equal(first.coef_, again.coef_)
    np.testing.assert_array_equal(seeded.coef_, seeded_again.coef_)


def test_storage_changes_little() -> None:
    """The same examples dense, by columns and sparse are the same problem."""
    import scipy.sparse as sp

    X, y = blobs(1500, 6)
    X *= np.random.default_rng(0).random(X.shape) < 0.5
    models = [LinearSVC(tol=1e-7).fit(store(X), y) for store in (np.array, np.asfortranarray, sp.csr_array)]
    for model in models:
        assert models[0].lower_bound_ <= model.objective_ * (1 + 1e-12)
        assert model.lower_bound_ <= models[0].objective_ * (1 + 1e-12)


@pytest.mark.parametrize(("C", "epochs"), [(1e3, 1), (1e-3, None)])
def test_ascent_whose_variables_are_far_from_their_bounds_gives_way(
    C: float, epochs: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0
    epoch = ExampleAscent.epoch

    def counted(self: ExampleAscent) -> None:
        nonlocal made
        made += 1
        epoch(self)

    monkeypatch.setattr(ExampleAscent, "epoch", counted)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(12_000, 20))  # so many that an epoch is a single sweep
    y = np.sign(X[:, 0] + generator.normal(size=len(X)))
    model = LinearSVC(C=C, tol=1e-6, fit_intercept=False).fit(X, y)
    assert model.gap_ <= 1e-6
    assert made == epochs if epochs else made > 2


def test_sums_that_promise_too_much_do_not_keep_dual_ascent_going(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = ExampleAscent.plane

    def weaker(self: ExampleAscent, room: float) -> Cut:
        plane = honest(self, room)
        return plane._replace(offset=plane.offset - 0.1)

    monkeypatch.setattr(ExampleAscent, "plane", weaker)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3000)), np.where(rng.random(60) < 0.5, 1, -1)
    model = LinearSVC(fit_intercept=False, max_iter=500).fit(X, y)
    assert model.gap_ <= 1e-3
