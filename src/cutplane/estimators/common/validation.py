"""Checks of what users hand over: one clear sentence each, before any work is done."""

from __future__ import annotations

import inspect
import numbers
import os
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from cutplane.estimators.common.class_weights import class_factors
from cutplane.estimators.common.input_kinds import check_kind, check_words, plain_labels
from cutplane.estimators.common.sparse_structure import canonical, check_structure
from cutplane.sources import CsrSource, DenseSource, Source

Array = NDArray[np.float64]
# Beyond these, products of a few numbers leave the range of double precision.
_MOST = 1e70
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-35, 1e35
_MOST_THREADS = 1 << 15
# Vectors as long as an example is wide that training holds at least.
_VECTORS = 4
# Labels that are whole numbers in a range of this size are told apart by a table, some at a time.
_TABLE = 1 << 16
_PART = 1 << 16


def check_positive(name: str, value: Any, *, finite: bool = True) -> float:
    """A number above zero, as a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not value > 0 or (finite and value == float("inf")):
        raise ValueError(f"{name}={value!r} must be a {'finite ' if finite else ''}number greater than 0.")
    if value < _LEAST_WEIGHT or _MOST_WEIGHT < value < float("inf"):
        raise ValueError(
            f"{name}={value!r} is out of range; numbers from {_LEAST_WEIGHT:g} to {_MOST_WEIGHT:g} are accepted."
        )
    return float(value)


def check_grid(Cs: Any) -> list[float]:
    """A grid of C: numbers above zero."""
    try:
        values = list(Cs)
    except TypeError:
        raise ValueError(f"Cs={Cs!r} must be a sequence of numbers greater than 0.") from None
    if not values:
        raise ValueError("Cs is empty; it must hold at least one number greater than 0.")
    return [check_positive(f"Cs[{k}]", value) for k, value in enumerate(values)]


def check_prior(prior: Any, n_problems: int, d: int) -> Array | None:
    """One row of weights for each problem, or None."""
    if prior is None:
        return None
    try:
        rows = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"prior={prior!r} must be an array of numbers.") from None
    wanted = (n_problems, d)
    if rows.shape != wanted and not (n_problems == 1 and rows.shape == (d,)):
        accepted = f"({d},)" if n_problems == 1 else f"{wanted}"
        raise ValueError(f"prior has the shape {rows.shape}; with {d} features it must be {accepted}.")
    if not (np.abs(rows) <= _MOST).all():
        raise ValueError(f"prior holds a number that is not finite or beyond {_MOST:g}; weights must be smaller.")
    return rows.reshape(wanted)


def check_features(name: str, chosen: Any, d: int) -> NDArray[np.bool_] | None:
    """A mask of the features chosen by True (all), indices or booleans; None for none."""
    if chosen is None or chosen is False:
        return None
    if chosen is True:
        return np.ones(d, dtype=bool)
    found = np.asarray(chosen)
    if found.ndim == 1 and found.dtype.kind == "b" and len(found) == d:
        return found
    if found.ndim == 1 and found.size == 0:
        return None
    if found.ndim != 1 or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= d:
        raise ValueError(f"{name}={chosen!r} must be True, indices of features between 0 and {d - 1}, or {d} booleans.")
    mask = np.zeros(d, dtype=bool)
    mask[found] = True
    return mask


def check_count(name: str, value: Any, *, or_none: bool = True) -> int:
    """An integer above zero; `or_none` says whether None would have been accepted."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < 1:
        raise ValueError(f"{name}={value!r} must be an integer greater than 0{', or None' if or_none else ''}.")
    return int(value)


