"""CPA, OCA-E and OCA-T run pure, with every setting of the papers open: mu, the line search, epsilon as a risk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutplane._runtime.blas import one_blas_thread
from cutplane.objectives.generic import Objective
from cutplane.risks.hinge import Hinge
from cutplane.shards.host import HostShard
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch, ThreePointLineSearch
from cutplane.solvers.result import Result, Step
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

METHODS = {
    "CPA": CuttingPlane.cpa,
    "OCA-E": lambda: CuttingPlane.published(ExactLineSearch()),
    "OCA-T": lambda: CuttingPlane.published(ThreePointLineSearch()),
}


def train(
    X,
    y,
    C: float,
    solver: CuttingPlane,
    *,
    epsilon: float = 0.0,
    tol: float = 0.0,
    threads: int = 2,
    limit: float | None = None,
    max_iter: int | None = None,
) -> Result:
    """Minimise ½|w|² + C·mean hinge, without an intercept: the C of the papers, not per example.

    `epsilon` is SVM-perf's, (upper - lower) / C; `tol` is the relative gap. Zero turns either off.
    """
    source = as_source(X, n_threads=threads)
    risk = Hinge(y.astype(np.int8), None, n_threads=threads)
    objective = Objective(HostShard(source, risk))
    bundle = Bundle(objective.dimension, lower_bound=objective.lower_bound, n_threads=threads)
    stopping = Stopping(relative_gap=tol, risk_gap=epsilon, max_iter=max_iter, time_limit=limit)
    with one_blas_thread():
        ledger = Ledger(C, bundle, stopping)
        return ledger.result(solver.run(objective, ledger))


class Reached(NamedTuple):
    """The first iteration at which a bound on the gap held."""

    iterations: int
    seconds: float
    upper: float
    lower: float


def reached(history: list[Step], C: float, epsilon: float = 0.0, tol: float = 0.0) -> Reached | None:
    """When a looser run would have stopped: one run answers for every epsilon above its own."""
    for step in history:
        if step.upper - step.lower <= max(epsilon * C, tol * step.upper):
            return Reached(step.iteration, step.seconds, step.upper, step.lower)
    return None


def phases(history: list[Step]) -> dict[str, float]:
    """Seconds by phase, over all iterations."""
    total: dict[str, float] = {}
    for step in history:
        for name, seconds in step.phases.items():
            total[name] = total.get(name, 0.0) + seconds
    return total
