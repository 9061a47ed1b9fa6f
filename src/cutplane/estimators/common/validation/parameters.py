"""Checks of parameters: numbers, choices, flags, threads, seeds."""

from __future__ import annotations

import inspect
import numbers
import os
from functools import lru_cache
from typing import TypeGuard

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._runtime.ranges import LEAST_C, LEAST_WEIGHT, MOST, MOST_C, MOST_WEIGHT
from cutplane._types import RandomState

_MOST_THREADS = 1 << 15


def _is_real(value: object) -> TypeGuard[float]:
    """Whether a value is a number and not a flag."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_positive(
    name: str,
    value: object,
    *,
    finite: bool = True,
    between: tuple[float, float] = (LEAST_WEIGHT, MOST_WEIGHT),
) -> float:
    """A number above zero, as a float."""
    if not _is_real(value) or not value > 0 or (finite and value == float("inf")):
        raise ValueError(f"{name}={value!r} must be a {'finite ' if finite else ''}number greater than 0.")
    least, most = between
    if value < least or most < value < float("inf"):
        raise ValueError(f"{name}={value!r} is out of range; numbers from {least:g} to {most:g} are accepted.")
    return float(value)


def check_strength(name: str, value: object, *, finite: bool = True) -> float:
    """C: any number that a search may try."""
    return check_positive(name, value, finite=finite, between=(LEAST_C, MOST_C))


def check_grid(Cs: object) -> list[float]:
    """A grid of C: numbers above zero."""
    try:
        values = list(Cs)  # type: ignore[call-overload]
    except TypeError:
        raise ValueError(f"Cs={Cs!r} must be a sequence of numbers greater than 0.") from None
    if not values:
        raise ValueError("Cs is empty; it must hold at least one number greater than 0.")
    return [check_strength(f"Cs[{k}]", value) for k, value in enumerate(values)]


def check_not_negative(name: str, value: object) -> float:
    """A number of zero or more, as a float."""
    if not _is_real(value) or not value >= 0 or value == float("inf"):
        raise ValueError(f"{name}={value!r} must be a finite number, 0 or greater.")
    if value > MOST:
        raise ValueError(f"{name}={value!r} is out of range; numbers from 0 to {MOST:g} are accepted.")
    return float(value)


def check_share(name: str, value: object) -> float:
    """A number above zero and at most one, as a float."""
    if not _is_real(value) or not 0 < value <= 1:
        raise ValueError(f"{name}={value!r} must be a number greater than 0 and at most 1.")
    return float(value)


def check_count(name: str, value: object, *, or_none: bool = True) -> int:
    """An integer above zero; `or_none` says whether None would have been accepted."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < 1:
        raise ValueError(f"{name}={value!r} must be an integer greater than 0{', or None' if or_none else ''}.")
    return int(value)


def check_max_iter(value: object) -> int | None:
    """`max_iter`: an integer above zero; None and -1, which become None, are no limit."""
    if value is None or (isinstance(value, numbers.Integral) and int(value) == -1):
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < 1:
        raise ValueError(f"max_iter={value!r} must be an integer greater than 0, or None or -1 for no limit.")
    return int(value)


def check_like_liblinear(penalty: object, dual: object, verbose: object) -> None:
    """What scikit-learn's linear machines take for LIBLINEAR's sake."""
    if penalty != "l2":
        raise ValueError(f"penalty={penalty!r} must be 'l2': what is proven here is proven of ½|w|² + C·Σ loss.")
    if not isinstance(dual, bool) and dual != "auto":
        raise ValueError(f"dual={dual!r} must be True, False or 'auto'; the solver chooses, whichever it is.")
    if not isinstance(verbose, numbers.Integral) or int(verbose) < 0:
        raise ValueError(f"verbose={verbose!r} must be True, False or an integer of 0 or greater.")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    """One of the strings that are accepted."""
    if not isinstance(value, str) or value not in choices:
        accepted = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} must be one of {accepted}.")
    return str(value)


def check_file_name(name: str, value: object) -> None:
    """The name of a file, or None."""
    if value is not None and not (isinstance(value, (str, os.PathLike)) and os.fspath(value)):
        raise ValueError(f"{name}={value!r} must be the name of a file, or None.")


def check_flag(name: str, value: object) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be True or False.")
    return bool(value)


@lru_cache(maxsize=256)
def _flags(kind: type[BaseEstimator]) -> tuple[str, ...]:
    parameters = inspect.signature(kind.__init__).parameters.items()
    return tuple(name for name, parameter in parameters if parameter.annotation in (bool, "bool"))


def check_flags(estimator: BaseEstimator) -> None:
    """Every parameter that is declared a bool ("no" and 0 are none), and the seed."""
    for name in _flags(estimator.__class__):
        check_flag(name, getattr(estimator, name))
    _generator(getattr(estimator, "random_state", None))


def check_threads(n_jobs: object) -> int:
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


def check_seed(random_state: RandomState) -> int:
    """A seed for the core; None is a fixed one, so that the same data give the same model."""
    if random_state is None:
        return 0
    return int(_generator(random_state).randint(2**31 - 1))


def _generator(random_state: RandomState) -> np.random.RandomState:
    from sklearn.utils import check_random_state

    try:
        generator: np.random.RandomState = check_random_state(random_state)
        return generator
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} must be None, an integer from 0 to 2**32 - 1, or a RandomState."
        ) from None
