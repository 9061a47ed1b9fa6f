"""One fold of a certified choice of C: models with a few C, and what they prove of the errors with every C between.

Models are trained on the rows of the fold. Of each that is left out, docs/certain.md proves between what the exact
optimum's score lies for all C of a range; where both ends say the wrong class, the error is certain.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cutplane._runtime.threads import openmp_threads
from cutplane._types import Array, Codes, Matrix
from cutplane.estimators.common.certain_classes import by_highest, by_sign
from cutplane.estimators.common.certificates import listening
from cutplane.estimators.common.training import prover_of, total_weight
from cutplane.estimators.linear.dual_search import plain
from cutplane.estimators.linear.held_out import scores_of
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.estimators.linear.problems import Prepared
from cutplane.proof.ball import Scored, centred, scored
from cutplane.proof.ball_between import Anchor, Between, ends
from cutplane.proof.intercept_ends import intercept_ends
from cutplane.proof.prover import Plane, Prover
from cutplane.proof.rounding import UNIT, half_square, length
from cutplane.risks.base import Rows
from cutplane.solvers.handover import Handover
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings, run
from cutplane.sources import Source

# The first gap that is aimed at, the last, and from one to the next; a run with another C begins this much coarser.
_FIRST_GAP, _LEAST_GAP, _TIGHTER, _COARSER = 1e-5, 1e-13, 0.03, 10.0
# Where few labels are open, and a smaller gap leaves this share of them open, a still smaller one does not help.
_FEW, _STILL_OPEN = 0.3, 0.9


class Reach(NamedTuple):
    """How far the optima of a range of C go, for one problem: their weights are no longer, their risks no larger."""

    length: float
    risk: float


class _Trained(NamedTuple):
    """What a run on one problem has proven, the plane that proves it, and who says so."""

    C: float
    w: Array
    intercept: float
    upper: float
    radius: float
    plane: Plane
    prover: Prover

    @property
    def reach(self) -> Reach:
        """Of the optimum with this C."""
        return Reach((length(self.w) + self.radius) * (1.0 + 4.0 * UNIT), self.upper / self.C * (1.0 + 4.0 * UNIT))

    def anchor(self, reach: Reach) -> Anchor:
        """What it says of optima no further than that."""
        square, error = half_square(self.w)
        risk = (self.upper - square + error + 8.0 * UNIT * (abs(self.upper) + square)) / self.C
        slope = self.plane.slope
        offset = self.prover.offset(self.plane, reach.length, reach.risk)
        offset -= 4.0 * UNIT * (length(slope) * reach.length + abs(offset))  # for the product below
        return Anchor(self.C, self.w, risk + 4.0 * UNIT * abs(risk), -self.C * slope, offset)


class FoldModels(NamedTuple):
    """The models of a fold with one C, one for each problem, and the share of the rows left out that they get wrong."""

    trained: list[_Trained]
    error: float

    @property
    def intercepts(self) -> list[float]:
        """Of each problem."""
        return [each.intercept for each in self.trained]


class CertifiedFold:
    """The problems of a fold, trained with one C after the other.

    Parameters
    ----------
    model : LinearModel
        With what preparing the examples has found out.
    training : Settings
    prepared : Prepared
    source : Source
        Of all examples.
    rows, others : array
        The examples to train on, and those left out.
    open_share : float
        Models are trained until no larger share of the labels left out is open at their own C, if that can be.

    Attributes
    ----------
    look_seconds : float
        What the longest look at the labels of models has taken: none is begun with less time left.
    """

    def __init__(
        self,
        model: LinearModel,
        training: Settings,
        prepared: Prepared,
        source: Source,
        rows: Rows,
        others: Rows,
        open_share: float,
    ) -> None:
        self._model, self._training, self._open_share = model, training, open_share
        self._X = plain(prepared.X)
        self._rows, self._others = rows, others
        self._codes: Codes = np.searchsorted(model.classes_, np.asarray(prepared.y)[others])
        self._beyond = source.take(others)
        inside, count = source.take(rows), len(prepared.problems)
        self._problems = [_Problem(model, training, prepared, inside, rows, index) for index in range(count)]
        self._gap = _FIRST_GAP
        self.look_seconds = 0.0
        # The mean of the training rows, where that may be taken off all rows.
        free = bool(model.fit_intercept) and model.intercept_scaling is None
        self._centre = inside.combine(np.full(len(rows), 1.0 / len(rows))) if free else None

    def train(self, C: float) -> FoldModels:
        """Models with this C, with ever smaller gaps until nearly all labels at this C are certain."""
        self._gap = min(_FIRST_GAP, self._training.stopping.relative_gap, _COARSER * self._gap)
        before = 1.0
        with openmp_threads(self._training.n_threads):
            while True:
                results = [problem.train(C, self._gap) for problem in self._problems]
                found = FoldModels([each.trained for each in self._problems], self._error(results))
                proven = all(result.stop_reason == "gap" for result in results)
                if not proven or self._gap <= _LEAST_GAP or self._training.seconds_left <= self.look_seconds:
                    return found
                is_open = self._open_at(C, found)
                if is_open <= self._open_share or _FEW > is_open > _STILL_OPEN * before:
                    return found
                before, self._gap = is_open, max(_LEAST_GAP, _TIGHTER * self._gap)

    def _open_at(self, C: float, models: FoldModels) -> float:
        """The share of the rows left out whose labels are open at the C of models."""
        begin = time.perf_counter()
        own = [each.anchor(each.reach) for each in models.trained]
        share = self._between(own, own, models.intercepts).open_at(C) / len(self._others)
        self.look_seconds = max(self.look_seconds, time.perf_counter() - begin)
        return float(share)

    def _error(self, results: list[Result]) -> float:
        scores = scores_of(self._model, results, self._beyond)
        labels = self._model._predict_from(scores[:, 0] if scores.shape[1] == 1 else scores)
        return float(np.mean(labels != self._model.classes_[self._codes]))

    def reaches(self, least: FoldModels, most: FoldModels) -> list[Reach]:
        """Of all optima with a C between those of two models: lengths rise with C, and risks fall."""
        pairs = zip(least.trained, most.trained, strict=True)
        return [Reach(high.reach.length, low.reach.risk) for low, high in pairs]

    def between(self, left: FoldModels, right: FoldModels, reaches: Sequence[Reach]) -> FoldBounds:
        """What two models, with neighbouring C, prove of the errors with any C: a pass over the examples."""
        first, second = (
            [each.anchor(reach) for each, reach in zip(models.trained, reaches, strict=True)]
            for models in (left, right)
        )
        middle = [0.5 * (a + b) for a, b in zip(left.intercepts, right.intercepts, strict=True)]
        return self._between(first, second, middle)

    def _between(self, left: list[Anchor], right: list[Anchor], intercepts: list[float]) -> FoldBounds:
        vectors = [[a.w, b.w, a.v, b.v] for a, b in zip(left, right, strict=True)]
        free = self._centre is not None
        whole = self._scored(self._X if free else self._X[self._others], vectors)
        problems = []
        for k, (problem, found) in enumerate(zip(self._problems, whole, strict=True)):
            inside = _part(found, self._rows) if free else None
            outside = _part(found, self._others) if free else found
            about = self._about(problem, 0.5 * (left[k].w + right[k].w), intercepts[k])
            problems.append(_ProblemBounds(problem, Between(left[k], right[k]), inside, outside, about))
        return FoldBounds(problems, self._codes)

    def _about(self, problem: _Problem, w: Array, intercept: float) -> float:
        """A model's intercept, where rows are counted from their mean."""
        return intercept if self._centre is None else intercept + float(self._centre @ (w + problem.origin_or(w)))

    def _scored(self, X: Matrix, vectors: list[list[Array]]) -> list[Scored]:
        """Of each problem the scores of rows by its vectors, and last by the prior that weights count from."""
        problems, d = self._problems, X.shape[1]
        rows = [[*each, problem.origin_or(each[0])] for each, problem in zip(vectors, problems, strict=True)]
        count = len(rows[0])
        weights = np.array([w for each in rows for w in each])
        found = scored(X, np.ascontiguousarray(weights[:, :d]))
        if self._centre is not None:
            found = centred(X, found, weights, self._centre)
        scores, errors, lengths = found
        if weights.shape[1] > d:  # the weight of a constant feature
            scaling = float(self._model.intercept_scaling or 0.0)
            added = scaling * weights[:, d]
            scores = scores + added
            errors = errors + 4.0 * UNIT * (np.abs(scores) + np.abs(added))
            lengths = np.hypot(lengths, scaling) * (1.0 + 4.0 * UNIT)
        parts = [slice(count * k, count * (k + 1)) for k in range(len(problems))]
        return [Scored(scores[:, part], errors[:, part], lengths) for part in parts]


