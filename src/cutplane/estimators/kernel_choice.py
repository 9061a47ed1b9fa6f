"""Kernels as estimators' parameters name them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from cutplane.estimators import validation
from cutplane.kernels.functions import COMPUTED, Kernel


def make_kernel(kernel: str | Callable[..., Any], gamma: Any, degree: Any, coef0: Any, X: Any) -> Kernel:
    """The kernel of these parameters; `gamma` may be "scale" or "auto", which depend on X as in scikit-learn."""
    if callable(kernel):
        return Kernel("callable", function=kernel)
    validation.check_choice("kernel", kernel, (*COMPUTED, "precomputed"))
    return Kernel(kernel, gamma=settled_gamma(gamma, X), degree=degree, coef0=coef0)


def settled_gamma(gamma: Any, X: Any) -> float:
    """1 / (n_features · variance) for "scale", 1 / n_features for "auto", or the number itself."""
    if not isinstance(gamma, str):
        return validation.check_positive("gamma", gamma)
    if gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma != "scale":
        raise ValueError(f"gamma={gamma!r} must be 'scale', 'auto' or a finite number greater than 0.")
    if sp.issparse(X):
        mean = X.mean()
        variance = float(X.multiply(X).mean() - mean * mean)
    else:
        variance = float(np.var(X, dtype=np.float64))
    return 1.0 / (float(X.shape[1]) * variance) if variance > 0.0 else 1.0