def check_not_negative(name: str, value: Any) -> float:
    """A number of zero or more, as a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not value >= 0 or value == float("inf"):
        raise ValueError(f"{name}={value!r} must be a finite number, 0 or greater.")
    if value > _MOST:
        raise ValueError(f"{name}={value!r} is out of range; numbers from 0 to {_MOST:g} are accepted.")
    return float(value)


def check_share(name: str, value: Any) -> float:
    """A number above zero and at most one, as a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 < value <= 1:
        raise ValueError(f"{name}={value!r} must be a number greater than 0 and at most 1.")
    return float(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of the strings that are accepted."""
    if not isinstance(value, str) or value not in choices:
        accepted = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} must be one of {accepted}.")
    return str(value)


def check_file_name(name: str, value: Any) -> None:
    """The name of a file, or None."""
    if value is not None and not (isinstance(value, (str, os.PathLike)) and os.fspath(value)):
        raise ValueError(f"{name}={value!r} must be the name of a file, or None.")


def check_flag(name: str, value: Any) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be True or False.")
    return bool(value)


def check_flags(estimator: Any) -> None:
    """Every parameter that is declared a bool ("no" and 0 are none), and the seed."""
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        if parameter.annotation in (bool, "bool"):
            check_flag(name, getattr(estimator, name))
    _generator(getattr(estimator, "random_state", None))


def check_threads(n_jobs: Any) -> int:
    """n_jobs as the core takes it: 0 leaves it to OpenMP."""
    if n_jobs is None:
        return 0
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be None or an integer other than 0 (-1: all processors).")
    threads = int(n_jobs)
    if threads > _MOST_THREADS:
        raise ValueError(f"n_jobs={n_jobs!r} is out of range; at most {_MOST_THREADS} threads are accepted.")
    if threads > 0:
        return threads
    from joblib import cpu_count

    return max(1, int(cpu_count()) + 1 + threads)


def check_examples(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """X as a dense array or canonical CSR matrix of float32 or float64, uncopied where possible, and y.

    A source is taken as it is: whatever it reads its examples from.
    """
    check_flags(estimator)
    check_kind("y", y)
    y = plain_labels(y)
    if isinstance(X, Source):
        return _check_source(estimator, X, y)
    _check_given(X)
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        accept_large_sparse=True,
        ensure_all_finite=False,
    )
    if sp.issparse(X):
        X = canonical(X)
    _check_finite(X, check_threads(getattr(estimator, "n_jobs", None)))
    return X, y


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as `check_examples` has it, where there is no y; unless `reset`, X must have the features of the fit."""
    if reset:
        check_flags(estimator)
    _check_given(X)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        accept_large_sparse=True,
        ensure_all_finite=False,
    )
    if sp.issparse(X):
        X = canonical(X)
    _check_finite(X, check_threads(getattr(estimator, "n_jobs", None)))
    return X


def check_new_rows(estimator: Any, X: Any) -> Any:
    """X for the predictions of a linear model: as it is where that serves, checked, with the features of the fit."""
    _check_given(X)
    X = validate_data(estimator, X, reset=False, accept_sparse="csr", ensure_all_finite=False)
    if X.dtype in (np.float64, np.float32):
        _check_finite(X, check_threads(getattr(estimator, "n_jobs", None)))
    return X


def check_width(n_features: int) -> None:
    """Refuse more features than the machine has memory for vectors of weights."""
    needed = 8 * _VECTORS * n_features
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise ValueError(
            f"X has {n_features} columns, which take {needed / 1e9:.0f} GB for vectors of weights; this machine has "
            f"{memory / 1e9:.0f} GB, enough for {memory // (8 * _VECTORS)} columns."
        )


def _check_given(X: Any) -> None:
    """What must be known of X before any library converts it."""
    check_kind("X", X)
    check_words(X)
    check_structure(X)


def _check_source(estimator: Any, X: Source, y: Any) -> tuple[Source, NDArray[Any]]:
    labels = np.asarray(y)
    if labels.shape != (X.shape[0],):
        raise ValueError(f"y of shape {labels.shape} must have one label for each of {X.shape[0]} examples.")
    X.check_finite()
    estimator.n_features_in_ = X.shape[1]
    return X, labels


def _check_finite(X: Any, n_threads: int) -> None:
    source = CsrSource(X) if sp.issparse(X) else DenseSource(X)
    row = source.core.first_unusable_row(n_threads)
    if row < 0:
        return
    if sp.issparse(X):
        part = slice(X.indptr[row], X.indptr[row + 1])
        values, columns = X.data[part], X.indices[part]
    else:
        values, columns = X[row], np.arange(X.shape[1])
    first = int(np.flatnonzero(~(np.abs(values.astype(np.float64)) <= _MOST))[0])
    value = "NaN" if np.isnan(values[first]) else str(values[first])
    wanted = f"be below {_MOST:g} in size; scale the column" if np.isfinite(values[first]) else "be finite"
    raise ValueError(f"Row {row} of X has the value {value} in column {columns[first]}; every value must {wanted}.")


