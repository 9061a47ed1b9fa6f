"""Training until predictions are proven: with ever smaller gaps, each run going on from the last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from cutplane._types import Array, MatrixLike
from cutplane.estimators.linear.problems import Prepared
from cutplane.solvers.certificates import ProblemCertificate
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings

# The gap that is aimed at next, relative to the last one that was proven: at most, at least, and what is foreseen to
# be enough times this, for intervals of intercepts do not shrink evenly. None is aimed at below the least.
_AT_MOST, _AT_LEAST, _FORESEEN, _LEAST_GAP = 0.1, 1e-7, 0.5, 1e-15


class Goal(NamedTuple):
    """The share of these rows whose labels must be proven."""

    rows: MatrixLike
    share: float


class Trainable(Protocol):
    """A model, as far as this loop asks."""

    certificates_: list[ProblemCertificate]

    @property
    def gap_(self) -> float: ...  # noqa: D102

    def _train(self, training: Settings, prepared: Prepared, begin: Sequence[Result] | None = None) -> list[Result]: ...


def check_goal(certain_on: Any) -> Goal:
    """The rows and the share, or an error that says what is accepted."""
    pair = isinstance(certain_on, (tuple, list)) and len(certain_on) == 2
    share: Any = certain_on[1] if pair else None
    number = isinstance(share, (int, float, np.integer, np.floating)) and not isinstance(share, bool)
    if not number or not 0.0 < share <= 1.0:
        shown = f"certain_on[1]={share!r}" if pair else "certain_on"
        raise ValueError(f"{shown} must be a share above 0 and at most 1, of rows given before it: (X, share).")
    return Goal(certain_on[0], float(share))


def enough_of_gap(low: Array, high: Array, share: float) -> float:
    """The part of the gap that would leave intervals narrow enough to prove a share of the labels, about.

    Intervals shrink with the root of the gap, around about where they are now.
    """
    with np.errstate(invalid="ignore"):  # where nothing is proven, ends are infinite
        centre, half = 0.5 * (low + high), 0.5 * (high - low)
    if low.shape[1] == 1:
        ahead, width = np.abs(centre[:, 0]), half[:, 0]
    else:
        order, rows = np.argsort(centre, axis=1), np.arange(len(low))
        first, second = order[:, -1], order[:, -2]
        ahead, width = centre[rows, first] - centre[rows, second], half[rows, first] + half[rows, second]
    known = np.isfinite(ahead) & np.isfinite(width) & (width > 0.0)
    ratio = np.divide(ahead, width, out=np.zeros_like(ahead), where=known)
    return float(np.quantile(ratio, 1.0 - share)) ** 2


def train_until_certain(
    model: Trainable, training: Settings, prepared: Prepared, shrink: Callable[[], float | None]
) -> list[Result]:
    """Train with smaller gaps again and again, until enough is certain or until no run proves its gap any more.

    `shrink` looks at the model: None if enough is certain, else the part of the gap that is thought to be enough.
    """
    began: Sequence[Result] | None = None
    while True:
        results = model._train(training, prepared, began)
        wanted = shrink()
        if wanted is None:
            model.certificates_ = [replace(each, stop_reason="certain") for each in model.certificates_]
            return results
        if any(result.stop_reason != "gap" for result in results) or model.gap_ <= _LEAST_GAP:
            return results
        part = min(_AT_MOST, max(_AT_LEAST, _FORESEEN * wanted))
        tighter = max(_LEAST_GAP, part * min(model.gap_, training.stopping.relative_gap))
        # Other tolerances would end the run at once.
        stopping = replace(training.stopping, relative_gap=tighter, absolute_gap=0.0, risk_gap=0.0)
        training, began = replace(training, stopping=stopping), results
