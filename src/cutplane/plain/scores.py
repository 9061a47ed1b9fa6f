"""Scores of examples: linear, by a kernel with support vectors, or by columns of a kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from cutplane.plain import one_vs_one
from cutplane.plain.checks import require, require_numbers, require_places
from cutplane.plain.kernels import KERNELS, dense

if TYPE_CHECKING:
    from cutplane._types import Array, Integers, Matrix

# Kernel values are held at once for this many numbers.
_AT_ONCE = 8_000_000


class Scores(Protocol):
    """What gives each example its scores."""

    @property
    def n_features(self) -> int:
        """How many columns X has."""

    @property
    def machines(self) -> int:
        """How many scores an example has."""

    def rows(self, X: Any) -> Any:
        """Examples as users hand them over, checked, for a call."""

    def __call__(self, X: Any) -> Array:
        """Scores of shape (n, machines)."""


class Numeric:
    """What scores of rows of numbers share."""

    n_features: int

    def rows(self, X: Any) -> Matrix:
        """Rows of finite numbers, dense or CSR."""
        sparse = hasattr(X, "tocsr")
        rows: Any = X.tocsr() if sparse else np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(
                f"X has shape {rows.shape}; a row of {self.n_features} features for each example is needed."
            )
        if not np.isfinite(rows.data if sparse else rows).all():
            raise ValueError("X has a value that is not finite; every value must be.")
        return rows


@dataclass(frozen=True, eq=False)
class LinearScores(Numeric):
    """X @ coef.T + intercept, a row of weights for each machine."""

    coef: Array
    intercept: Array

    def __post_init__(self) -> None:
        require_numbers("coef", self.coef, (None, None))
        require_numbers("intercept", self.intercept, (len(self.coef),))

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """One for each weight."""
        return int(self.coef.shape[1])

    @property
    def machines(self) -> int:
        """One for each row of weights."""
        return len(self.coef)

    def __call__(self, X: Matrix) -> Array:
        """Scores of shape (n, machines)."""
        return dense(X @ self.coef.T) + self.intercept


@dataclass(frozen=True, eq=False)
class KernelScores(Numeric):
    """K(X, vectors) @ columns + intercept.

    `coef` has a row for each machine and a column for each support vector. Of machines for pairs of classes it is as
    LIBSVM lays it out, and `n_support` says how many support vectors each class has; else `n_support` is None.
    """

    kernel: str
    gamma: float
    degree: int
    coef0: float
    vectors: Matrix
    coef: Array
    intercept: Array
    n_support: NDArray[np.signedinteger] | None = None

    def __post_init__(self) -> None:
        require(self.kernel == "linear" or self.kernel in KERNELS, f"there is no kernel {self.kernel!r}")
        require(bool(np.isfinite([self.gamma, self.coef0]).all()) and self.gamma >= 0.0, "gamma or coef0 is none")
        require(isinstance(self.degree, int) and 0 <= self.degree <= 1000, f"degree={self.degree!r} is no degree")
        require_numbers("vectors", self.vectors, (None, None))
        _require_machines(self.coef, self.intercept, self.vectors.shape[0], self.n_support)

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Those of the support vectors."""
        return int(self.vectors.shape[1])

    @property
    def machines(self) -> int:
        """One for each intercept."""
        return len(self.intercept)

    @cached_property
    def columns(self) -> Array:
        """The coefficient of every support vector in every machine."""
        return machine_columns(self.coef, self.n_support)

    @cached_property
    def linear(self) -> LinearScores:
        """The same scores, where the kernel is the product."""
        return LinearScores(dense(self.vectors.T @ self.columns).T, self.intercept)

    def __call__(self, X: Matrix) -> Array:
        """Scores of shape (n, machines)."""
        if self.kernel == "linear":
            return self.linear(X)
        scores = np.empty((X.shape[0], self.machines))
        vectors = self.vectors if hasattr(self.vectors, "tocsr") == hasattr(X, "tocsr") else dense(self.vectors)
        size = max(1, _AT_ONCE // max(1, vectors.shape[0]))
        for start in range(0, X.shape[0], size):
            part = X[start : start + size]
            rows = part if hasattr(vectors, "tocsr") else dense(part)
            values = KERNELS[self.kernel](rows, vectors, self.gamma, self.degree, self.coef0)
            scores[start : start + size] = values @ self.columns + self.intercept
        return scores


@dataclass(frozen=True, eq=False)
class PrecomputedScores(Numeric):
    """X[:, support] @ columns + intercept: X has kernel values with the training examples."""

    # As a kernel of the table would have them: nothing is computed.
    kernel: ClassVar[str] = "precomputed"
    gamma: ClassVar[float] = 0.0
    degree: ClassVar[int] = 3
    coef0: ClassVar[float] = 0.0

    n_training: int
    support: Integers
    coef: Array
    intercept: Array
    n_support: NDArray[np.signedinteger] | None = None

    def __post_init__(self) -> None:
        require_places("support", self.support, self.n_training)
        _require_machines(self.coef, self.intercept, len(self.support), self.n_support)

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """A column for each training example."""
        return self.n_training

    @property
    def machines(self) -> int:
        """One for each intercept."""
        return len(self.intercept)

    @cached_property
    def columns(self) -> Array:
        """The coefficient of every support vector in every machine."""
        return machine_columns(self.coef, self.n_support)

    def __call__(self, X: Matrix) -> Array:
        """Scores of shape (n, machines)."""
        return dense(X[:, self.support]) @ self.columns + self.intercept


def _require_machines(coef: Array, intercept: Array, total: int, n_support: NDArray[np.signedinteger] | None) -> None:
    """Coefficients of as many support vectors, and an intercept for each machine."""
    if n_support is None:
        require_numbers("coef", coef, (len(intercept), total))
        require_numbers("intercept", intercept, (None,))
        return
    require_places("n_support", n_support, total + 1)
    k = len(n_support)
    require(int(n_support.sum()) == total, "n_support does not count the support vectors")
    require_numbers("coef", coef, (k - 1, total))
    require_numbers("intercept", intercept, (k * (k - 1) // 2,))


def machine_columns(coef: Array, n_support: NDArray[np.signedinteger] | None) -> Array:
    """Coefficients by support vector and machine, out of LIBSVM's layout where there is a machine a pair."""
    if n_support is None:
        return np.ascontiguousarray(coef.T, np.float64)
    k = len(n_support)
    of_class = np.repeat(np.arange(k), n_support)
    columns = np.zeros((coef.shape[1], k * (k - 1) // 2))
    for number, i, j, row_of_i, row_of_j in one_vs_one.places(k):
        columns[of_class == i, number] = coef[row_of_i, of_class == i]
        columns[of_class == j, number] = coef[row_of_j, of_class == j]
    return columns
