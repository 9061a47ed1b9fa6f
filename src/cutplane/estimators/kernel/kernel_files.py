"""Fitted kernel machines as arrays for model files, and back."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane._types import Array, Arrays, Document, Matrix, is_sparse
from cutplane.estimators.common.stored import finite
from cutplane.kernels import Kernel

_SPARSE_PARTS = ("data", "indices", "indptr")


class FittedMachine(Protocol):
    """What a file keeps of a kernel machine: fitted attributes, as `KernelMachine` has them."""

    _kernel: Kernel
    _gamma: float
    _dual_coef: Array
    dual_coef_: Array | sp.csr_array
    intercept_: Array
    support_: NDArray[np.int32]
    n_support_: NDArray[np.int32]
    support_vectors_: Matrix
    shape_fit_: tuple[int, ...]
    fit_status_: int
    certificate_of_: str
    n_features_in_: int


def kernel_machine_to_file(model: FittedMachine) -> tuple[Arrays, Document]:
    """Support vectors, coefficients and intercepts, and the kernel they belong to."""
    described = kernel_to_file(model._kernel)
    arrays: Arrays = {
        "dual_coef": np.ascontiguousarray(model._dual_coef),
        "intercept": np.asarray(model.intercept_),
        "support": np.asarray(model.support_),
        "n_support": np.asarray(model.n_support_),
    }
    return arrays | vectors_to_file(model.support_vectors_), {
        "kernel": described,
        "sparse": bool(is_sparse(model.support_vectors_)),
        "shape_fit": [int(size) for size in model.shape_fit_],
        "fit_status": int(model.fit_status_),
        "certificate_of": str(model.certificate_of_),
    }


def kernel_machine_from_file(model: FittedMachine, arrays: Arrays, stored: Document) -> None:
    """Set the attributes that `kernel_machine_to_file` stored; `ValueError` if they do not fit together."""
    model._kernel = kernel_from_file(stored["kernel"])
    model._gamma = 0.0 if model._kernel.name == "precomputed" else model._kernel.gamma
    n, d = (int(size) for size in stored["shape_fit"])
    if d != model.n_features_in_:
        raise ValueError("the shape of the training examples does not fit the features")
    model.shape_fit_ = (n, d)
    model.fit_status_ = int(stored["fit_status"])
    model.certificate_of_ = str(stored["certificate_of"])
    support, n_support = arrays["support"], arrays["n_support"]
    if support.ndim != 1 or support.dtype.kind != "i" or np.any((support < 0) | (support >= n)):
        raise ValueError("support holds something other than positions of examples")
    if n_support.ndim != 1 or n_support.dtype.kind != "i" or n_support.sum() != len(support) or np.any(n_support < 0):
        raise ValueError("n_support does not count the support vectors")
    model.support_, model.n_support_ = support, n_support
    model.support_vectors_ = vectors_from_file(model._kernel, arrays, bool(stored["sparse"]), (len(support), d))
    dual_coef = finite(arrays, "dual_coef", (len(arrays["dual_coef"]), len(support)))
    model.dual_coef_ = sp.csr_array(dual_coef) if stored["sparse"] else dual_coef
    model.intercept_ = finite(arrays, "intercept", arrays["intercept"].shape[:1])


def kernel_to_file(kernel: Kernel) -> Document:
    """What JSON can hold of a kernel; `ValueError` for a function."""
    if kernel.name == "callable":
        raise ValueError(
            f"kernel={kernel.function!r} is a function, which a model file cannot hold; models with a kernel that has "
            'a name, or with kernel="precomputed", can be saved.'
        )
    return {"name": kernel.name, "gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}


def kernel_from_file(described: Document) -> Kernel:
    """The kernel that `kernel_to_file` described."""
    kernel = Kernel(**{name: described[name] for name in ("name", "gamma", "degree", "coef0")})
    if not kernel.computed and kernel.name != "precomputed":
        raise ValueError(f"kernel {kernel.name!r}")
    return kernel


def vectors_to_file(vectors: Matrix) -> Arrays:
    """Dense or sparse rows as arrays."""
    if is_sparse(vectors):
        return {f"support_vectors.{part}": np.ascontiguousarray(getattr(vectors, part)) for part in _SPARSE_PARTS}
    return {"support_vectors": np.ascontiguousarray(vectors)}


def vectors_from_file(kernel: Kernel, arrays: Arrays, sparse: bool, shape: tuple[int, int]) -> Matrix:
    """The rows that `vectors_to_file` stored; none for a precomputed kernel."""
    if kernel.name == "precomputed":
        return np.empty((0, 0))
    if not sparse:
        return finite(arrays, "support_vectors", shape)
    data, indices, indptr = (arrays[f"support_vectors.{part}"] for part in _SPARSE_PARTS)
    finite({"support_vectors.data": data}, "support_vectors.data", data.shape)
    vectors = sp.csr_array((data, indices, indptr), shape=shape, copy=False)
    vectors.check_format(full_check=True)
    return vectors
