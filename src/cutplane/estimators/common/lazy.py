"""Predictions in kind: of collections of Dask, computed where the rows lie; of arrays of other libraries."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar, cast

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cutplane.cluster.collections import both_lazily, is_collection, lazily
from cutplane.device.arrays import as_given, device_matrix
from cutplane.estimators.common.validation.foreign_arrays import answers_in_kind, as_numpy, in_kind

Method = TypeVar("Method", bound=Callable[..., Any])

# What predictions do not need and workers would be sent: records of the fit.
_RECORDS = ("certificates_", "_warm", "_warm_key", "proof_")


def also_lazily(method: Method) -> Method:
    """A method of rows that, given a collection of Dask, gives one of what it would say of each partition.

    Given an array of another library, it answers with one of that library where scikit-learn is told to; given one on a
    GPU, always: by `_METHOD_there` of the model, where it has that, or from what it would say to the host.
    """

    @wraps(method)
    def either(self: BaseEstimator, X: Any, **options: Any) -> Any:
        there = device_matrix(X)
        if there is not None:
            check_is_fitted(self)
            stays = getattr(self, f"_{method.__name__}_there", None)
            answer = stays(there.rows) if stays and not any(options.values()) else method(self, there, **options)
            return as_given(X, answer)
        if answers_in_kind(X):
            return in_kind(X, method(self, as_numpy("X", X), **options))
        if not is_collection(X):
            return method(self, X, **options)
        if any(options.values()):
            raise ValueError(f"{', '.join(options)} is for rows in this process, not for collections of Dask.")
        check_is_fitted(self)
        return lazily(partial(_of_rows, for_workers(self), method.__name__), X, self.n_features_in_)

    return cast(Method, either)


def bounds_lazily(model: BaseEstimator, X: Any) -> tuple[Any, Any]:
    """The `decision_bounds` of a collection of Dask: two like it, nothing of which is computed yet."""
    check_is_fitted(model)
    asked = partial(_of_rows, for_workers(model, certificates=True), "decision_bounds")
    return both_lazily(asked, X, model.n_features_in_)


def for_workers(model: BaseEstimator, *, certificates: bool = False) -> BaseEstimator:
    """What workers are sent to ask: the model without records of its fit, but certificates where they are needed."""
    sent = copy.copy(model)
    sent.on_step = None
    for name in _RECORDS:
        if not (certificates and name == "certificates_"):
            sent.__dict__.pop(name, None)
    return sent


def _of_rows(model: BaseEstimator, name: str, X: Any) -> Any:
    return getattr(model, name)(X)
