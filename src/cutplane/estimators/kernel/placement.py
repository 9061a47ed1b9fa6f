"""Where kernels are computed: on the processor, or on a GPU that examples lie on or that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._types import Array, Matrix, MatrixLike
from cutplane.device import arrays
from cutplane.device.arrays import as_given, check_device, device_matrix, is_on_device, several_devices
from cutplane.kernels.device_features import features
from cutplane.kernels.device_rows import is_known
from cutplane.kernels.device_scores import NewRows, device_scores, linear_scores, rows_of_device, rows_of_host
from cutplane.kernels.functions import Kernel

Method = TypeVar("Method", bound=Callable[..., Any])


def answers_in_place(method: Method) -> Method:
    """A method of rows that, given an array on a GPU, answers with one of the same library there."""

    @wraps(method)
    def either(self: BaseEstimator, X: MatrixLike, **options: Any) -> Any:
        answer = method(self, X, **options)
        return as_given(X, answer) if is_on_device(X) else answer

    return cast(Method, either)


def check_one_device(device: object) -> None:
    """Refuse devices that are not known, or not there, and lists of them."""
    if several_devices(device) is not None:
        raise ValueError(f"device={device!r}: kernels are computed on one GPU, 'cuda'.")
    check_device(device)


def is_asked_there(device: str | None, X: object) -> bool:
    """Whether kernels of examples are computed on a GPU: these lie there, or it is asked for."""
    return device is not None or is_on_device(X)


def brought(X: Any) -> Any:
    """Examples on the host, where they are checked; copied from a GPU if they lie there."""
    there = device_matrix(X)
    return X if there is None else there.rows.on_host()


class ScoresThere:
    """Scores and features of new examples on a GPU. Scores come back to the host, where decisions are made of them.

    Parameters
    ----------
    kernel : Kernel
    rows : NewRows
    """

    def __init__(self, kernel: Kernel, rows: NewRows) -> None:
        self._kernel, self._rows = kernel, rows

    @classmethod
    def of_device(cls, kernel: Kernel, X: Any, n_features: int) -> ScoresThere | None:
        """Of examples that lie there; None where these lie elsewhere, or where kernel values are not computed there."""
        there = device_matrix(X)
        if there is None or not is_known(kernel):
            return None
        if there.shape[1] != n_features:
            raise ValueError(f"X has {there.shape[1]} features, but the model was trained with {n_features}.")
        there.check_finite()
        return cls(kernel, rows_of_device(there.rows))

    @classmethod
    def of_host(cls, kernel: Kernel, examples: Matrix) -> ScoresThere | None:
        """Of checked examples that are copied there block by block; None where there is no GPU, or no such kernel."""
        if not is_known(kernel) or not arrays.has_device():
            return None
        return cls(kernel, rows_of_host(arrays.cuda_kernels(), examples))

    def grouped(self, vectors: Matrix, coef: Array, ends: Sequence[int]) -> Array:
        """K(X, group) @ coef of each group of vectors, of shape (len(X), groups, coef.shape[1])."""
        found: Array = self._rows.kernels.to_host(device_scores(self._kernel, self._rows, vectors, coef, ends))
        return found

    def linear(self, coef: Array) -> Array:
        """X @ coef.T."""
        found: Array = self._rows.kernels.to_host(linear_scores(self._rows, coef))
        return found

    def features(self, basis: Matrix, projection: Array, *, stays: bool) -> Any:
        """K(X, basis) @ projection of many columns, which stays on the GPU or comes back."""
        device, shape = self._rows.kernels, (self._rows.size, projection.shape[1])
        found = device.xp.empty(shape) if stays else np.empty(shape)
        for part, values in features(self._kernel, self._rows, basis, projection):
            found[part] = values if stays else device.to_host(values)
        return found
