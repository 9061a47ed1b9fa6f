"""Random problems of the linear estimators, and what their models claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._types import Array, Integers, Params
from cutplane.risks import registry
from cutplane.testing.random_problems import draws, losses
from cutplane.testing.random_problems.draws import Generator, often, one_of
from cutplane.testing.random_problems.judge import Claim
from cutplane.testing.random_problems.problem import Problem
from cutplane.testing.random_problems.recomputed import Recomputed, recomputed

# More examples than this make contingency tables and pairs too many to go through.
_FEW = {"f1": 120, "roc_area": 300}
# Convex programs of this many examples take a general solver some milliseconds.
_SMALL = 60
# No sums over examples: free intercepts have no bounds there, and scores none with them.
_NOTHING_OF_INTERCEPTS = (*losses.OF_TWO_CLASSES, "error_cost")
# As LinearOneClassSVM has it: where the objective ends at zero, this much of the largest squared length is close.
_NOTHING = 1e-6


def _intercept(rng: Generator) -> Params:
    choice = rng.random()
    if choice < 0.6:
        return {}
    return {"fit_intercept": False} if choice < 0.8 else {"intercept_scaling": one_of(rng, (1.0, 0.5, 3.0, 100.0))}


def _prior(rng: Generator, X: Array, rows: int | None) -> Params:
    """Weights to stay close to: of scores that are near one, mostly."""
    if often(rng, 0.75):
        return {}
    size = max(float(np.abs(X).max()), 1e-300)
    unit = 1.0 if often(rng, 0.2) else float(f"{1.0 / size:.0e}")
    d = X.shape[1]
    return {"prior": (rng.normal(size=d if rows is None else (rows, d)).round(1) + 0.0) * unit}


def _bounds(rng: Generator, d: int) -> Params:
    if often(rng, 0.75):
        return {}
    return {"nonnegative": True if often(rng, 0.6) else [int(rng.integers(d))]}


def _methods(settings: Params, *, kinks: bool = True) -> tuple[str, ...]:
    """Those that take the problem: Newton's has no bounds, and rounds no losses of whole samples."""
    return draws.METHODS if kinks and "nonnegative" not in settings else ("auto", "oca", "cpa")


def _labels(rng: Generator, X: Array, count: int) -> Integers:
    """Classes that a line tells apart, more or less; each occurs."""
    n = len(X)
    direction = X @ rng.normal(size=X.shape[1])
    noise = rng.normal(size=n) * (np.std(direction) + 1e-300) * one_of(rng, (0.0, 0.5, 3.0))
    codes = np.argsort(np.argsort(direction + noise)) * count // n
    if often(rng, 0.3):
        codes = rng.integers(count, size=n)
    codes[rng.permutation(n)[:count]] = np.arange(count)
    return codes.astype(np.int64)


def classification(rng: Generator) -> Problem:
    """`LinearSVC` with a loss of two classes, or each against the rest."""
    loss = one_of(rng, (*registry.BINARY, "hinge", "hinge"))
    n = draws.size(rng, _FEW.get(loss, 2000))
    X, single = draws.rounded_to_single(rng, draws.examples(rng, n, draws.scale(rng)))
    several = loss not in losses.OF_TWO_CLASSES and n >= 4 and often(rng, 0.25)
    count = int(rng.integers(3, 5)) if several else 2
    C = draws.strength(rng)
    settings: Params = {"C": C, "loss": loss, **_intercept(rng), **_bounds(rng, X.shape[1])}
    settings |= _prior(rng, X, None if count == 2 else count)
    weighs = loss not in losses.WITHOUT_WEIGHTS
    if weighs and often(rng, 0.15):
        settings["class_weight"] = "balanced" if often(rng, 0.5) else {0: 2.0, 1: 0.3}
    if loss == "prec@k" and often(rng, 0.5):
        settings["loss_options"] = {"k": int(rng.integers(1, n + 1))}
    data = {"X": X, "y": _labels(rng, X, count), "sample_weight": draws.weights(rng, n) if weighs else None}
    kinks = loss in ("hinge", "squared_hinge", "logistic", "roc_area")
    ways = draws.linear_ways(rng, C, single, _methods(settings, kinks=kinks), path=True)
    return Problem("LinearSVC", settings, data, ways, loss=loss, small=n <= _SMALL)


