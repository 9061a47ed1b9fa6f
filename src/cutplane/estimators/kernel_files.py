"""Fitted kernel machines as arrays for model files, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from cutplane.estimators.savable import Arrays, finite
from cutplane.kernels import Kernel

_SPARSE_PARTS = ("data", "indices", "indptr")


def kernel_machine_to_file(model: Any) -> tuple[Arrays, dict[str, Any]]:
    """Support vectors, coefficients and intercepts, and the kernel they belong to."""
    kernel = model._kernel
    if kernel.name == "callable":
        raise ValueError(
            f"kernel={kernel.function!r} is a function, which a model file cannot hold; models with a kernel that has "
            'a name, or with kernel="precomputed", can be saved.'
        )
    arrays: Arrays = {
        "dual_coef": np.ascontiguousarray(model._dual_coef),
        "intercept": np.asarray(model.intercept_),
        "support": np.asarray(model.support_),
        "n_support": np.asarray(model.n_support_),
    }
    vectors = model.support_vectors_
    if sp.issparse(vectors):
        arrays |= {f"support_vectors.{part}": np.ascontiguousarray(getattr(vectors, part)) for part in _SPARSE_PARTS}
    else:
        arrays["support_vectors"] = np.ascontiguousarray(vectors)
    described = {"name": kernel.name, "gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}
    return arrays, {
        "kernel": described,
        "sparse": bool(sp.issparse(vectors)),
        "shape_fit": [int(size) for size in model.shape_fit_],
        "fit_status": int(model.fit_status_),
        "n_iters": np.atleast_1d(model.n_iter_).tolist(),
    }


def kernel_machine_from_file(model: Any, arrays: Arrays, stored: dict[str, Any]) -> None:
    """Set the attributes that `kernel_machine_to_file` stored; `ValueError` if they do not fit together."""
    described = stored["kernel"]
    model._kernel = Kernel(**{name: described[name] for name in ("name", "gamma", "degree", "coef0")})
    if not model._kernel.computed and model._kernel.name != "precomputed":
        raise ValueError(f"kernel {model._kernel.name!r}")
    model._gamma = 0.0 if model._kernel.name == "precomputed" else model._kernel.gamma
    n, d = (int(size) for size in stored["shape_fit"])
    if d != model.n_features_in_:
        raise ValueError("the shape of the training examples does not fit the features")
    model.shape_fit_ = (n, d)
    model.fit_status_ = int(stored["fit_status"])
    support, n_support = arrays["support"], arrays["n_support"]
    if support.ndim != 1 or support.dtype.kind != "i" or np.any((support < 0) | (support >= n)):
        raise ValueError("support holds something other than positions of examples")
    if n_support.ndim != 1 or n_support.dtype.kind != "i" or n_support.sum() != len(support) or np.any(n_support < 0):
        raise ValueError("n_support does not count the support vectors")
    model.support_, model.n_support_ = support, n_support
    model.support_vectors_ = _vectors(model._kernel, arrays, stored, (len(support), d))
    dual_coef = finite(arrays, "dual_coef", (len(arrays["dual_coef"]), len(support)))
    model.dual_coef_ = sp.csr_array(dual_coef) if stored["sparse"] else dual_coef
    model.intercept_ = finite(arrays, "intercept", (np.size(model.gap_),))


def _vectors(kernel: Kernel, arrays: Arrays, stored: dict[str, Any], shape: tuple[int, int]) -> Any:
    if kernel.name == "precomputed":
        return np.empty((0, 0))
    if not stored["sparse"]:
        return finite(arrays, "support_vectors", shape)
    data, indices, indptr = (arrays[f"support_vectors.{part}"] for part in _SPARSE_PARTS)
    finite({"support_vectors.data": data}, "support_vectors.data", data.shape)
    vectors = sp.csr_array((data, indices, indptr), shape=shape, copy=False)
    vectors.check_format(full_check=True)
    return vectors
