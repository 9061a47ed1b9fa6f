"""Examples that must be arrays of numbers, looked at before a model's searches are."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane._runtime.ranges import MOST
from cutplane._types import Array, Matrix, is_sparse
from cutplane.estimators.common.validation.input_kinds import check_in_process
from cutplane.estimators.common.validation.words import MAKE_EXAMPLES, check_no_file_name
from cutplane.structured.base import StructuredModel

# What an example is, by the number of its axes.
_WANTED = {
    1: "a vector of numbers, one for each feature, is needed",
    2: "an array with a row of numbers for each token is needed",
    3: "an array of numbers by item, place and feature is needed",
}


def check_example_arrays(
    model: StructuredModel, X: Sequence[object] | Matrix, features: int | None, *, new: bool = True
) -> int:
    """How many examples there are; `ValueError` unless each is what the model can search, with that many features.

    Models that take other things than arrays (`axes` is None) look at them themselves.
    """
    check_no_file_name("X", X, MAKE_EXAMPLES)
    check_in_process("X", X, new=new)
    count = length_of("X", X)
    if model.axes is None:
        return count
    if is_sparse(X):
        _check_features("X", X.shape[1], features)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "biuf" and X.ndim == model.axes + 1:
        _check_features("X", X.shape[-1], features)
        _check_finite("X", X)
    else:
        for index in range(count):
            _check_example(f"X[{index}]", X[index], model.axes, features)
    return count


def length_of(name: str, values: object) -> int:
    """How many examples or labellings there are."""
    shape: tuple[int, ...] = getattr(values, "shape", ())
    if len(shape) > 0:
        return int(shape[0])
    if not isinstance(values, Sized):
        raise ValueError(f"{name} is a {type(values).__name__}; a list or an array of examples is needed.")
    return len(values)


def _check_example(name: str, x: object, axes: int, features: int | None) -> None:
    if is_sparse(x):
        _check_features(name, x.shape[-1], features)
        return
    numbers = _as_numbers(x)
    if numbers is None or numbers.ndim != axes:
        raise ValueError(f"{name} is {x!r:.60}; {_WANTED[axes]}.")
    _check_features(name, numbers.shape[-1], features)
    _check_finite(name, numbers)


def _check_features(name: str, found: int, features: int | None) -> None:
    if features is not None and found != features:
        raise ValueError(f"{name} has {found} features, but the model is for {features}.")


def _check_finite(name: str, numbers: NDArray[Any]) -> None:
    usable = np.abs(numbers) <= MOST
    if not usable.all():
        place = np.argwhere(~usable)[0].tolist()
        value = numbers[tuple(place)]
        wanted = f"below {MOST:g} in size; scale the feature" if np.isfinite(value) else "finite"
        raise ValueError(f"{name}{place} is {value}; every value must be {wanted}.")


def _as_numbers(x: object) -> Array | None:
    try:
        return np.asarray(x, np.float64)
    except (TypeError, ValueError):
        return None