def many_classes(rng: Generator) -> Problem:
    """`LinearSVC`, each of 3 to 50 classes against the rest, by the losses that a GPU trains together."""
    loss = one_of(rng, ("hinge", "hinge", "squared_hinge", "logistic"))
    n = draws.size(rng, 600) + 6
    X, single = draws.rounded_to_single(rng, draws.examples(rng, n, draws.scale(rng)))
    count = int(rng.integers(3, min(n // 2, 50) + 1))
    C = draws.strength(rng)
    settings: Params = {"C": C, "loss": loss, **_intercept(rng)}
    if often(rng, 0.15):
        settings["class_weight"] = "balanced"
    data = {"X": X, "y": _labels(rng, X, count), "sample_weight": draws.weights(rng, n)}
    ways = draws.linear_ways(rng, C, single, ("auto", "auto", "newton"))
    return Problem("LinearSVC", settings, data, ways, loss=loss, small=n <= _SMALL)


def joint_classification(rng: Generator) -> Problem:
    """`LinearSVC` with all classes in one problem."""
    n = draws.size(rng)
    X, single = draws.rounded_to_single(rng, draws.examples(rng, n, draws.scale(rng)))
    count = int(rng.integers(2, min(n, 5) + 1)) if n > 2 else 2
    C = draws.strength(rng)
    settings: Params = {"C": C, "multi_class": "crammer_singer", **_intercept(rng)}
    settings |= _prior(rng, X, None if count == 2 else count)
    if count > 2:
        settings |= _bounds(rng, X.shape[1])
    if often(rng, 0.4):
        cost = rng.choice([0.5, 1.0, 2.0, 5.0], size=(count, count))
        settings["cost_matrix"] = cost * (1.0 - np.eye(count))
    if often(rng, 0.4):
        settings["rescaling"] = "slack"
    if often(rng, 0.15):
        settings["class_weight"] = "balanced"
    data = {"X": X, "y": _labels(rng, X, count), "sample_weight": draws.weights(rng, n)}
    ways = draws.linear_ways(rng, C, single, _methods(settings), path=True)
    return Problem("LinearSVC", settings, data, ways, loss="crammer_singer", small=n <= _SMALL)


def regression(rng: Generator) -> Problem:
    """`LinearSVR`."""
    loss = one_of(rng, tuple(registry.REGRESSION))
    n = draws.size(rng)
    X, single = draws.rounded_to_single(rng, draws.examples(rng, n, draws.scale(rng)))
    unit = draws.scale(rng)
    size = max(float(np.abs(X).max()), 1e-300)
    line = X @ rng.normal(size=X.shape[1]) / size
    y = (line + rng.normal(size=n) * one_of(rng, (0.1, 1.0)) + one_of(rng, (0.0, 5.0))).round(1) * unit + 0.0
    C = draws.strength(rng)
    settings: Params = {"C": C, "loss": loss, **_intercept(rng), **_bounds(rng, X.shape[1])}
    settings |= _prior(rng, X, None)
    if "epsilon" in loss and often(rng, 0.5):
        settings["epsilon"] = one_of(rng, (0.1, 0.5, 2.0)) * unit
    if loss == "huber" and often(rng, 0.6):
        settings["loss_options"] = {"delta": one_of(rng, (0.1, 1.35, 5.0)) * unit}
    if loss == "quantile" and often(rng, 0.6):
        settings["loss_options"] = {"quantile": one_of(rng, (0.1, 0.5, 0.9))}
    data = {"X": X, "y": y, "sample_weight": draws.weights(rng, n)}
    ways = draws.linear_ways(rng, C, single, _methods(settings), path=True)
    return Problem("LinearSVR", settings, data, ways, loss=loss, small=n <= _SMALL)


def one_class(rng: Generator) -> Problem:
    """`LinearOneClassSVM`."""
    n = draws.size(rng)
    X, single = draws.rounded_to_single(rng, draws.examples(rng, n, draws.scale(rng)))
    settings = {"nu": one_of(rng, (0.05, 0.1, 0.3, 0.5, 0.9, 1.0))}
    data = {"X": X, "sample_weight": draws.weights(rng, n)}
    ways = draws.linear_ways(rng, None, single, ("auto", "oca", "cpa"))
    return Problem("LinearOneClassSVM", settings, data, ways, loss="one_class", small=n <= _SMALL)


def ranking(rng: Generator) -> Problem:
    """`RankSVM`, in one query or several."""
    n = draws.size(rng, 300)
    X, single = draws.rounded_to_single(rng, draws.examples(rng, n, draws.scale(rng)))
    C = draws.strength(rng)
    settings: Params = {"C": C}
    if often(rng, 0.4):
        settings["weighting"] = "pairs"
    queries = rng.integers(int(rng.integers(1, 4)), size=n) if often(rng, 0.5) else None
    y = _labels(rng, X, int(rng.integers(2, 5)) if n >= 4 else 2)
    data = {"X": X, "y": y, "qid": queries, "sample_weight": draws.weights(rng, n)}
    ways = draws.linear_ways(rng, C, single)
    return Problem("RankSVM", settings, data, ways, loss="pairs", small=n <= 20)


def ordinal(rng: Generator) -> Problem:
    """`OrdinalSVC`."""
    n = draws.size(rng, 300)
    X, single = draws.rounded_to_single(rng, draws.examples(rng, n, draws.scale(rng)))
    C = draws.strength(rng)
    y = _labels(rng, X, int(rng.integers(2, 5)) if n >= 4 else 2)
    data = {"X": X, "y": y, "sample_weight": draws.weights(rng, n)}
    return Problem("OrdinalSVC", {"C": C}, data, draws.linear_ways(rng, C, single), loss="pairs", small=n <= 20)


LINEAR: Mapping[str, Callable[[Generator], Problem]] = {
    "LinearSVC": classification,
    "LinearSVC-many": many_classes,
    "LinearSVC-joint": joint_classification,
    "LinearSVR": regression,
    "LinearOneClassSVM": one_class,
    "RankSVM": ranking,
    "OrdinalSVC": ordinal,
}


class LinearJudge:
    """Reads the claims of the models of one linear problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.true: Recomputed = recomputed(problem)
        self.square = float((self.true.floats**2).sum(axis=1).max())

    def claims(self, index: int, place: int, model: BaseEstimator) -> list[Claim]:
        """Of one model, for each of its problems."""
        coef = np.atleast_2d(model.coef_)
        intercept = np.atleast_1d(getattr(model, "intercept_", np.zeros(len(coef))))
        finite = np.isfinite(coef).all() and np.isfinite(intercept).all()
        truths = self.true.truths(coef, intercept) if finite else [None] * len(model.certificates_)
        scores = self._scores(model) if finite else None
        return [
            Claim(
                way=index,
                place=place,
                part=k,
                C=float(getattr(model, "C", 1.0)),
                objective=each.objective,
                lower_bound=each.lower_bound,
                gap=each.gap,
                history=[(step.upper, step.lower) for step in each.history],
                stop_reason=each.stop_reason,
                allowed=self._allowed(model, each.objective),
                truth=truths[k],
                scores=None if scores is None else (scores[0][:, k], scores[1][:, k]),
                within=self.true.within(coef),
            )
            for k, each in enumerate(model.certificates_)
        ]

    def _scores(self, model: BaseEstimator) -> tuple[Array, Array] | None:
        """Between what the optimum's scores lie, a column for each problem; None where that is not said."""
        data = self.problem.data
        if not hasattr(model, "decision_bounds"):
            return None
        free = model.fit_intercept and model.intercept_scaling is None
        if free and model.loss in _NOTHING_OF_INTERCEPTS:
            return None
        if free:
            model.certify_intercept(data["X"], data["y"], data.get("sample_weight"))
        low, high = model.decision_bounds(data["X"])
        # Scores of all classes are of one problem where it is joint.
        shape = (-1, len(model.certificates_)) if len(model.certificates_) > 1 else (-1, 1)
        return low.reshape(shape), high.reshape(shape)

    def _allowed(self, model: BaseEstimator, upper: float) -> float:
        """The difference of the bounds at which the run was to stop."""
        nothing = _NOTHING * model.tol * self.square if self.problem.estimator == "LinearOneClassSVM" else 0.0
        return float(max(model.tol * abs(upper), model.absolute_tol, nothing))
