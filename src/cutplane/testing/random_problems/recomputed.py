"""The objective of linear models, from their weights and the data alone, without rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight

from cutplane.testing.random_problems import losses
from cutplane.testing.random_problems.exact import LOGARITHM_ERROR, Exact
from cutplane.testing.random_problems.judge import Truth
from cutplane.testing.random_problems.problem import Problem

Array = NDArray[np.float64]


class Recomputed:
    """The objective of a problem of a linear estimator as a function of weights and intercepts.

    A subclass says what the risk of its estimator is.
    """

    #: Risks that grow with the square of the scores.
    squared = False

    def __init__(self, problem: Problem) -> None:
        self.settings = dict(problem.settings)
        self.floats = np.asarray(problem.data["X"], dtype=np.float64)
        self.X = Exact.of(self.floats)
        # Labels or targets; one-class problems have none, and ask for none.
        self.y = np.asarray(problem.data.get("y"))
        self.queries = problem.data.get("qid")
        own = problem.data.get("sample_weight")
        self.weights: Array = np.ones(len(self.floats)) if own is None else np.asarray(own, dtype=np.float64)
        self._weigh_classes(own)
        self.exact_weights = Exact.of(self.weights)

    def _weigh_classes(self, own: ArrayLike | None) -> None:
        """The weights of examples are the floats w·factor, which are part of the problem's data."""
        chosen = self.settings.get("class_weight")
        if chosen is not None and self.weights.any():
            counted = self.weights > 0.0
            classes = np.unique(self.y[counted])
            part = None if own is None else self.weights[counted]
            factors = compute_class_weight(chosen, classes=classes, y=self.y[counted], sample_weight=part)
            self.weights[counted] *= factors[np.searchsorted(classes, self.y[counted])]

    def _leave_out_classes(self) -> None:
        """Classes without weight are left out: their examples, which weigh nothing, may be of any other."""
        if any(self.settings.get(name) is not None for name in ("prior", "cost_matrix", "class_features")):
            return
        kept = np.unique(self.y[self.weights > 0.0])
        if len(kept) > 1:
            self.y = np.where(np.isin(self.y, kept), self.y, kept[0])

    @property
    def scaling(self) -> float | None:
        """The size of the constant feature whose weight the intercept is; None: the intercept is free."""
        return self.settings.get("intercept_scaling") if self.settings.get("fit_intercept", True) else None

    def rows(self) -> int:
        """The problems that are solved."""
        return 1

    def bounded(self) -> NDArray[np.bool_]:
        """The features whose weights must not be negative."""
        chosen, d = self.settings.get("nonnegative"), self.floats.shape[1]
        if chosen is None or chosen is False:
            return np.zeros(d, dtype=bool)
        mask = np.zeros(d, dtype=bool)
        mask[slice(None) if chosen is True else chosen] = True
        return mask

    def within(self, coef: Array) -> bool:
        """Whether the weights are within their bounds, exactly."""
        return bool((np.atleast_2d(coef)[:, self.bounded()] >= 0.0).all())

    def truths(self, coef: Array, intercept: Array) -> list[Truth]:
        """The true objective of each problem."""
        coef, intercept = np.atleast_2d(coef), np.atleast_1d(intercept)
        prior = self.settings.get("prior")
        origin = np.zeros_like(coef) if prior is None else np.broadcast_to(np.asarray(prior, float), coef.shape)
        return [self._truth(k, coef[k], origin[k], float(intercept[k])) for k in range(self.rows())]

    def _truth(self, k: int, w: Array, origin: Array, b: float) -> Truth:
        moved = Exact.of(w) - Exact.of(origin)
        regulariser = (moved * moved).total() / 2
        if self.scaling is not None:
            regulariser += Fraction(b) / Fraction(self.scaling) * (Fraction(b) / Fraction(self.scaling)) / 2
        scored_with = b if self.scaling is not None or self.trains_intercept() else 0.0
        scores = self.X @ Exact.of(w) + Exact.of(scored_with)
        risk = self.risk(k, scores, b)
        error = abs(risk) * LOGARITHM_ERROR if self.settings.get("loss") == "logistic" else Fraction(0)
        return Truth(regulariser, risk, error, self._size(w, b))

    def _size(self, w: Array, b: float) -> float:
        """How large the terms of the risk are."""
        sizes = 1.0 + abs(b) + np.abs(self.floats) @ np.abs(w)
        if self.y.dtype.kind == "f":
            sizes = sizes + np.abs(self.y)
        return float(self.weights @ (sizes**2 if self.squared else sizes))

    def trains_intercept(self) -> bool:
        """Whether there is a free intercept in the objective."""
        return bool(self.settings.get("fit_intercept", True))

    def risk(self, k: int, scores: Exact, b: float) -> Fraction:
        """What C is multiplied by."""
        raise NotImplementedError


class Classification(Recomputed):
    """`LinearSVC`, two classes or each against the rest."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.loss = self.settings.get("loss", "hinge")
        self.squared = self.loss == "squared_hinge"
        self._leave_out_classes()
        self.classes = np.unique(self.y)

    def rows(self) -> int:
        """One for each class, if there are more than two."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def trains_intercept(self) -> bool:
        """With some losses it is a threshold, put afterwards."""
        return super().trains_intercept() and self.loss not in losses.WITHOUT_INTERCEPT

    def signs(self, k: int) -> losses.Ints:
        """+1 for the class of a problem, -1 for the others."""
        positive = self.classes[1 if self.rows() == 1 else k]
        return np.where(self.y == positive, 1, -1)

    def risk(self, k: int, scores: Exact, b: float) -> Fraction:
        """By the name of the loss."""
        options = self.settings.get("loss_options") or {}
        return losses.BINARY[self.loss](self.signs(k), scores, self.exact_weights, **options)


