"""Cutplane's own estimator, timed: the solver alone, and the whole of fit() with its checks of the input."""

import warnings
from dataclasses import dataclass, field
from time import perf_counter

from benchmarks.peers import Problem

try:
    from cutplane import LinearSVC

    MISSING = None
except ImportError as error:
    LinearSVC = None
    MISSING = f"missing: {error}"


@dataclass(frozen=True)
class Fitted:
    """One fit: two timings, what was proven, and the objective as the benchmark itself evaluates it."""

    train: float  # seconds of the solver, beside which LIBLINEAR's C function is timed
    fit: float  # seconds of the fit() call
    objective: float  # of coef_, by the benchmark in float64
    reported: float  # objective_, as the estimator says
    lower: float
    gap: float
    iterations: int
    stop_reason: str
    phases: dict[str, float] = field(default_factory=dict)


def fit(
    problem: Problem,
    C: float,
    *,
    method: str = "auto",
    tol: float = 1e-3,
    line_search: str | None = None,
    threads: int = 2,
    time_limit: float | None = None,
) -> Fitted:
    """Train once; `line_search` and `time_limit` are left at the estimator's defaults where None."""
    model = LinearSVC(C=C, tol=tol, fit_intercept=False, method=method, n_jobs=threads)
    given = {"line_search": line_search, "time_limit": time_limit}
    model.set_params(**{name: value for name, value in given.items() if value is not None})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that ended early shows in stop_reason and gap
        start = perf_counter()
        model.fit(problem.X, problem.y)
        whole = perf_counter() - start
    phases: dict[str, float] = {}
    for step in model.history_:
        for name, seconds in step.phases.items():
            phases[name] = phases.get(name, 0.0) + seconds
    return Fitted(
        train=model.history_[-1].seconds,
        fit=whole,
        objective=problem.objective(C, model.coef_),
        reported=float(model.objective_),
        lower=float(model.lower_bound_),
        gap=float(model.gap_),
        iterations=int(model.n_iter_),
        stop_reason=model.stop_reason_,
        phases=phases,
    )
