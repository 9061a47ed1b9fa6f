"""Kernels as estimators' parameters name them."""

from __future__ import annotations

import numpy as np

from cutplane._types import Matrix, is_sparse
from cutplane.estimators.common import validation
from cutplane.kernels.functions import Kernel, KernelFunction
from cutplane.kernels.table import COMPUTED

KERNELS = (*COMPUTED, "precomputed")


def make_kernel(kernel: str | KernelFunction, gamma: str | float, degree: int, coef0: float, X: Matrix) -> Kernel:
    """The kernel of these parameters; `gamma` may be "scale" or "auto", which depend on X as in scikit-learn."""
    if callable(kernel):
        return Kernel("callable", function=kernel)
    name = validation.check_choice("kernel", kernel, KERNELS)
    return Kernel(name, gamma=_gamma_for(gamma, X, name), degree=degree, coef0=coef0)


def _gamma_for(gamma: str | float, X: Matrix, kernel: str) -> float:
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
        chosen = 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0
    if not np.isfinite(chosen) or not chosen > 0:
        raise ValueError(
            f"gamma='scale' is 1 / (n_features * X.var()), which is {chosen} here: values of X are too large or too "
            "small; scale them, or give gamma as a number."
        )
    return float(chosen)


def _variance(X: Matrix) -> float:
    if is_sparse(X):
        size = float(X.shape[0]) * float(X.shape[1])
        data = X.data.astype(np.float64, copy=False)
        return float(data @ data / size - (data.sum() / size) ** 2)
    return float(X.var(dtype=np.float64))
