"""What random problems are made of: data with ties, at all scales, and the settings that estimators share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Params
from cutplane.testing.random_problems.problem import Way

Array = NDArray[np.float64]
Generator = np.random.Generator

METHODS = ("auto", "newton", "oca", "cpa")
_LINE_SEARCHES = ("adaptive", "exact", "three-point")
# Wilder scales than one, one time in three: they find overflow and lost digits.
_SCALES = (1e-12, 1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9, 1e12)

T = TypeVar("T")


def often(rng: Generator, probability: float) -> bool:
    """True with this probability."""
    return bool(rng.random() < probability)


def one_of(rng: Generator, choices: Sequence[T]) -> T:
    """One of the choices."""
    return choices[int(rng.integers(len(choices)))]


def power(rng: Generator, least: float, most: float, digits: int = 1) -> float:
    """A power of ten between two exponents, with so many digits."""
    return float(f"{10.0 ** rng.uniform(least, most):.{digits - 1}e}")


def size(rng: Generator, most: int = 2000) -> int:
    """How many examples: mostly few."""
    choice = rng.random()
    if choice < 0.7:
        return int(rng.integers(2, 13))
    return int(rng.integers(12, 61)) if choice < 0.97 else min(most, int(rng.integers(200, 2001)))


def scale(rng: Generator) -> float:
    """One, mostly."""
    return one_of(rng, _SCALES) if often(rng, 0.25) else 1.0


def examples(rng: Generator, n: int, unit: float) -> Array:
    """A few features of one digit each: ties occur, and so do equal rows and empty columns."""
    d = int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    if often(rng, 0.3):
        X = X + rng.normal(size=d) * 3.0
    X = X.round(int(rng.integers(0, 2))) + 0.0
    if often(rng, 0.15):
        X[:, int(rng.integers(d))] = 0.0
    if often(rng, 0.15):
        X[rng.integers(n, size=n // 3 + 1)] = X[int(rng.integers(n))]
    if often(rng, 0.1):
        X[:, int(rng.integers(d))] *= one_of(rng, _SCALES)
    return np.asarray(X * unit, dtype=np.float64)


def strength(rng: Generator) -> float:
    """A value of C."""
    return power(rng, -6, 6) if often(rng, 0.3) else power(rng, -2, 2)


def weights(rng: Generator, n: int) -> Array | None:
    """None, or weights with zeros and ties among them."""
    if often(rng, 0.65):
        return None
    drawn = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.7], size=n)
    return np.asarray(drawn * (power(rng, -6, 6) if often(rng, 0.1) else 1.0))


def storages(single: bool) -> list[str]:
    """Expressions that store X in other ways, with the same values."""
    found = ["X", "np.asfortranarray(X)", "sp.csr_matrix(X)", "sp.csr_array(X)"]
    if single:
        found += ["X.astype(np.float32)", "sp.csr_matrix(X.astype(np.float32))", "np.asfortranarray(X, np.float32)"]
    return found


def rounded_to_single(rng: Generator, X: Array) -> tuple[Array, bool]:
    """Now and then, values that float32 holds exactly; and whether they are."""
    if often(rng, 0.3):
        return X.astype(np.float32).astype(np.float64), True
    return X, False


def tolerance(rng: Generator) -> float:
    """A value of tol."""
    return power(rng, -9, -2) if often(rng, 0.7) else 1e-3


def linear_ways(
    rng: Generator, C: float | None, single: bool, methods: tuple[str, ...] = METHODS, *, path: bool = False
) -> tuple[Way, ...]:
    """Some ways to train a linear estimator: by default, and by whatever else there is."""
    ways = [Way({} if often(rng, 0.5) else {"max_iter": 1000})]
    for _ in range(int(rng.integers(1, 4))):
        settings: Params = {"tol": tolerance(rng)}
        if often(rng, 0.7):
            settings["method"] = one_of(rng, methods)
        if settings.get("method") == "oca" and often(rng, 0.5):
            settings["line_search"] = one_of(rng, _LINE_SEARCHES)
        if often(rng, 0.75):  # planes alone may take long, and certificates must hold at any stop
            settings["max_iter"] = one_of(rng, (1, 2, 3, 5, 10, 30, 100, 100, 300, 300))
        if often(rng, 0.1):
            settings["n_jobs"] = 2
        stored = one_of(rng, storages(single)) if often(rng, 0.5) else "X"
        ways.append(_continued(rng, Way(settings, stored), C, path))
    return tuple(ways)


def _continued(rng: Generator, way: Way, C: float | None, path: bool) -> Way:
    """The same way after a fit with other settings, or along a path."""
    choice = rng.random()
    if choice < 0.2:
        first: Params = {"tol": tolerance(rng)}
        if C is not None and often(rng, 0.7):
            first = {**first, "C": C * power(rng, -2, 2)}
        return Way(way.settings, way.storage, first)
    if choice < 0.4 and path and C is not None:
        grid = [C, *(C * power(rng, -2, 2) for _ in range(int(rng.integers(1, 4))))]
        return Way(way.settings, way.storage, Cs=tuple(rng.permutation(grid).tolist()))
    return way
