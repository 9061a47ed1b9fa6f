"""Between what the exact optimum's figures on held-out data lie: an interval beside each figure of the model's own."""

from __future__ import annotations

import copy
import math
from typing import NamedTuple

from sklearn.base import BaseEstimator

from cutplane.report.markup import Markup, element, paragraph, text
from cutplane.report.trained import Trained


class OptimumFigures(NamedTuple):
    """Intervals by the names of `score_bounds`; where there are none, why not."""

    intervals: dict[str, tuple[float, float]]
    missing: str | None

    def beside(self, figure: str, shown: str, *, percent: bool = True) -> str | Markup:
        """`shown`, with the optimum's interval below it where there is one."""
        if figure not in self.intervals:
            return shown
        return Markup(text(shown) + element("small", text(self.words(figure, percent=percent))))

    def words(self, figure: str, *, percent: bool = True) -> str:
        """The interval of a figure, rounded outward; empty where there is none."""
        if figure not in self.intervals:
            return ""
        least, most = self.intervals[figure]
        if least <= 0.0 and most >= 1.0:
            return "exact optimum: open at this gap"
        low, high = (100.0 * end if percent else end for end in (least, most))
        digits = 2 if percent else 4
        # The small number forgives the rounding of what is a round figure.
        ends = math.floor(low * 10**digits + 1e-9) / 10**digits, math.ceil(high * 10**digits - 1e-9) / 10**digits
        unit = "\u00a0%" if percent else ""
        return f"exact optimum: {ends[0]:.{digits}f} to {ends[1]:.{digits}f}{unit}"


def optimum_figures(trained: Trained) -> OptimumFigures:
    """What is proven of the exact optimum on the held-out data.

    A free intercept takes the training data to bound. Where these are at hand it is done here, on a copy of the model.
    """
    model, held_out = trained.model, trained.held_out
    if held_out is None or not hasattr(model, "score_bounds"):
        return OptimumFigures({}, None)
    try:
        return OptimumFigures(model.score_bounds(held_out.X, held_out.y), None)
    except ValueError as error:
        missing = str(error)
    certified = _certified(trained)
    if certified is None:
        return OptimumFigures({}, missing)
    return OptimumFigures(certified.score_bounds(held_out.X, held_out.y), None)


def _certified(trained: Trained) -> BaseEstimator | None:
    """A copy of the model with bounds on its intercept; None where the training data are not at hand, or others."""
    if trained.train is None or not hasattr(trained.model, "certify_intercept"):
        return None
    try:
        return copy.copy(trained.model).certify_intercept(trained.train.X, trained.train.y)
    except ValueError:
        return None


def intervals_explained(optimum: OptimumFigures) -> list[Markup]:
    """What the small intervals are, or why there are none."""
    if optimum.missing is not None:
        return [paragraph(f"No interval of the exact optimum's figures: {optimum.missing}", "soft")]
    if not optimum.intervals:
        return []
    return [
        paragraph(
            "The small intervals hold for the exact optimum of the same problem: no more training takes the figures "
            "out of them. A smaller tol makes them narrower.",
            "soft",
        )
    ]
