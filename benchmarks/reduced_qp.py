"""The bundle's QP against general QP solvers, on the planes of a real cutting-plane run.

    python benchmarks/reduced_qp.py [--data DIR] [--repeats 5] [--out FILE]

A run of optimised cutting planes is recorded once; then every solver solves the same sequence of QPs, one
per plane added. With --data the planes come from 50,000 rows of covtype (class 1 against the rest, columns
scaled to [0, 1]), else from synthetic rows of the same shape. A solver's time is that of
its call alone: Gram matrix and constraints are ready before the clock starts. Its accuracy is the relative
gap between ½|w|² + C·(highest plane at w) at the w it returns and the dual bound of its weights, clipped to
the simplex, both computed from the planes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets
from benchmarks.measure import machine, write_json
from cutplane.solvers.bundle.planes import Bundle

ROWS = 50_000
PLANES = 200
QUICK_ROWS, QUICK_PLANES = 5_000, 60


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


clarabel, daqp, quadprog = (_installed(name) for name in ("clarabel", "daqp", "quadprog"))


def covtype(data: Path, cache: Path) -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.load("covtype-dense", data, cache)
    chosen = np.random.default_rng(0).choice(len(y), ROWS, replace=False)
    return X[chosen].astype(np.float64), y[chosen]


def synthetic(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.hstack([rng.random((rows, 10)), rng.random((rows, 44)) < 0.05])
    noise = rng.normal(size=rows)
    return X, np.where(X @ rng.normal(size=54) + 0.7 * noise > 0.2, 1.0, -1.0)


def record(X: np.ndarray, y: np.ndarray, C: float, planes: int) -> tuple[np.ndarray, np.ndarray, float]:
    """The planes of so many iterations of OCA, and the gap it has proven by then."""
    signed = y[:, None] * X
    bundle = Bundle(X.shape[1])
    best, best_margins = np.zeros(X.shape[1]), np.zeros(len(y))
    cut_margins = best_margins
    lower = 0.0
    for _ in range(planes):
        violated = (cut_margins < 1.0) / len(y)
        bundle.add(-(violated @ signed), violated.sum())
        solution = bundle.solve(C)
        lower = max(lower, solution.lower)
        margins = signed @ solution.w
        step = line_search(best, solution.w, best_margins, margins, C)
        best = best + step * (solution.w - best)
        best_margins = best_margins + step * (margins - best_margins)
        cut_margins = 0.9 * best_margins + 0.1 * margins
    upper = 0.5 * best @ best + C * np.maximum(0.0, 1.0 - best_margins).mean()
    slopes, offsets = bundle.planes
    return slopes, offsets, float((upper - lower) / upper)


def line_search(a: np.ndarray, b: np.ndarray, at_a: np.ndarray, at_b: np.ndarray, C: float) -> float:
    """Bisection on the derivative of the objective from a towards b."""
    low, high = 0.0, 1.0
    direction, change = b - a, at_b - at_a
    for _ in range(30):
        t = 0.5 * (low + high)
        violated = at_a + t * change < 1.0
        rising = direction @ (a + t * direction) > C * (change @ violated) / len(change)
        low, high = (low, t) if rising else (t, high)
    return 0.5 * (low + high)


# A solver takes a step of the sequence to w, its weights (trivial plane first) and the seconds that took.
Step = tuple[int, np.ndarray, np.ndarray]  # planes so far, Gram matrix and offsets with the trivial plane
Answer = tuple[np.ndarray, np.ndarray, float]
Solver = Callable[[Step], Answer]


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    answer = call()
    return answer, time.perf_counter() - start


def ours(slopes: np.ndarray, offsets: np.ndarray, C: float, *, warm: bool) -> Solver:
    bundle = Bundle(slopes.shape[1])

    def solve(step: Step) -> Answer:
        k = step[0] - 1
        bundle.add(slopes[k], offsets[k])
        if not warm:
            bundle.reset()
        solution, seconds = timed(lambda: bundle.solve(C))
        return solution.w, np.append(1.0 - solution.weights.sum(), solution.weights), seconds

    return solve


@dataclass(frozen=True)
class PrimalForm:
    """min ½|u|² + ½ ridge·eta² + eta subject to planes @ (u, eta) <= -heights.

    The form in which the peers fare best: u = w / (C·L), eta = risk / (C·L²), with L the longest slope. The
    ridge is what DAQP and quadprog need for a factor of the Hessian, as small as each of them bears.
    """

    planes: np.ndarray
    heights: np.ndarray
    hessian: np.ndarray
    linear: np.ndarray
    unit: float  # C·L

    def w(self, solution: np.ndarray) -> np.ndarray:
        return self.unit * np.asarray(solution)[:-1]


def primal_form(step: Step, slopes: np.ndarray, C: float, ridge: float) -> PrimalForm:
    k, gram, offsets = step
    longest = np.sqrt(gram.diagonal().max())
    d = slopes.shape[1]
    planes = np.zeros((k + 1, d + 1))
    planes[1:, :d] = slopes[:k] / longest
    planes[:, d] = -1.0
    diagonal = np.append(np.ones(d), ridge)
    heights = offsets / (C * longest**2)
    return PrimalForm(planes, heights, np.diag(diagonal), np.append(np.zeros(d), 1.0), C * longest)


def daqp_primal(slopes: np.ndarray, C: float, *, warm: bool) -> Solver:
    last = np.zeros(1)

    def solve(step: Step) -> Answer:
        nonlocal last
        form = primal_form(step, slopes, C, ridge=1.0)
        n = len(form.heights)
        sense = np.zeros(n, dtype=np.int32)
        if warm:
            sense[: len(last)][last > 0.0] = 1  # active at the start
        bounds = -form.heights, np.full(n, -1e30)
        tight = {"primal_tol": 1e-12, "eps_prox": 0.0}
        (x, _, flag, info), seconds = timed(
            lambda: daqp.solve(form.hessian, form.linear, form.planes, *bounds, sense, **tight)
        )
        last = np.array(info["lam"])
        if flag < 1:
            raise ValueError(f"DAQP ends with flag {flag}")
        return form.w(x), last, seconds

    return solve


def quadprog_primal(slopes: np.ndarray, C: float) -> Solver:
    def solve(step: Step) -> Answer:
        form = primal_form(step, slopes, C, ridge=1e-4)
        constraints = np.ascontiguousarray(-form.planes.T)
        answer, seconds = timed(lambda: quadprog.solve_qp(form.hessian, -form.linear, constraints, form.heights))
        return form.w(answer[0]), answer[4], seconds

    return solve


def clarabel_primal(slopes: np.ndarray, C: float) -> Solver:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.tol_gap_abs = 1e-18  # the value is about 1 / C in these units: let the relative gap decide

    def solve(step: Step) -> Answer:
        form = primal_form(step, slopes, C, ridge=0.0)
        P, A = sparse.csc_matrix(form.hessian), sparse.csc_matrix(form.planes)
        cones = [clarabel.NonnegativeConeT(len(form.heights))]
        answer, seconds = timed(
            lambda: clarabel.DefaultSolver(P, form.linear, A, -form.heights, cones, settings).solve()
        )
        return form.w(answer.x), np.array(answer.z), seconds

    return solve


def relative_gap(w: np.ndarray, weights: np.ndarray, slopes: np.ndarray, offsets: np.ndarray, C: float) -> float:
    weights = np.maximum(0.0, weights)
    beta = weights[1:] / weights.sum()
    proven = -C * beta @ slopes
    lower = C * beta @ offsets - 0.5 * proven @ proven
    upper = 0.5 * w @ w + C * max(0.0, (slopes @ w + offsets).max())
    return float((upper - lower) / upper)


def measure(make: Callable[[], Solver], steps: list[Step], slopes: np.ndarray, C: float, repeats: int) -> dict:
    """Times per step (median over repeats) and the accuracy reached."""
    seconds = np.full((repeats, len(steps)), np.nan)
    gaps = np.full(len(steps), np.nan)
    failures = 0
    for repeat in range(repeats):
        solve = make()
        for i, step in enumerate(steps):
            k = step[0]
            try:
                w, weights, seconds[repeat, i] = solve(step)
            except ValueError:  # quadprog: matrix not positive definite; DAQP: cycling
                failures += repeat == 0
                continue
            if repeat == 0:
                gaps[i] = relative_gap(w, weights, slopes[:k], step[2][1:], C)
    per_step = np.median(seconds, axis=0)
    return {
        "median_us": float(np.nanmedian(per_step) * 1e6),
        "last_50_us": float(np.nanmedian(per_step[-50:]) * 1e6),
        "worst_us": float(np.nanmax(per_step) * 1e6),
        "total_ms": float(np.nansum(per_step) * 1e3),
        "median_gap": float(np.nanmedian(gaps)),
        "worst_gap": float(np.nanmax(gaps)),
        "failures": failures,
    }


def compare(X: np.ndarray, y: np.ndarray, per_example_C: float, repeats: int, planes: int) -> dict:
    C = per_example_C * len(y)
    slopes, offsets, gap = record(X, y, C, planes)
    extended = np.vstack([np.zeros(slopes.shape[1]), slopes])
    gram, heights = extended @ extended.T, np.append(0.0, offsets)
    steps = [(k, gram[: k + 1, : k + 1].copy(), heights[: k + 1]) for k in range(1, len(slopes) + 1)]
    solvers: dict[str, Callable[[], Solver]] = {
        "cutplane, warm": lambda: ours(slopes, offsets, C, warm=True),
        "cutplane, cold": lambda: ours(slopes, offsets, C, warm=False),
    }
    peers: dict[str, tuple[Any, Callable[[], Solver]]] = {
        "DAQP, warm": (daqp, lambda: daqp_primal(slopes, C, warm=True)),
        "DAQP, cold": (daqp, lambda: daqp_primal(slopes, C, warm=False)),
        "quadprog": (quadprog, lambda: quadprog_primal(slopes, C)),
        "Clarabel": (clarabel, lambda: clarabel_primal(slopes, C)),
    }
    solvers |= {name: make for name, (module, make) in peers.items() if module is not None}
    print(f"\nC = {per_example_C:g} per example, {len(slopes)} planes, gap of the run {gap:.1e}")
    print(f"{'':16}{'median us':>11}{'last 50':>11}{'worst us':>11}{'total ms':>11}", end="")
    print(f"{'median gap':>12}{'worst gap':>12}{'failed':>8}")
    rows = {}
    for name, make in solvers.items():
        row = rows[name] = measure(make, steps, slopes, C, repeats)
        print(f"{name:16}{row['median_us']:11.1f}{row['last_50_us']:11.1f}{row['worst_us']:11.1f}", end="")
        print(f"{row['total_ms']:11.2f}{row['median_gap']:12.1e}{row['worst_gap']:12.1e}{row['failures']:8}")
    missing = [name for name in peers if name not in solvers]
    for name in missing:
        print(f"{name:16}    missing: pip install {name.split(',')[0].lower()}")
    return {"missing": missing, "per_example_C": per_example_C, "planes": len(slopes), "run_gap": gap, "solvers": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the published data files; none: synthetic rows")
    parser.add_argument("--cache", type=Path, default=datasets.DEFAULT_CACHE, help="of parsed data (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="synthetic rows, one repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows, planes = (QUICK_ROWS, QUICK_PLANES) if options.quick else (ROWS, PLANES)
    if options.quick:
        options.repeats, options.data = 1, None
    X, y = covtype(options.data, options.cache) if options.data else synthetic(rows)
    report = {
        "data": "covtype, 50,000 rows" if options.data else "synthetic",
        "repeats": options.repeats,
        "machine": machine(("cutplane", "numpy", "daqp", "quadprog", "clarabel")),
        "runs": [compare(X, y, C, options.repeats, planes) for C in (1.0, 10.0)],
    }
    if options.out:
        write_json(options.out, report)


if __name__ == "__main__":
    main()
