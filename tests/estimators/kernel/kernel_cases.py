"""What the tests of kernel estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM

ALL = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]
TOY = np.array([[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]], dtype=float)
LABELS = np.array([1, 1, 1, 2, 2, 2])


def iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def noise(classes: int) -> tuple[Any, Any]:
    """Classes that nothing tells apart: many thousand steps at a large C."""
    return np.random.default_rng(0).normal(size=(200, 6)), np.arange(200) % classes


def fitted(kind: Any, X: Any, y: Any, **params: Any) -> Any:
    return kind(**params).fit(X) if kind is OneClassSVM else kind(**params).fit(X, y)
