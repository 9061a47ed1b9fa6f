"""A grid of C, or of C and gamma, and what cross-validation found at each of its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cutplane._types import Array


@dataclass(frozen=True, slots=True)
class Searched:
    """What `cutplane path` found.

    Attributes
    ----------
    Cs : sequence of float
        Rising.
    gammas : sequence of float or str
        Those of a kernel; empty where there is none to choose. Points are in the order of gamma, then of C.
    figures : dict of str to array of shape (n_points, n_folds)
        What was measured on the examples left out; greater is better, and the first decides.
    gaps : sequence of float
        The largest that was proven at each point; infinite where nothing was.
    lengths : sequence of float or None
        |w| at each point; None where there are no weights.
    seconds : float
        How long all of it took.
    """

    Cs: Sequence[float]
    gammas: Sequence[float | str]
    figures: dict[str, Array]
    gaps: Sequence[float]
    lengths: Sequence[float] | None
    seconds: float

    @property
    def is_grid(self) -> bool:
        """Whether two parameters vary."""
        return len(self.gammas) > 1

    @property
    def scoring(self) -> str:
        """The name of the figure that decides."""
        return next(iter(self.figures))

    @property
    def scores(self) -> Array:
        """The figure that decides, by point and fold."""
        return self.figures[self.scoring]

    def means(self, name: str | None = None) -> Array:
        """The mean over the folds in which a figure is defined."""
        values = self.figures[self.scoring if name is None else name]
        known = ~np.isnan(values)
        counts = known.sum(axis=1)
        return np.where(counts > 0, np.where(known, values, 0.0).sum(axis=1) / np.maximum(counts, 1), np.nan)

    @property
    def best(self) -> int:
        """The point with the highest mean; of several the one of least C."""
        means = self.means()
        if np.isnan(means).all():
            raise ValueError(f"The {self.scoring} is not defined in any fold, so that there is no best model.")
        points = sorted(range(len(means)), key=lambda point: (self.C(point), point))
        return max(points, key=lambda point: -np.inf if np.isnan(means[point]) else means[point])

    def C(self, point: int) -> float:
        """The C of a point."""
        return self.Cs[point % len(self.Cs)]

    def gamma(self, point: int) -> float | str | None:
        """The gamma of a point, where there is one."""
        return self.gammas[point // len(self.Cs)] if self.gammas else None

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows: a point each, the best marked in the last column."""
        others = [name for name in self.figures if name != self.scoring]
        lengths = None if others else self.lengths  # a terminal is 80 letters wide
        head = [*(["gamma"] if self.is_grid else []), "C", f"mean {self.scoring}", "deviation", *others]
        head += [*([] if lengths is None else ["|w|"]), "proven gap", ""]
        means, rest = self.means(), [self.means(name) for name in others]
        rows = []
        for point, scores in enumerate(self.scores):
            row = [shown(self.gamma(point))] if self.is_grid else []
            row += [shown(self.C(point)), _figure(means[point]), _figure(scores.std())]
            row += [_figure(each[point]) for each in rest]
            row += [] if lengths is None else [f"{lengths[point]:.4g}"]
            gap = self.gaps[point]
            rows.append([*row, f"{gap:.1e}" if np.isfinite(gap) else "none", "best" if point == self.best else ""])
        return head, rows

    def matrix(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of a grid: a row for each C, a column for each gamma, the best marked."""
        means, best = self.means(), self.best
        rows = []
        for k, C in enumerate(self.Cs):
            points = range(k, len(means), len(self.Cs))
            rows.append([shown(C), *(f"{_figure(means[point])}{' best' if point == best else ''}" for point in points)])
        return ["C \\ gamma", *map(shown, self.gammas)], rows


def shown(value: float | str | None) -> str:
    """A value of a parameter for people."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _figure(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4f}"
