"""What every linear estimator does around its runs: who proves them, and what is said of a run that ended early."""

from __future__ import annotations

import warnings
from dataclasses import replace

from sklearn.exceptions import ConvergenceWarning

from cutplane.objectives.generic import Objective
from cutplane.proof.prover import Prover
from cutplane.proof.rounding import UNIT
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings


def prover_of(objective: Objective, settings: Settings) -> Prover:
    """What proves models of an objective."""
    return Prover(
        objective.shard,
        settings.C,
        replace(objective.rounding, unit=UNIT),
        intercept=objective.intercept,
        origin=objective.origin,
        bounds=settings.bounds,
    )


def warn_unless_proven(result: Result, what: str) -> None:
    """One sentence on a run that ended before its gap was proven."""
    if result.stop_reason == "gap":
        return
    why = {
        "max_iter": "reached max_iter",
        "time_limit": "ran out of time",
        "interrupted": "was interrupted",
        "stalled": "made no more progress in double precision",
    }[result.stop_reason]
    warnings.warn(
        f"{what} {why} after {len(result.history)} iterations; the best model so far is kept, proven to be within "
        f"{result.gap:.2g} of the optimum (relative).",
        ConvergenceWarning,
        stacklevel=4,
    )
