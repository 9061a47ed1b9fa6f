"""A C that is proven best: models with more and more C, until no C between them can have a lower error.

The error is that of cross-validation: the mean over the folds of the share of rows left out that are predicted wrong.
Shibagaki et al., "Regularization path of cross-validation error lower bounds" (NIPS 2015), with balls of our own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from cutplane._types import Array, Arrays, Document
from cutplane.estimators.common.stored import finite
from cutplane.estimators.linear.certified_fold import CertifiedFold, FoldBounds, FoldModels, Reach

CertifyStopReason = Literal["certified", "max_fits", "time_limit", "stalled"]

# A pair of neighbours is looked at in so many halvings; a new C is no nearer to either than this part of the way.
_HALVINGS, _APART = 3, 0.2
# Neighbours this close, as a factor, are not parted any more.
_CLOSEST = 1.0 + 1e-9
# Means of shares are rounded; bounds are lowered by more than that.
_OUTWARD = 1.0 - 1e-14


@dataclass(frozen=True)
class CertifiedChoice:
    """What is proven of the cross-validated error of every C in a range.

    Attributes
    ----------
    certify : float
        What was asked for: no C should have an error that is lower by more.
    error : float
        The least error of the models that were trained: that with `C_`.
    lower_bound : float
        The exact optimum has no lower error, whatever C of the range it is trained with.
    edges : array of shape (m + 1,)
        The range of C in pieces: the least C, where pieces meet, the largest.
    lower_bounds : array of shape (m,)
        For each piece what the exact optimum's error with no C of it is below.
    n_fits : int
        How many C were tried, with a model in every fold for each.
    stop_reason : {"certified", "max_fits", "time_limit", "stalled"}
        Why it ended: proven as asked for, as many C as allowed, out of time, or no more digits in double precision.
    """

    certify: float
    error: float
    lower_bound: float
    edges: Array = field(repr=False)
    lower_bounds: Array = field(repr=False)
    n_fits: int
    stop_reason: CertifyStopReason

    @property
    def proven(self) -> bool:
        """Whether no C can have an error that is lower by more than was asked for."""
        return self.error - self.lower_bound <= self.certify

    def lower_bound_at(self, C: float) -> float:
        """What the error with this C is not below.

        Parameters
        ----------
        C : float
            Of the range.
        """
        if not self.edges[0] <= C <= self.edges[-1]:
            raise ValueError(f"C={C!r} is outside of the range [{self.edges[0]:g}, {self.edges[-1]:g}].")
        return max(
            float(bound)
            for low, high, bound in zip(self.edges, self.edges[1:], self.lower_bounds, strict=False)
            if low <= C <= high
        )

    def to_file(self) -> tuple[Arrays, Document]:
        """What a model file holds of it."""
        stored = asdict(self)
        arrays = {f"certified_{name}": stored.pop(name) for name in ("edges", "lower_bounds")}
        return arrays, {"certified": stored}

    @classmethod
    def from_file(cls, arrays: Arrays, stored: Document) -> CertifiedChoice:
        """The same, read back."""
        edges = finite(arrays, "certified_edges", arrays["certified_edges"].shape[:1])
        bounds = finite(arrays, "certified_lower_bounds", (len(edges) - 1,))
        return cls(**stored["certified"], edges=edges, lower_bounds=bounds)


class _Piece(NamedTuple):
    """A range of C, and the error that no C of it is below."""

    low: float
    high: float
    bound: float


class _Tried(NamedTuple):
    """A C, with its models in every fold."""

    C: float
    models: list[FoldModels]

    @property
    def error(self) -> float:
        return float(np.mean([each.error for each in self.models]))


class Search:
    """Tries more and more C, until what is between them is proven.

    Parameters
    ----------
    folds : sequence of CertifiedFold
    certify : float
    max_fits : int
    seconds_left : callable
        Until the time is up.
    workers : int
        How many folds are looked at side by side.
    """

    def __init__(
        self,
        folds: Sequence[CertifiedFold],
        certify: float,
        max_fits: int,
        seconds_left: Callable[[], float],
        workers: int,
    ) -> None:
        self._folds, self._certify, self._max_fits, self._seconds_left = folds, certify, max_fits, seconds_left
        self._pool = ThreadPoolExecutor(workers)
        self._tried: list[_Tried] = []
        self._pieces: dict[tuple[float, float], list[_Piece]] = {}  # by the pair of neighbours around them
        self._reaches: list[list[Reach]] = []
        self._look = 0.0  # seconds that the longest look at a pair has taken

    def run(self, grid: Sequence[float]) -> CertifiedChoice:
        """From the C of a grid, whose least and largest are the range."""
        first = sorted(set(map(float, grid)))
        with self._pool:
            # The ends say how far all optima between them can be.
            for C in {first[-1]: None, first[0]: None}:
                self._try(C)
            ends = zip(self._folds, self._tried[0].models, self._tried[-1].models, strict=True)
            self._reaches = [fold.reaches(least, most) for fold, least, most in ends]
            self._try_all(first[1:-1])
            self._look_at_pairs()
            reason = self._refine()
            if reason != "certified":
                self._look_at_pairs(thorough=True)
            return self._found(reason)

    @property
    def Cs(self) -> Array:
        """All C that were tried, in order."""
        return np.array([each.C for each in self._tried])

    @property
    def errors(self) -> Array:
        """Their errors, a column for each fold."""
        return np.array([[models.error for models in each.models] for each in self._tried])

    @property
    def _target(self) -> float:
        """What every piece must be proven not to be below."""
        return min(each.error for each in self._tried) - self._certify

    def _refine(self) -> CertifyStopReason:
        while True:
            wanted = self._wanted()
            if wanted is None:
                return "certified"
            if not self._time_for_another():
                return "time_limit"
            left = self._max_fits - len(self._tried)
            if left <= 0:
                return "max_fits"
            if not wanted:
                return "stalled"
            self._try_all(wanted[:left])
            self._look_at_pairs()

    def _wanted(self) -> list[float] | None:
        """The next C, those first where the least is proven; None where nothing is open."""
        found, any_open = [], False
        for (left, right), pieces in self._pieces.items():
            still = [piece for piece in pieces if piece.bound < self._target]
            if still:
                any_open = True
                if right > _CLOSEST * left:
                    found.append((min(piece.bound for piece in still), _middle(left, right, still)))
        return [C for _, C in sorted(found)] if any_open else None

    def _try_all(self, Cs: Sequence[float]) -> None:
        """From the nearer end to the other, for each model begins where the last one ended."""
        ordered = sorted(Cs)
        falling = bool(ordered) and self._last * self._last > ordered[0] * ordered[-1]
        for count, C in enumerate(reversed(ordered) if falling else ordered):
            if not self._time_for_another(count):
                break
            self._try(C)

    def _time_for_another(self, more: int = 0) -> bool:
        """Whether there is time for another C, and to look at what it and so many before it part."""
        return self._seconds_left() > 2.0 * (more + 1) * self._longest_look

    @property
    def _longest_look(self) -> float:
        """Seconds that a look at a pair takes at most, as far as is known."""
        return max(self._look, *(fold.look_seconds for fold in self._folds))

    def _try(self, C: float) -> None:
        self._last = C
        models = list(self._pool.map(lambda fold: fold.train(C), self._folds))
        self._tried = sorted([*self._tried, _Tried(C, models)], key=lambda each: each.C)

    def _look_at_pairs(self, *, thorough: bool = False) -> None:
        """Find out what is proven between neighbours: those that are new, or (thorough) those that are open."""
        pairs: dict[tuple[float, float], list[_Piece]] = {}
        known = [piece for pieces in self._pieces.values() for piece in pieces]
        for left, right in zip(self._tried, self._tried[1:], strict=False):
            before = self._pieces.get((left.C, right.C))
            if before is None or (thorough and any(piece.bound < self._target for piece in before)):
                around = [piece for piece in known if piece.high > left.C and piece.low < right.C]
                before = self._look_between(left, right, around, thorough=thorough)
            pairs[left.C, right.C] = before
        if len(self._tried) == 1:  # the range is a single C
            only = self._tried[0]
            pairs[only.C, only.C] = self._look_between(only, only, [])
        self._pieces = pairs

    def _look_between(
        self, left: _Tried, right: _Tried, around: list[_Piece], *, thorough: bool = False
    ) -> list[_Piece]:
        """As `_between`; where no time is left for it, what is known."""
        if self._seconds_left() <= self._longest_look:
            return _within(left.C, right.C, around)
        begin = time.perf_counter()
        found = self._between(left, right, around, thorough=thorough)
        self._look = max(self._look, time.perf_counter() - begin)
        return found

    def _between(self, left: _Tried, right: _Tried, around: list[_Piece], *, thorough: bool = False) -> list[_Piece]:
        """The range between neighbours in pieces; what was proven of it before still holds."""
        work = zip(self._folds, left.models, right.models, self._reaches, strict=True)
        bounds: list[FoldBounds] = list(self._pool.map(lambda each: each[0].between(*each[1:]), work))

        def error(low: float, high: float) -> float:
            known = min((p.bound for p in around if p.high > low and p.low < high), default=0.0)
            shares = list(self._pool.map(lambda fold: fold.error(low, high), bounds))
            return max(known, float(np.mean(shares)) * _OUTWARD)

        def halved(low: float, high: float, halvings: int) -> list[_Piece]:
            whole = _Piece(low, high, error(low, high))
            enough = whole.bound >= self._target or self._seconds_left() <= 0.0
            if enough or not halvings or not low < math.sqrt(low * high) < high:
                return [whole]
            middle = math.sqrt(low * high)
            # Where a single C is open, only another model helps.
            if not thorough and error(middle, middle) < self._target:
                return [whole]
            return [*halved(low, middle, halvings - 1), *halved(middle, high, halvings - 1)]

        return halved(left.C, right.C, _HALVINGS)

    def _found(self, reason: CertifyStopReason) -> CertifiedChoice:
        pieces = sorted(piece for pieces in self._pieces.values() for piece in pieces)
        bounds = np.array([piece.bound for piece in pieces])
        edges = np.array([pieces[0].low, *(piece.high for piece in pieces)])
        error = min(each.error for each in self._tried)
        return CertifiedChoice(self._certify, error, float(bounds.min()), edges, bounds, len(self._tried), reason)


def _within(low: float, high: float, around: list[_Piece]) -> list[_Piece]:
    """What is known of a range: the pieces that meet it, cut off at its ends; of a new one, nothing."""
    cut = [_Piece(max(low, piece.low), min(high, piece.high), piece.bound) for piece in sorted(around)]
    return cut or [_Piece(low, high, 0.0)]


def _middle(left: float, right: float, still: list[_Piece]) -> float:
    """A C in the middle of what is open between neighbours, though not too near to either."""
    middle = math.sqrt(min(piece.low for piece in still)) * math.sqrt(max(piece.high for piece in still))
    share = min(1.0 - _APART, max(_APART, math.log(middle / left) / math.log(right / left)))
    return left * math.pow(right / left, share)