def check_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes, sorted, and the class of each example."""
    classes, codes = _coded_by_table(y) or _coded_by_sorting(y)
    _check_several(classes)
    return classes, codes.astype(np.intp)


def check_many_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """As `check_labels`, the class of each example in the smallest type that holds it; targets are refused."""
    coded = _coded_by_table(y)
    if coded is None:
        check_classification_targets(y)
        coded = _coded_by_sorting(y)
    classes, codes = coded
    _check_several(classes)
    return classes, codes.astype(np.min_scalar_type(-len(classes)), copy=False)


def _coded_by_sorting(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        return np.unique(y, return_inverse=True)
    except TypeError:
        first = {type(label).__name__: label for label in reversed(y.tolist())}
        (one, label), (other, unlike), *_ = sorted(first.items())
        raise ValueError(
            f"y has labels of different types, such as {label!r} ({one}) and {unlike!r} ({other}); all must be of one."
        ) from None


def _check_several(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        only = classes[:1].tolist()[0]  # a plain value: np.float64(1.0) is no way to name a label
        raise ValueError(f"y has only one class, {only!r}; a classifier needs at least two.")


def _coded_by_table(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """What `np.unique` gives for whole numbers close to each other, without sorting them; None for other labels."""
    if y.dtype.kind not in "biuf" or not len(y):
        return None
    low, high = y.min().item(), y.max().item()
    if not (abs(low) < 2**53 and abs(high) < 2**53 and high - low < _TABLE):  # not for NaN either
        return None
    low = int(low)
    parts = [slice(begin, begin + _PART) for begin in range(0, len(y), _PART)]
    seen = np.zeros(int(high) - low + 1, dtype=bool)
    for part in parts:
        places = y[part].astype(np.int64)
        if y.dtype.kind == "f" and not np.array_equal(places, y[part]):
            return None
        seen[places - low] = True
    found = np.flatnonzero(seen)
    table = np.zeros(len(seen), np.min_scalar_type(-len(found)))
    table[found] = np.arange(len(found))
    codes = np.empty(len(y), table.dtype)
    for part in parts:
        codes[part] = table[y[part].astype(np.int64) - low]
    return (found + low).astype(y.dtype), codes


def signs(positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    """+1 where `positive`, else -1."""
    labels = positive.astype(np.int8)
    labels *= 2
    labels -= 1
    return labels


def check_targets(y: Any) -> Array:
    """Targets, of a regression or to rank by, as finite float64."""
    check_kind("y", y)
    try:
        targets = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y has the dtype {np.asarray(y).dtype}; targets must be numbers.") from None
    wrong = np.flatnonzero(~(np.abs(targets) <= _MOST))
    if len(wrong):
        found = targets[wrong[0]]
        value = "NaN" if np.isnan(found) else str(found)
        wanted = f"be below {_MOST:g} in size" if np.isfinite(found) else "be a finite number"
        raise ValueError(f"y[{wrong[0]}] is {value}; every target must {wanted}.")
    return targets


def check_seed(random_state: Any) -> int:
    """A seed for the core; None is a fixed one, so that the same data give the same model."""
    if random_state is None:
        return 0
    return int(_generator(random_state).randint(2**31 - 1))


def _generator(random_state: Any) -> Any:
    from sklearn.utils import check_random_state

    try:
        return check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} must be None, an integer from 0 to 2**32 - 1, or a RandomState."
        ) from None


def check_sample_weight(sample_weight: Any, X: Any) -> Array | None:
    """Weights of the examples; None where all are 1."""
    if sample_weight is None:
        return None
    check_kind("sample_weight", sample_weight)
    checked = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    _check_range("sample_weight", checked)
    negative = np.flatnonzero(checked < 0)
    if len(negative):
        raise ValueError(
            f"sample_weight[{negative[0]}]={checked[negative[0]]} is negative; weights must be 0 or greater."
        )
    if not checked.any():
        raise ValueError("sample_weight is zero for every example; at least one must be greater than 0.")
    return None if np.all(checked == 1.0) else checked


def _check_range(name: str, weights: Array) -> None:
    """Weights that are zero, or not so large or small that sums of them leave double precision."""
    wrong = np.flatnonzero((weights > _MOST_WEIGHT) | ((weights > 0.0) & (weights < _LEAST_WEIGHT)))
    if len(wrong):
        raise ValueError(
            f"{name}[{wrong[0]}]={weights[wrong[0]]} is out of range; 0 and numbers from {_LEAST_WEIGHT:g} to "
            f"{_MOST_WEIGHT:g} are accepted."
        )


def check_weights(sample_weight: Any, X: Any, class_weight: Any, classes: Any, y: Any) -> Array | None:
    """Weights of the examples from their own and their classes'; None where all are 1."""
    weights = check_sample_weight(sample_weight, y if isinstance(X, Source) else X)
    if class_weight is not None:
        each = class_factors(class_weight, classes, y, sample_weight)[np.searchsorted(classes, y)]
        weights = each if weights is None else weights * each
    if weights is not None and np.all(weights == 1.0):
        return None
    return weights
