"""Kernels as estimators' parameters name them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from cutplane.estimators.common import validation
from cutplane.kernels.functions import Kernel
from cutplane.kernels.table import COMPUTED

KERNELS = (*COMPUTED, "precomputed")


def make_kernel(kernel: str | Callable[..., Any], gamma: Any, degree: Any, coef0: Any, X: Any) -> Kernel:
    """The kernel of these parameters; `gamma` may be "scale" or "auto", which depend on X as in scikit-learn."""
    if callable(kernel):
        return Kernel("callable", function=kernel)
    name = validation.check_choice("kernel", kernel, KERNELS)
    return Kernel(name, gamma=_settled_gamma(gamma, X, name), degree=degree, coef0=coef0)


def _settled_gamma(gamma: Any, X: Any, kernel: str) -> float:
    """1 / (n_features · variance) for "scale", 1 / n_features for "auto", or the number itself."""
    if not isinstance(gamma, str):
        return validation.check_positive("gamma", gamma)
    if gamma not in ("scale", "auto"):
        raise ValueError(f"gamma={gamma!r} must be 'scale', 'auto' or a finite number greater than 0.")
    if kernel == "precomputed":
        return 1.0
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _variance(X)
        settled = 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0
    if not np.isfinite(settled) or not settled > 0:
        raise ValueError(
            f"gamma='scale' is 1 / (n_features * X.var()), which is {settled} here: values of X are too large or too "
            "small; scale them, or give gamma as a number."
        )
    return float(settled)


def _variance(X: Any) -> float:
    if not sp.issparse(X):
        return float(X.var(dtype=np.float64))
    size = float(X.shape[0]) * float(X.shape[1])
    data = X.data.astype(np.float64, copy=False)
    return float(data @ data / size - (data.sum() / size) ** 2)
