"""SMO against the optimum that Clarabel finds, whatever selects the pairs and however many are worked on."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.kernels import DualProblem, Kernel, KernelMatrix, smo_settings, solve

SELECTIONS = ["mvp", "second-order", "hmg", "ofs1", "ofs2", "conjugate"]
WORKING_SETS = [2, 16, None]
every_way = pytest.mark.parametrize(
    ("selection", "working_set"), [(selection, size) for selection in SELECTIONS for size in WORKING_SETS]
)

rng = np.random.default_rng(1)
X = rng.normal(size=(80, 4))
Y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=len(X)) > 0, 1, -1).astype(np.int8)
C = rng.uniform(0.5, 20, size=len(X))
KERNEL = Kernel("rbf", gamma=0.3)
PROBLEMS = {
    "classification": DualProblem.classification(Y, C),
    "regression": DualProblem.regression(X[:, 0] ** 2 + 0.1 * rng.normal(size=len(X)), 5.0, 0.05),
    "one-class": DualProblem.one_class(len(X), 0.35),
    "nu-classification": DualProblem.nu_classification(Y, 0.4),
    "nu-regression": DualProblem.nu_regression(X[:, 0] ** 2, 5.0, 0.3),
}


@cache
def optimum(name):
    """The least of ½ a'Qa + p'a, negated, for the kernel matrix in single precision."""
    problem = PROBLEMS[name]
    copies = len(problem.y) // len(X)
    K = np.tile(KERNEL.block(X, X).astype(float), (copies, copies))
    start = np.zeros(len(problem.y)) if problem.start is None else problem.start
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    a = cp.Variable(len(problem.y))
    signed = cp.multiply(problem.y, a)
    limits = [a >= 0, a <= problem.upper, problem.y @ a == problem.y @ start]
    if problem.grouped:
        limits.append(cp.sum(a) == start.sum())
    objective = cp.Minimize(0.5 * cp.sum_squares(root @ signed) + problem.p @ a)
    return -cp.Problem(objective, limits).solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10)


def matrix(**settings):
    return KernelMatrix(X, KERNEL, **settings)


def assert_feasible(problem, alpha):
    assert np.all(alpha >= 0)
    assert np.all(alpha <= problem.upper)
    start = np.zeros(len(alpha)) if problem.start is None else problem.start
    size = problem.upper.sum()
    assert problem.y @ alpha == pytest.approx(problem.y @ start, abs=1e-12 * size)
    if problem.grouped:
        assert alpha.sum() == pytest.approx(start.sum(), abs=1e-12 * size)


@pytest.mark.parametrize("name", list(PROBLEMS))
@every_way
def test_reaches_the_optimum(name, selection, working_set):
    problem = PROBLEMS[name]
    result = solve(problem, matrix(), selection=selection, working_set=working_set, eps=1e-5)
    assert result.stop_reason == "kkt"
    assert result.violation <= 1e-5
    assert_feasible(problem, result.alpha)
    size = abs(optimum(name))
    assert result.dual <= optimum(name) + 1e-7 * size
    assert result.primal >= optimum(name) - 1e-7 * size
    assert result.primal - result.dual <= 1e-4 * size


@pytest.mark.parametrize("name", list(PROBLEMS))
@pytest.mark.parametrize("working_set", WORKING_SETS)
@pytest.mark.parametrize("max_iter", [1, 7, 40])
def test_bounds_hold_at_every_point(name, working_set, max_iter):
    problem = PROBLEMS[name]
    result = solve(problem, matrix(), working_set=working_set, max_iter=max_iter)
    assert_feasible(problem, result.alpha)
    tiny = 1e-7 * abs(optimum(name))
    for upper, lower in [*((step.upper, step.lower) for step in result.history), (result.primal, result.dual)]:
        assert lower <= optimum(name) + tiny
        assert upper >= optimum(name) - tiny


def test_objective_and_gradient_are_those_of_alpha():
    problem = PROBLEMS["classification"]
    result = solve(problem, matrix(), max_iter=30)
    K = KERNEL.block(X, X).astype(float)
    Q = K * np.outer(Y, Y)
    a, rho = result.alpha, result.rho[0]
    np.testing.assert_allclose(result.gradient, Q @ a - 1, atol=1e-10)
    dual = a.sum() - 0.5 * a @ Q @ a
    assert dual * (1 - 1e-9) <= result.dual <= dual * (1 + 1e-15)
    hinge = np.maximum(0, 1 - Y * (K @ (Y * a) - rho))
    primal = 0.5 * a @ Q @ a + C @ hinge
    assert primal * (1 - 1e-15) <= result.primal <= primal * (1 + 1e-9)


@pytest.mark.parametrize("name", list(PROBLEMS))
@every_way
def test_gap_rule(name, selection, working_set):
    ways = {"selection": selection, "working_set": working_set, "time_limit": 20.0}
    result = solve(PROBLEMS[name], matrix(), stopping="gap", tol=1e-4, **ways)
    assert result.stop_reason == "gap"
    assert result.gap <= 1e-4
    assert optimum(name) - result.dual <= 1.1e-4 * abs(optimum(name))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_pair_rule_may_stop_before_the_sound_one(selection):
    problem = PROBLEMS["classification"]
    by_pair = solve(problem, matrix(), selection=selection, stopping="pair", shrinking=False)
    sound = solve(problem, matrix(), selection=selection, working_set=2, shrinking=False)
    assert by_pair.stop_reason == "pair"
    assert by_pair.n_iter <= sound.n_iter
    assert by_pair.dual <= sound.dual + 1e-9 * abs(sound.dual)


def test_gain_ends_the_pair_rule():
    problem = PROBLEMS["classification"]
    early = solve(problem, matrix(), selection="ofs2", stopping="pair", least_gain=1e-2)
    late = solve(problem, matrix(), selection="ofs2", stopping="pair")
    assert early.stop_reason == "pair"
    assert early.n_iter < late.n_iter


@pytest.mark.parametrize("selection", SELECTIONS)
def test_shrinking_changes_nothing_but_time(selection, monkeypatch):
    many = rng.normal(size=(400, 3))
    labels = np.where(many[:, 0] + 0.8 * rng.normal(size=400) > 0, 1, -1)
    problem = DualProblem.classification(labels, 100.0)
    # Looks while variables are away, not only at the end.
    monkeypatch.setattr(smo_settings, "TUNING", replace(smo_settings.TUNING, most_steps_per_slice=20))
    with_it, without = (
        solve(problem, KernelMatrix(many, KERNEL), selection=selection, shrinking=shrinking, working_set=2)
        for shrinking in (True, False)
    )
    assert with_it.n_iter > 1000, "too easy: nothing would be shrunken"
    for step in with_it.history:  # bounds hold while variables are away
        assert step.lower <= without.primal + 1e-9 * abs(without.primal)
        assert step.upper >= without.dual - 1e-9 * abs(without.dual)
    assert with_it.violation <= 1e-3
    assert with_it.dual == pytest.approx(without.dual, rel=1e-6)


@pytest.mark.parametrize("working_set", WORKING_SETS)
def test_a_cache_of_a_few_rows_gives_the_same(working_set):
    problem = PROBLEMS["classification"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = solve(problem, matrix(cache_bytes=1000), working_set=working_set, eps=1e-5)
    assert few.dual == pytest.approx(optimum("classification"), rel=1e-5)
    if working_set is not None:  # else it follows the cache
        whole = solve(problem, matrix(), working_set=working_set, eps=1e-5)
        assert np.array_equal(few.alpha, whole.alpha)


# Steps within the largest set are taken by a team.
@pytest.mark.parametrize(("working_set", "most"), [(2, 600), (64, 600), (2048, 6000)])
def test_threads_give_the_same_bits(working_set, most):
    alone, *others = (many_examples(n, working_set=working_set, max_iter=most) for n in (1, 2, 3))
    for other in others:
        assert np.array_equal(alone.alpha, other.alpha)
        assert np.array_equal(alone.gradient, other.gradient)


def test_a_team_that_has_no_processors_leaves_its_steps_to_one_thread():
    def fit(n_threads):
        return many_examples(n_threads, working_set=2048, max_iter=6000)

    alone = fit(1)
    with ThreadPoolExecutor(6) as pool:
        for other in pool.map(fit, [4] * 6):
            assert np.array_equal(alone.alpha, other.alpha)
            assert np.array_equal(alone.gradient, other.gradient)


def many_examples(n_threads, **settings):
    X = np.random.default_rng(5).normal(size=(3000, 30))
    problem = DualProblem.classification(np.where(X[:, 0] > 0.3, 1, -1), 1.0)
    return solve(problem, KernelMatrix(X, KERNEL, n_threads=n_threads), n_threads=n_threads, **settings)


@every_way
def test_some_rows_of_a_shared_matrix(selection, working_set):
    rows = np.flatnonzero(rng.random(len(X)) < 0.6)
    shared = solve(
        DualProblem.classification(Y[rows], C[rows]), matrix(), rows=rows, selection=selection, working_set=working_set
    )
    alone = solve(
        DualProblem.classification(Y[rows], C[rows]),
        KernelMatrix(KERNEL.block(X, X)[np.ix_(rows, rows)], Kernel("precomputed")),
        selection=selection,
        working_set=working_set,
    )
    assert np.array_equal(shared.alpha, alone.alpha)


def test_machines_in_threads_share_a_cache():
    many = rng.normal(size=(300, 5))
    classes = np.sort(rng.integers(0, 4, size=300))
    pairs = [(a, b) for a in range(4) for b in range(a)]

    def machine(shared, pair):
        rows = np.flatnonzero(np.isin(classes, pair))
        labels = np.where(classes[rows] == pair[0], 1, -1)
        return solve(DualProblem.classification(labels, 2.0), shared, rows=rows, n_threads=1, working_set=16).alpha

    shared = KernelMatrix(many, KERNEL, cache_bytes=60 * 1216)  # fewer rows than there are examples
    with shared.without_warnings(), ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda pair: machine(shared, pair), pairs))
    one_by_one = [machine(KernelMatrix(many, KERNEL), pair) for pair in pairs]
    for a, b in zip(together, one_by_one, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("working_set", WORKING_SETS)
@pytest.mark.parametrize("name", ["precomputed", "callable"])
def test_kernels_of_the_caller(name, working_set):
    K = KERNEL.block(X, X)
    given_kernel = (
        KernelMatrix(K.astype(float), Kernel("precomputed"))
        if name == "precomputed"
        else KernelMatrix(X, Kernel("callable", function=KERNEL.block))
    )
    result = solve(PROBLEMS["classification"], given_kernel, working_set=working_set, eps=1e-5)
    assert result.dual == pytest.approx(optimum("classification"), rel=1e-5)


@pytest.mark.parametrize("working_set", WORKING_SETS)
def test_what_a_kernel_function_raises_comes_through(working_set):
    class Unwilling(Exception):
        pass

    def function(left, right):
        if len(right) > 1:
            raise Unwilling
        return np.ones((len(left), len(right)))

    shared = KernelMatrix(X, Kernel("callable", function=function))
    for _ in range(2):  # the cache is not left waiting for a row that never came
        with pytest.raises(Unwilling):
            solve(PROBLEMS["classification"], shared, working_set=working_set)


@every_way
def test_kernels_that_are_not_positive_semidefinite(selection, working_set):
    K = np.tanh(0.5 * X @ X.T - 0.5)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    problem = PROBLEMS["classification"]
    result = solve(problem, KernelMatrix(K, Kernel("precomputed")), selection=selection, working_set=working_set)
    assert result.stop_reason == "kkt"
    assert result.violation <= 1e-3
    assert_feasible(problem, result.alpha)


@pytest.mark.parametrize("working_set", WORKING_SETS)
def test_any_feasible_start(working_set):
    base = PROBLEMS["classification"]
    share = rng.uniform(0, 1, size=len(X)) * C
    for label in (1, -1):
        share[label == Y] *= 5.0 / share[label == Y].sum()
    problem = DualProblem(base.y, base.p, base.upper, np.minimum(share, C))
    result = solve(problem, matrix(), working_set=working_set, eps=1e-5)
    assert result.dual == pytest.approx(optimum("classification"), rel=1e-5)


def test_zero_weight_means_absent():
    keep = np.arange(len(X)) % 4 != 0
    silent = solve(DualProblem.classification(Y, np.where(keep, C, 0.0)), matrix(), eps=1e-6)
    without = solve(DualProblem.classification(Y[keep], C[keep]), matrix(), rows=np.flatnonzero(keep), eps=1e-6)
    assert np.all(silent.alpha[~keep] == 0)
    assert silent.dual == pytest.approx(without.dual, rel=1e-7)


@given(
    seed=st.integers(0, 2**31),
    n=st.integers(2, 40),
    selection=st.sampled_from(SELECTIONS),
    working_set=st.sampled_from([2, 4, None]),
    scale=st.floats(1e-3, 1e3),
)
def test_ends_feasible_and_optimal(seed, n, selection, working_set, scale):
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(n, 2))
    labels = np.where(draw.random(n) < 0.5, 1, -1)
    labels[:2] = 1, -1
    problem = DualProblem.classification(labels, scale * draw.uniform(0.5, 2, size=n))
    result = solve(problem, KernelMatrix(features, KERNEL), selection=selection, working_set=working_set)
    assert result.stop_reason == "kkt"
    assert result.violation <= 1e-3
    assert_feasible(problem, result.alpha)
    assert result.dual <= result.primal + 1e-9 * abs(result.primal)


# --- ends of a run ---

HARD = KernelMatrix(rng.normal(size=(3000, 2)), Kernel("rbf", gamma=50.0))
HARD_PROBLEM = DualProblem.classification(np.where(rng.random(3000) < 0.5, 1, -1), 1e6)


@pytest.mark.parametrize("working_set", WORKING_SETS)
def test_max_iter(working_set):
    result = solve(PROBLEMS["classification"], matrix(), max_iter=3, working_set=working_set)
    assert (result.stop_reason, result.n_iter) == ("max_iter", 3)


@pytest.mark.parametrize("working_set", [2, 64])
def test_on_step_sees_progress_and_may_end_it(working_set):
    seen = []

    def watch(step):
        seen.append(step)
        return len(seen) == 3

    result = solve(HARD_PROBLEM, HARD, eps=1e-9, on_step=watch, working_set=working_set)
    assert result.stop_reason == "interrupted"
    assert [step.iteration for step in seen] == sorted(step.iteration for step in seen)
    assert all(before.lower <= after.lower for before, after in pairwise(seen))


def test_ctrl_c_returns_the_point_reached():
    def press(step):
        raise KeyboardInterrupt

    result = solve(HARD_PROBLEM, HARD, eps=1e-9, on_step=press)
    assert result.stop_reason == "interrupted"
    assert result.gap > 0
    assert_feasible(HARD_PROBLEM, result.alpha)


def test_another_thread_may_end_it():
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert solve(HARD_PROBLEM, HARD, eps=1e-9, should_stop=stop.is_set).stop_reason == "interrupted"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selection": "best"}, "selection='best' must be one of 'mvp'"),
        ({"stopping": "soon"}, "stopping='soon' must be one of 'kkt', 'gap', 'pair'"),
        ({"eps": 0.0}, "eps=0.0 must be a finite number greater than 0"),
        ({"tol": float("nan")}, "tol=nan must be"),
        ({"max_iter": 0}, "max_iter=0 must be at least 1"),
        ({"time_limit": 0.0}, "time_limit=0.0 must be greater than 0"),
        ({"working_set": 1}, "working_set=1 must be at least 2, or None"),
        ({"stopping": "pair", "working_set": 64}, "stopping='pair' takes one pair at a time"),
        ({"rows": np.arange(7)}, "80 variables: not a whole number for each of 7 rows"),
        ({"rows": np.arange(80) + 1}, "rows must lie between 0 and 79"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        solve(PROBLEMS["classification"], matrix(), **settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(80, np.int8)}, r"y\[0\]=0 must be -1 or \+1"),
        ({"p": np.zeros(3)}, r"p has shape \(3,\)"),
        ({"upper": -C}, r"upper\[0\]=-.* must be 0 or greater"),
        ({"upper": np.full(80, np.inf)}, r"upper\[0\]=inf must be finite"),
        ({"start": C + 1}, r"start\[0\]=.* must lie between 0 and upper="),
    ],
)
def test_bad_problems(change, message):
    good = {"y": Y, "p": np.full(80, -1.0), "upper": C, "start": None}
    with pytest.raises(ValueError, match=message):
        DualProblem(**{**good, **change})


def test_kernel_values_that_overflow():
    with pytest.raises(ValueError, match=r"X has values of up to .* the poly kernel with gamma=1 is .* too large"):
        KernelMatrix(1e60 * X, Kernel("poly", degree=5))


@pytest.mark.parametrize("name", ["classification", "regression", "nu-classification"])
def test_conjugate_directions_save_steps(name):
    """On a kernel that is hard to solve; to the same solution, under the same rule."""
    problem = PROBLEMS[name]
    hard = KernelMatrix(X, Kernel("poly", gamma=1.0, coef0=1.0, degree=3))
    plain, conjugate = (
        solve(problem, hard, selection=s, eps=1e-3, working_set=len(X) * 2) for s in ("second-order", "conjugate")
    )
    assert (plain.stop_reason, conjugate.stop_reason) == ("kkt", "kkt")
    assert conjugate.n_iter < 0.95 * plain.n_iter
    assert conjugate.dual == pytest.approx(plain.dual, rel=1e-4)
    pairs = solve(problem, hard, selection="conjugate", eps=1e-3, working_set=2)
    assert pairs.n_iter == solve(problem, hard, selection="second-order", eps=1e-3, working_set=2).n_iter


@pytest.mark.parametrize("working_set", [2, None])
def test_an_optimum_of_zero_has_no_relative_gap_to_reach(working_set):
    """Points on either side of the origin: no gap is proven, and the run knows when to end."""
    rng = np.random.default_rng(5)
    points = rng.integers(-4, 5, size=(20, 2)).astype(float)
    matrix = KernelMatrix(np.concatenate([points, -points]), Kernel("linear"))
    result = solve(DualProblem.one_class(40, 0.5), matrix, stopping="gap", tol=1e-6, working_set=working_set)
    assert result.stop_reason == "stalled"
    assert abs(result.primal) < 1e-6
    assert result.n_iter < 100_000


def test_a_run_that_hardly_moves_goes_on_along_conjugate_directions():
    """Nu-regression with a large C: pairs alone close a gap of 4e5 by a tenth of one a step."""
    rng = np.random.default_rng(0)
    points = rng.integers(-4, 5, size=(14, 2)).astype(float)
    problem = DualProblem.nu_regression(rng.normal(size=14).round(1), 2e5, 0.1)
    result = solve(problem, KernelMatrix(points, Kernel("linear")), eps=1e-5)
    assert result.stop_reason == "kkt"
    assert result.dual <= result.primal <= result.dual * (1 + 1e-6)
