"""What every linear estimator does around its runs: who proves them, and what is said of a run that ended early."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from cutplane._runtime.warned import users_line
from cutplane.objectives.generic import Objective
from cutplane.proof.prover import Prover
from cutplane.proof.rounding import UNIT
from cutplane.risks.base import Risk
from cutplane.solvers.result import Result, StopReason
from cutplane.solvers.run import Settings
from cutplane.sources import Source

# Features are worth a word where they differ in size by this.
_APART = 1e4


def prover_of(objective: Objective, settings: Settings) -> Prover:
    """What proves models of an objective."""
    rounding = objective.rounding
    return Prover(
        objective.shard,
        settings.C,
        rounding if rounding.unit == UNIT else replace(rounding, unit=UNIT),
        intercept=objective.intercept,
        origin=objective.origin,
        bounds=settings.bounds,
    )


def total_weight(risk: Risk, n_examples: int, weights: NDArray[np.float64] | None) -> float:
    """What C per example is multiplied by to weigh the risk."""
    if risk.total_weight is not None:
        return risk.total_weight
    return float(n_examples) if weights is None else float(weights.sum())


_WHY: dict[StopReason, str] = {
    "max_iter": "reached max_iter",
    "time_limit": "ran out of time",
    "interrupted": "was interrupted",
    "stalled": "made no more progress in double precision",
}


def on_scales(source: Source) -> str:
    """A sentence where features differ so much in size that fits are slow, or cannot be proven; else none."""
    columns = source.extent.columns
    sizes = np.zeros(0) if columns is None else columns[columns > 0.0]
    if not len(sizes) or sizes.max() < _APART * sizes.min():
        return ""
    return (
        f" The largest feature of X is {sizes.max() / sizes.min():.1g} times the smallest in size; scaled alike, as by "
        "sklearn.preprocessing.MaxAbsScaler, the fit is easier."
    )


def warn_unless_proven(results: Sequence[Result], what: str, hint: Callable[[], str] = str) -> None:
    """One sentence on the runs of a fit that ended before their gaps were proven, and what may help."""
    short = [result for result in results if result.stop_reason != "gap"]
    if not short:
        return
    reasons = " or ".join(why for reason, why in _WHY.items() if any(r.stop_reason == reason for r in short))
    iterations, gap = max(len(r.history) for r in short), max(r.gap for r in short)
    several = f" in {len(short)} of its {len(results)} problems" if len(results) > 1 else ""
    best = "the best models so far are kept" if len(results) > 1 else "the best model so far is kept"
    warnings.warn(
        f"{what} {reasons}{several} after {iterations} iterations; {best}, proven to be within {gap:.2g} of the "
        f"optimum (relative).{hint()}",
        ConvergenceWarning,
        stacklevel=users_line(),
    )
