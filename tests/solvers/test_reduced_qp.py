"""The reduced QP: its solution is optimal as far as double precision allows, whatever the planes."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cutplane.solvers.bundle.planes import Bundle, BundleSolution

EPSILON = np.finfo(float).eps
KINDS = ("generic", "low rank", "duplicates", "badly scaled", "nearly parallel", "integers", "tied offsets")


@dataclass(frozen=True)
class Problem:
    slopes: np.ndarray
    offsets: np.ndarray
    lower_bound: float
    C: float

    def objective(self, w: np.ndarray, C: float | None = None) -> float:
        """½|w|² + C·(highest plane at w)."""
        height = max(self.lower_bound, float((self.slopes @ w + self.offsets).max()))
        return 0.5 * float(w @ w) + (self.C if C is None else C) * height

    def bundle(self) -> Bundle:
        return Bundle.from_planes(self.slopes, self.offsets, lower_bound=self.lower_bound)


def make_problem(seed: int, kind: str, d: int, n: int, log_C: float) -> Problem:
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(n, d))
    offsets = rng.random(n)
    if kind == "low rank":
        rank = rng.integers(1, d + 1)
        slopes = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    elif kind == "duplicates":
        slopes = slopes[rng.integers(0, n, size=n)]
        offsets[::2] = offsets[0]
    elif kind == "badly scaled":
        slopes *= 10.0 ** rng.uniform(-3, 3, size=(n, 1))
    elif kind == "nearly parallel":
        slopes = slopes[0] + 1e-5 * slopes
    elif kind == "integers":
        slopes = np.round(slopes)
        slopes[0] = 0.0
    elif kind == "tied offsets":
        offsets = np.round(offsets, 1)
    lower_bound = float(rng.choice([0.0, 0.0, -0.5, 0.3]))
    return Problem(slopes, offsets, lower_bound, 10.0**log_C)


problems = st.builds(
    make_problem,
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    d=st.integers(1, 30),
    n=st.integers(1, 60),
    log_C=st.floats(-6, 10),
)


def rounding(problem: Problem, solution: BundleSolution, C: float | None = None) -> float:
    """What rounding alone can do to the objective at w.

    w = -C Σ beta_i a_i cannot be known better than to eps·C·Σ beta_i |a_i|, nor a plane's value at w better
    than to that times its slope; C times this is a gap no solver in double precision can close.
    """
    C = problem.C if C is None else C
    norms = np.linalg.norm(problem.slopes, axis=1)
    planes = C * (solution.weights @ norms) * norms.max()
    heights = np.abs(problem.offsets).max() + abs(problem.lower_bound)
    return float(20.0 * EPSILON * C * (planes + heights))


def allowed(problem: Problem, solution: BundleSolution, C: float | None = None) -> float:
    return 1e-10 * abs(solution.lower) + rounding(problem, solution, C)


def clarabel_value(problem: Problem, magnitude: float, length: float) -> float:
    """The optimum by an interior-point method, scaled so that its value and minimiser are about one."""
    u = cp.Variable(problem.slopes.shape[1])
    height = cp.Variable()
    slopes = problem.C * length / magnitude * problem.slopes
    offsets = problem.C / magnitude * problem.offsets
    floor = problem.C / magnitude * problem.lower_bound
    unit = 1.0 / np.maximum(1.0, np.linalg.norm(slopes, axis=1))
    planes = unit[:, None] * slopes, unit * offsets
    reduced = cp.Problem(
        cp.Minimize(0.5 * length**2 / magnitude * cp.sum_squares(u) + height),
        [planes[0] @ u + planes[1] <= unit * height, height >= floor],
    )
    reduced.solve(solver=cp.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13, max_iter=500)
    return float(reduced.value) * magnitude


@given(problems)
def test_weights_lie_on_the_simplex(problem: Problem) -> None:
    weights = problem.bundle().solve(problem.C).weights
    assert (weights >= 0.0).all()
    assert weights.sum() <= 1.0 + 4.0 * EPSILON


@given(problems, st.integers(0, 2**32 - 1))
def test_lower_is_below_the_model_everywhere(problem: Problem, seed: int) -> None:
    solution = problem.bundle().solve(problem.C)
    rng = np.random.default_rng(seed)
    for scale in (0.0, 1e-3, 1.0, 1e3):
        point = solution.w + scale * rng.normal(size=solution.w.size)
        assert solution.lower <= problem.objective(point) + rounding(problem, solution)


@given(problems)
# Planes whose lengths differ a millionfold wore the factor out.
@example(make_problem(127057, "badly scaled", 26, 47, 5.0))
@example(make_problem(2444882302, "badly scaled", 30, 55, 3.727427981401087))
@example(make_problem(3395552255, "badly scaled", 21, 43, 9.58754763096357))
def test_the_gap_is_closed(problem: Problem) -> None:
    solution = problem.bundle().solve(problem.C)
    assert problem.objective(solution.w) - solution.lower <= allowed(problem, solution)


@given(problems)
def test_risk_model_is_the_highest_plane_at_w(problem: Problem) -> None:
    solution = problem.bundle().solve(problem.C)
    height = max(problem.lower_bound, (problem.slopes @ solution.w + problem.offsets).max())
    assert solution.risk_model == pytest.approx(height, abs=allowed(problem, solution) / problem.C)


@given(problems)
def test_warm_starts_reach_what_a_cold_start_reaches(problem: Problem) -> None:
    bundle = Bundle(problem.slopes.shape[1], lower_bound=problem.lower_bound)
    for slope, offset in zip(problem.slopes, problem.offsets, strict=True):
        bundle.add(slope, offset)
        warm = bundle.solve(problem.C)
    bundle.reset()
    cold = bundle.solve(problem.C)
    assert warm.lower == pytest.approx(cold.lower, abs=allowed(problem, cold))


@given(problems)
def test_lower_rises_as_planes_are_added(problem: Problem) -> None:
    bundle = Bundle(problem.slopes.shape[1], lower_bound=problem.lower_bound)
    last = bundle.solve(problem.C).lower
    assert last == problem.C * problem.lower_bound
    for slope, offset in zip(problem.slopes, problem.offsets, strict=True):
        bundle.add(slope, offset)
        solution = bundle.solve(problem.C)
        assert solution.lower >= last - 1e-10 * abs(last) - EPSILON * rounding_scale(problem)
        last = solution.lower


def rounding_scale(problem: Problem) -> float:
    norms = np.linalg.norm(problem.slopes, axis=1)
    return float(20.0 * problem.C * (problem.C * norms.max() ** 2 + 1.0))


@given(problems, st.lists(st.floats(-6, 10), min_size=1, max_size=4))
def test_another_C_equals_solving_from_scratch(problem: Problem, logs: list[float]) -> None:
    bundle = problem.bundle()
    bundle.solve(problem.C)
    for C in 10.0 ** np.array(logs):
        warm = bundle.solve(C)
        assert problem.objective(warm.w, C) - warm.lower <= allowed(problem, warm, C)
        cold = problem.bundle().solve(C)
        assert warm.lower == pytest.approx(cold.lower, abs=allowed(problem, cold, C))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("log_C", [-6, -2, 0, 2, 4])
@pytest.mark.parametrize(("d", "n"), [(5, 40), (40, 15)])
def test_clarabel_agrees(kind: str, log_C: float, d: int, n: int) -> None:
    problem = make_problem(17, kind, d, n, log_C)
    solution = problem.bundle().solve(problem.C)
    magnitude = max(abs(solution.lower), 1e-3 * problem.C)
    tolerance = 1e-9 * magnitude + rounding(problem, solution)
    value = clarabel_value(problem, magnitude, max(np.linalg.norm(solution.w), 1e-9))
    assert solution.lower == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize("log_C", [6, 8, 10])
def test_clarabel_agrees_at_huge_C(log_C: float) -> None:
    # Offsets above the lower bound and slopes of rank 3 keep the value away from C·lower_bound.
    problem = make_problem(3, "low rank", 3, 60, log_C)
    solution = problem.bundle().solve(problem.C)
    value = clarabel_value(problem, solution.lower, np.linalg.norm(solution.w))
    assert solution.lower == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e2, 1e4, 1e6, 1e8])
def test_three_hundred_planes_of_54_features(C: float) -> None:
    """A cutting-plane run far past convergence: the planes are dependent and all but parallel."""
    rng = np.random.default_rng(0)
    X = rng.random((500, 54)) * (rng.random((500, 54)) < 0.5)
    y = np.where(X @ rng.normal(size=54) + 0.8 * rng.normal(size=500) > 0.1, 1.0, -1.0)
    signed = y[:, None] * X
    bundle = Bundle(54)
    best = cut_at = np.zeros(54)
    best_margins = np.zeros(500)
    lower = -np.inf
    for _ in range(300):
        violated = (1.0 - signed @ cut_at > 0.0) / 500.0
        bundle.add(-(violated @ signed), violated.sum())
        solution = bundle.solve(C)

        problem = Problem(*bundle.planes, 0.0, C)
        value = problem.objective(solution.w)
        # A gap of 1e-10 while C is moderate; beyond, what the rounding of w itself leaves open.
        assert value - solution.lower <= 1e-10 * value + rounding(problem, solution)
        assert solution.lower >= lower - 1e-10 * abs(lower)
        lower = max(lower, solution.lower)

        margins = signed @ solution.w
        steps = np.linspace(0.0, 1.0, 21)
        points = best + steps[:, None] * (solution.w - best)
        losses = np.maximum(0.0, 1.0 - (best_margins + steps[:, None] * (margins - best_margins))).mean(axis=1)
        k = int(np.argmin(0.5 * (points**2).sum(axis=1) + C * losses))
        best, best_margins = points[k], best_margins + steps[k] * (margins - best_margins)
        assert lower <= (0.5 * best @ best + C * losses[k]) * (1.0 + 1e-9)
        cut_at = 0.9 * best + 0.1 * solution.w


def test_long_random_life_of_one_bundle() -> None:
    """Planes added and pruned, C raised and lowered: the factor that is kept through it all stays good."""
    rng = np.random.default_rng(5)
    bundle = Bundle(12)
    for _ in range(600):
        bundle.add(rng.normal(size=12) * 10.0 ** rng.uniform(-2, 1), rng.random())
        C = 10.0 ** rng.uniform(-4, 4)
        solution = bundle.solve(C)
        problem = Problem(*bundle.planes, 0.0, C)
        assert problem.objective(solution.w) - solution.lower <= allowed(problem, solution)
        if rng.random() < 0.1:
            bundle.prune(int(rng.integers(1, 30)))
