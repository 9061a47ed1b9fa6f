"""Random problems of structured models, so small that every labelling can be tried, and what their models claim.

Features are quarters: sums of them are exact in double precision, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._types import Array, Params
from cutplane.testing.random_problems import draws
from cutplane.testing.random_problems.draws import Generator, often, one_of
from cutplane.testing.random_problems.judge import Claim, Truth
from cutplane.testing.random_problems.problem import Problem, Source, Way

_PRELUDE = """\
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import HierarchyModel, MulticlassModel
from cutplane.structured.matching import MatchingModel
from cutplane.structured.multilabel import MultilabelModel
"""
_PARENTS = {"cat": "mammal", "dog": "mammal", "mammal": "animal", "fish": "animal"}


X = TypeVar("X")
Y = TypeVar("Y")
Row = Sequence[float]


class Kind(NamedTuple, Generic[X, Y]):
    """A structured model written down once more: labellings, the score of each, and the loss."""

    labellings: Callable[[X], Iterable[Y]]
    score: Callable[[Row, X, Y], Fraction]
    loss: Callable[[Y, Y], Fraction]


def _dot(w: Row, x: Row) -> Fraction:
    return sum((Fraction(a) * Fraction(b) for a, b in zip(w, x, strict=True)), Fraction(0))


def _differences(y: Sequence[int], other: Sequence[int]) -> Fraction:
    return Fraction(sum(a != b for a, b in zip(y, other, strict=True)))


def _classes(count: int, d: int) -> Kind[Row, int]:
    def score(w: Row, x: Row, y: int) -> Fraction:
        return _dot(w[y * d : (y + 1) * d], x)

    return Kind(lambda x: range(count), score, lambda y, other: Fraction(int(y != other)))


def _hierarchy(d: int) -> Kind[Row, str]:
    nodes = list(_PARENTS)
    paths = {"cat": ["cat", "mammal"], "dog": ["dog", "mammal"], "fish": ["fish"]}

    def score(w: Row, x: Row, y: str) -> Fraction:
        places = [nodes.index(node) for node in paths[y]]
        return sum((_dot(w[p * d : (p + 1) * d], x) for p in places), Fraction(0))

    def loss(y: str, other: str) -> Fraction:
        common = len(set(paths[y]) & set(paths[other]))
        return Fraction(len(paths[y]) + len(paths[other]) - 2 * common, 2)

    return Kind(lambda x: paths, score, loss)


def _multilabel(count: int, d: int) -> Kind[Row, tuple[int, ...]]:
    def score(w: Row, x: Row, y: tuple[int, ...]) -> Fraction:
        return sum((_dot(w[k * d : (k + 1) * d], x) for k in range(count) if y[k]), Fraction(0))

    return Kind(lambda x: product((0, 1), repeat=count), score, _differences)


def _chain(count: int, d: int) -> Kind[Sequence[Row], tuple[int, ...]]:
    def score(w: Row, x: Sequence[Row], y: tuple[int, ...]) -> Fraction:
        tokens = sum((_dot(w[y[t] : d * count : count], x[t]) for t in range(len(y))), Fraction(0))
        steps = (Fraction(w[(d + a) * count + b]) for a, b in pairwise(y))
        return tokens + sum(steps, Fraction(0))

    return Kind(lambda x: product(range(count), repeat=len(x)), score, _differences)


def _matching() -> Kind[Sequence[Sequence[Row]], tuple[int, ...]]:
    def score(w: Row, x: Sequence[Sequence[Row]], y: tuple[int, ...]) -> Fraction:
        return sum((_dot(w, x[i][place]) for i, place in enumerate(y)), Fraction(0))

    return Kind(lambda x: permutations(range(len(x[0])), len(x)), score, _differences)


def _quarters(rng: Generator, *shape: int) -> Array:
    return rng.integers(-8, 9, size=shape) / 4.0


def _ways(rng: Generator, methods: tuple[str, ...]) -> tuple[Way, ...]:
    ways = [Way({"max_iter": 1000})]
    for _ in range(int(rng.integers(1, 4))):
        settings: Params = {"tol": draws.power(rng, -7, -2), "method": one_of(rng, methods)}
        if settings["method"] == "oca":
            settings["line_search"] = one_of(rng, ("three-point", "exact", "adaptive"))
        settings["max_iter"] = one_of(rng, (1, 2, 5, 30, 300))
        ways.append(Way(settings))
    return tuple(ways)


def _weights(rng: Generator, n: int) -> Array | None:
    """Of examples; the first, which has all labels, counts always."""
    found = draws.weights(rng, n)
    if found is not None:
        found[0] = max(found[0], 0.5)
    return found


_METHODS = ("auto", "one-slack", "oca", "frank-wolfe")


def structural(rng: Generator) -> Problem:
    """`StructuralSVM` with one of the models that come with the library."""
    kind = one_of(rng, ("multiclass", "hierarchy", "multilabel", "chain", "matching"))
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    settings: Params = {"C": draws.strength(rng)}
    X: Array | list[Array] = _quarters(rng, n, d)
    if kind == "multiclass":
        count = int(rng.integers(2, 5))
        settings["model"], y = Source(f"MulticlassModel({list(range(count))})"), rng.integers(count, size=n).tolist()
    elif kind == "hierarchy":
        settings["model"] = Source(f"HierarchyModel({_PARENTS!r})")
        y = [one_of(rng, ("cat", "dog", "fish")) for _ in range(n)]
    elif kind == "multilabel":
        settings["model"], y = Source("MultilabelModel(2)"), rng.integers(2, size=(n, 2))
    elif kind == "chain":
        lengths = rng.integers(1, 5, size=n).tolist()
        X, y = [_quarters(rng, m, d) for m in lengths], [rng.integers(2, size=m) for m in lengths]
        settings["model"] = Source(f"ChainModel(2, {d})")
    else:
        X = [_quarters(rng, 3, 3, d) for _ in range(n)]
        y = [rng.permutation(3).tolist() for _ in range(n)]
        settings["model"] = Source("MatchingModel()")
    if kind not in ("matching", "multilabel") and often(rng, 0.3):
        settings["rescaling"] = "slack"
    data = {"X": X, "y": y, "sample_weight": _weights(rng, n)}
    return Problem("StructuralSVM", settings, data, _ways(rng, _METHODS), prelude=_PRELUDE, loss=kind)


def sequences(rng: Generator) -> Problem:
    """`SequenceSVM`, its tokens as rows of numbers."""
    n, d, count = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    lengths = rng.integers(1, 5, size=n).tolist()
    X, y = [_quarters(rng, m, d) for m in lengths], [rng.integers(count, size=m) for m in lengths]
    y[0], X[0] = np.arange(count), _quarters(rng, count, d)
    data = {"X": X, "y": y, "sample_weight": _weights(rng, n)}
    return Problem("SequenceSVM", {"C": draws.strength(rng)}, data, _ways(rng, _METHODS), loss="chain")


STRUCTURED: Mapping[str, Callable[[Generator], Problem]] = {"StructuralSVM": structural, "SequenceSVM": sequences}


class StructuredJudge:
    """Reads the claims of the models of one structured problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        first = np.asarray(problem.data["X"][0])
        d = int(first.shape[-1])
        made = str(problem.settings.get("model", ""))
        kinds: dict[str, Callable[[], Kind[Any, Any]]] = {
            "multiclass": lambda: _classes(made.count(",") + 1, d),
            "hierarchy": lambda: _hierarchy(d),
            "multilabel": lambda: _multilabel(2, d),
            "chain": lambda: _chain(self._labels(), d),
            "matching": _matching,
        }
        self.kind = kinds[problem.loss]()

    def _labels(self) -> int:
        return 2 if self.problem.estimator == "StructuralSVM" else int(max(max(y) for y in self.problem.data["y"])) + 1

    def claims(self, index: int, place: int, model: BaseEstimator) -> list[Claim]:
        """Of one model."""
        w = model.coef_ if self.problem.estimator == "StructuralSVM" else np.vstack([model.coef_, model.transitions_])
        truth = self.truth(np.ravel(w).tolist()) if np.isfinite(w).all() else None
        upper, lower = model.objective_, model.lower_bound_
        history = [(step.upper, step.lower) for step in model.history_]
        C, allowed, reason = float(model.C), float(model.tol) * abs(upper), model.stop_reason_
        return [Claim(index, place, 0, C, upper, lower, model.gap_, history, reason, allowed, truth)]

    def truth(self, w: list[float]) -> Truth:
        """The objective of some weights: every labelling of every example is tried."""
        slack = self.problem.settings.get("rescaling") == "slack"
        risk, data = Fraction(0), self.problem.data
        given = data.get("sample_weight")
        weights = [1.0] * len(data["X"]) if given is None else np.asarray(given).tolist()
        for x, y, weight in zip(data["X"], data["y"], weights, strict=True):
            rows, label = np.asarray(x).tolist(), y.tolist() if hasattr(y, "tolist") else y
            right = self.kind.score(w, rows, label)
            worst = Fraction(0)
            for other in self.kind.labellings(rows):
                loss, rise = self.kind.loss(label, other), self.kind.score(w, rows, other) - right
                worst = max(worst, loss * (1 + rise) if slack else loss + rise)
            risk += Fraction(weight) * worst
        size = 1.0 + float(np.abs(w).sum()) * 100.0
        return Truth(_dot(w, w) / 2, risk, size=size)