class _Problem:
    """One problem of a fold: what is handed on from one C to the next."""

    trained: _Trained

    def __init__(
        self, model: LinearModel, training: Settings, prepared: Prepared, source: Source, rows: Rows, index: int
    ) -> None:
        risk = prepared.problems[index](rows)
        self._objective, settings, self._origin = model._problem(source, risk, training, index, len(prepared.problems))
        self._settings = replace(settings, on_step=listening(model._listener, index))
        weights = prepared.weights
        self.scale = total_weight(risk, source.shape[0], None if weights is None else weights[rows])
        self.terms = risk.terms
        self._handover = Handover(more=True)

    def origin_or(self, like: Array) -> Array:
        """What weights count from."""
        return np.zeros_like(like) if self._origin is None else self._origin

    def train(self, C: float, gap: float) -> Result:
        """Go on from the last model, with this C; what matters later is `trained`."""
        # Other tolerances would end the run at once.
        stopping = replace(self._settings.stopping, relative_gap=gap, absolute_gap=0.0, risk_gap=0.0)
        settings = replace(self._settings, C=C * self.scale, stopping=stopping)
        prover, ledgers = prover_of(self._objective, settings), list[Ledger]()
        result = run(self._objective, settings, prover, self._handover, ledgers.append)
        if result.stop_reason == "interrupted":
            raise KeyboardInterrupt
        origin = self.origin_or(result.w)
        w = (result.w + origin) - origin  # what the model that is returned really has
        intercept = float(np.max(result.intercept))
        self.trained = _Trained(settings.C, w, intercept, result.upper, result.radius, ledgers[-1].witness, prover)
        return result