class JointClassification(Recomputed):
    """`LinearSVC` with all classes in one problem; of two classes `coef_` is the difference."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._leave_out_classes()
        self.classes, codes = np.unique(self.y, return_inverse=True)
        self.codes = codes.astype(np.int64)
        count = len(self.classes)
        given = self.settings.get("cost_matrix")
        self.cost = 1.0 - np.eye(count) if given is None else np.asarray(given, dtype=np.float64)

    def truths(self, coef: Array, intercept: Array) -> list[Truth]:
        """One, of all rows together."""
        prior = self.settings.get("prior")
        rows, b = np.atleast_2d(coef), np.atleast_1d(intercept)
        moved = Exact.of(rows) - Exact.of(np.zeros_like(rows) if prior is None else np.atleast_2d(prior))
        regulariser = (moved * moved).total() / 2
        if self.scaling is not None:
            penalised = Exact.of(b)
            regulariser += (penalised * penalised).total() / Fraction(self.scaling) / Fraction(self.scaling) / 2
        by_class, constants = Exact.of(rows), Exact.of(b)
        if len(self.classes) == 2:
            # Half of the difference on either side, which is the shortest way to have it.
            regulariser /= 2
            zero = Exact.of(np.zeros_like(rows))
            by_class = Exact(np.vstack([zero.numerators, by_class.numerators]), by_class.exponent)
            constants = Exact(np.concatenate([[0], constants.numerators]), constants.exponent)
        transposed = Exact(by_class.numerators.T, by_class.exponent)
        scores = self.X @ transposed + constants
        options = {"rescaling": self.settings.get("rescaling", "margin")}
        risk = losses.crammer_singer(self.codes, scores, self.exact_weights, self.cost, **options)
        size = sum(self._size(w, float(c)) for w, c in zip(rows, b, strict=True)) * float(1.0 + self.cost.max())
        return [Truth(regulariser, risk, size=size)]


class Regression(Recomputed):
    """`LinearSVR`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.loss = self.settings.get("loss", "epsilon_insensitive")
        self.squared = self.loss in ("squared_epsilon_insensitive", "huber")
        self.targets = Exact.of(np.asarray(self.y, dtype=np.float64))

    def risk(self, k: int, scores: Exact, b: float) -> Fraction:
        """By the name of the loss."""
        options = dict(self.settings.get("loss_options") or {})
        if self.settings.get("epsilon"):
            options["epsilon"] = self.settings["epsilon"]
        return losses.REGRESSION[self.loss](self.targets, scores, self.exact_weights, **options)


class OneClass(Recomputed):
    """`LinearOneClassSVM`: rho, minus the intercept, is part of the model, and C is 1."""

    def trains_intercept(self) -> bool:
        """Scores have none."""
        return False

    def risk(self, k: int, scores: Exact, b: float) -> Fraction:
        """At the rho of the model."""
        return losses.one_class(scores, self.exact_weights, self.settings.get("nu", 0.5), -b)

    def _size(self, w: Array, b: float) -> float:
        # Weights are over their sum, and rounding counts from the objective at zero.
        sizes = abs(b) + np.abs(self.floats) @ np.abs(w)
        return float((self.weights / self.weights.sum()) @ sizes) / float(self.settings.get("nu", 0.5)) + abs(b)


class Ranking(Recomputed):
    """`RankSVM`."""

    def _size(self, w: Array, b: float) -> float:
        """Weights of pairs are divided by their sum: no term is larger than the largest."""
        return float((1.0 + np.abs(self.floats) @ np.abs(w)).max())

    def trains_intercept(self) -> bool:
        """Scores are only compared."""
        return False

    def risk(self, k: int, scores: Exact, b: float) -> Fraction:
        """Over the pairs of each query."""
        ranks = np.unique(self.y, return_inverse=True)[1]
        queries = np.zeros(len(ranks), dtype=np.int64) if self.queries is None else np.asarray(self.queries)
        weighting = self.settings.get("weighting", "queries")
        return losses.ranking(ranks, scores, self.exact_weights, queries, weighting)


class Ordinal(Recomputed):
    """`OrdinalSVC`."""

    def trains_intercept(self) -> bool:
        """Thresholds are put afterwards."""
        return False

    def risk(self, k: int, scores: Exact, b: float) -> Fraction:
        """Over the pairs of different classes."""
        ranks = np.unique(self.y, return_inverse=True)[1]
        return losses.ordinal(ranks, scores, self.exact_weights)


_LINEAR: Mapping[str, Callable[[Problem], Recomputed]] = {
    "LinearSVC": Classification,
    "LinearSVR": Regression,
    "LinearOneClassSVM": OneClass,
    "RankSVM": Ranking,
    "OrdinalSVC": Ordinal,
}


def recomputed(problem: Problem) -> Recomputed:
    """The objective of a problem of a linear estimator."""
    if problem.settings.get("multi_class") == "crammer_singer":
        return JointClassification(problem)
    return _LINEAR[problem.estimator](problem)
