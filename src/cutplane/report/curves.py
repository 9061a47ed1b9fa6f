"""ROC and precision-recall curves, thinned to what a chart can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from cutplane._types import Array

_POINTS = 200


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a curve and the area under it."""

    x: list[float]
    y: list[float]
    area: float


def roc(positive: NDArray[np.bool_], scores: Array) -> Curve:
    """True against false positives."""
    false, true, _ = roc_curve(positive, scores)
    return Curve(*_thin(false, true), float(roc_auc_score(positive, scores)))


def precision_recall(positive: NDArray[np.bool_], scores: Array) -> Curve:
    """Precision against recall; the area is the average precision."""
    precision, recall, _ = precision_recall_curve(positive, scores)
    return Curve(*_thin(recall[::-1], precision[::-1]), float(average_precision_score(positive, scores)))


def _thin(x: Array, y: Array) -> tuple[list[float], list[float]]:
    if len(x) > _POINTS:
        # Even steps along the curve, not along one axis: both ends of a good curve are steep.
        length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
        kept = np.unique(np.searchsorted(length, np.linspace(0.0, length[-1], _POINTS)).clip(0, len(x) - 1))
        x, y = x[kept], y[kept]
    return x.tolist(), y.tolist()