class _ProblemBounds(NamedTuple):
    """What two anchors say of the scores of one problem; those of training rows are of use for a free intercept."""

    problem: _Problem
    between: Between
    inside: Scored | None
    outside: Scored
    intercept: float

    def ends(self, low: float, high: float) -> tuple[Array, Array]:
        """Between what scores of rows left out lie, for every C from `low` to `high`."""
        ball = self.between.ball(low * self.problem.scale, high * self.problem.scale)
        # The prior's score, which is the last, is whole.
        first, last = (np.append(centre, 1.0) for centre in (ball.first, ball.last))
        ball = ball._replace(first=first, last=last)
        least, most = ends(ball, *self.outside)
        if self.inside is None:
            return least, most
        assert self.problem.terms is not None  # others are refused
        lowest, highest = intercept_ends(self.problem.terms, *ends(ball, *self.inside), self.intercept)
        return np.nextafter(least + lowest, -np.inf), np.nextafter(most + highest, np.inf)


class FoldBounds(NamedTuple):
    """What is proven of the rows left out, for ranges of C."""

    problems: list[_ProblemBounds]
    codes: Codes

    def error(self, low: float, high: float) -> float:
        """The share of the rows that the exact optimum gets wrong, whatever C from `low` to `high` is, at least."""
        return float(np.mean(certain_errors(*self.ends(low, high), self.codes)))

    def open_at(self, C: float) -> int:
        """How many labels are open at one C."""
        least, most = self.ends(C, C)
        codes = by_sign(least[:, 0], most[:, 0]) if least.shape[1] == 1 else by_highest(least, most)
        return int(np.count_nonzero(codes < 0))

    def ends(self, low: float, high: float) -> tuple[Array, Array]:
        """Between what the scores of the rows lie, of shape (n, problems), for every C from `low` to `high`."""
        found = [each.ends(low, high) for each in self.problems]
        return np.stack([least for least, _ in found], axis=1), np.stack([most for _, most in found], axis=1)


def certain_errors(low: Array, high: Array, codes: Codes) -> Array:
    """Where a row's own class is proven not to be predicted, from intervals of scores of shape (n, problems)."""
    if low.shape[1] == 1:
        return np.where(codes == 1, high[:, 0] <= 0.0, low[:, 0] > 0.0)
    rows = np.arange(len(codes))
    others = low.copy()
    others[rows, codes] = -np.inf
    return np.asarray(others.max(axis=1) > high[rows, codes])


def _part(found: Scored, rows: Rows) -> Scored:
    return Scored(found.scores[rows], found.errors[rows], found.lengths[rows])
