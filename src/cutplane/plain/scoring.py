"""How well a plain model predicts: the same numbers as its estimator's `score`, with NumPy alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cutplane.plain.decisions import Inside, Value

if TYPE_CHECKING:
    from cutplane._types import Array, Labels
    from cutplane.plain.form import PlainForm


def scorer_of(form: PlainForm, predict: Callable[[Any], Labels]) -> Callable[..., float] | None:
    """The `score` of a model; None where its estimator has none, as machines of one class."""
    if isinstance(form.decision, Inside):
        return None
    if not isinstance(form.decision, Value):
        return _Scorer(predict, _share_right)
    return _RankingScorer(predict) if form.objective == "pairs" else _Scorer(predict, _variance_explained)


class _Scorer:
    def __init__(self, predict: Callable[[Any], Labels], measure: Callable[[Any, Any, Array], float]) -> None:
        self._predict, self._measure = predict, measure

    def __call__(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of labels that are predicted right; of a regression R², the share of the variance explained."""
        predicted, truth = self._predict(X), np.asarray(y)
        if truth.shape != predicted.shape:
            raise ValueError(f"y has the shape {truth.shape}; one of {predicted.shape} goes with X.")
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        if weights.shape != truth.shape:
            raise ValueError(f"sample_weight has the shape {weights.shape}; one of {truth.shape} goes with y.")
        return self._measure(truth, predicted, weights)


class _RankingScorer:
    def __init__(self, predict: Callable[[Any], Labels]) -> None:
        self._predict = predict

    def __call__(self, X: Any, y: Any, qid: Any = None) -> float:
        """The share of pairs in the right order, averaged over the queries; this loads the compiled core."""
        from cutplane.metrics import pair_accuracy

        return pair_accuracy(y, self._predict(X), qid=qid)


def _share_right(truth: Labels, predicted: Labels, weights: Array) -> float:
    return float(np.average(truth == predicted, weights=weights))


def _variance_explained(truth: Array, predicted: Array, weights: Array) -> float:
    """R², as scikit-learn has it where the truth does not vary; not a number for less than two examples."""
    if len(truth) < 2:
        return math.nan
    truth = truth.astype(np.float64)
    left = float(weights @ np.square(truth - predicted))
    total = float(weights @ np.square(truth - np.average(truth, weights=weights)))
    if total == 0.0:
        return 1.0 if left == 0.0 else 0.0
    return 1.0 - left / total
