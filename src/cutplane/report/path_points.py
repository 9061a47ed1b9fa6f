"""A list of models over C as a few numbers each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from cutplane.report.trained import Examples, dense_weights


@dataclass(frozen=True, slots=True)
class PathPoint:
    """One model of a path."""

    C: float
    norm: float
    gap: float
    score: float | None


def path_points(models: Sequence[BaseEstimator], held_out: Examples | None = None) -> list[PathPoint]:
    """C, length of the weights, proven gap and held-out score of each model, by C."""
    if not models:
        raise ValueError("There is nothing to show: the path has no models.")
    points = []
    for model in models:
        weights = dense_weights(model)
        points.append(
            PathPoint(
                float(model.C),
                float("nan") if weights is None else float(np.linalg.norm(weights)),
                float(model.gap_),
                None if held_out is None else float(model.score(held_out.X, held_out.y)),
            )
        )
    return sorted(points, key=lambda point: point.C)
