"""Passes over the examples in the precision of these, as fast as they can be: where nothing certified depends on them.

The products inside conjugate gradients are such: whatever a direction is, what is proven is proven of where it leads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane import _core
from cutplane.sources.narrow import floats, precision

Array = NDArray[np.float64]

# Numbers of X in the blocks that a BLAS multiplies at a time, by as many threads as there are.
_BLOCK = 1 << 19


class Passes(Protocol):
    """A source, as far as it is asked here: see `cutplane.sources.base.Source`."""

    def scores(self, w: Array) -> Array: ...  # noqa: D102

    def combine(self, coef: Array) -> Array: ...  # noqa: D102


class RoughPasses:
    """The passes of a source itself, in double precision.

    Parameters
    ----------
    source : Passes
    """

    def __init__(self, source: Passes) -> None:
        self._source = source

    def scores(self, w: Array) -> NDArray[Any]:
        """X @ w for w of shape (d, k): an array that the caller may overwrite."""
        return self._source.scores(np.ascontiguousarray(w))

    def combine(self, coef: NDArray[Any]) -> Array:
        """X' @ coef for coefficients of the precision of the scores."""
        return self._source.combine(np.ascontiguousarray(coef, np.float64))

    def squares(self, weights: Array) -> Array | None:
        """(X∘X)' @ weights, of shape (d, k); None where that takes more than a pass."""
        return None


class AugmentedPasses(RoughPasses):
    """Those of another source, and a constant feature."""

    def __init__(self, base: RoughPasses, constant: float) -> None:
        self._base, self._constant = base, constant

    def scores(self, w: Array) -> NDArray[Any]:
        """X @ w."""
        found = self._base.scores(w[:-1])
        found += (self._constant * w[-1]).astype(found.dtype)
        return found

    def combine(self, coef: NDArray[Any]) -> Array:
        """X' @ coef."""
        return np.vstack([self._base.combine(coef), self._constant * coef.sum(axis=0, dtype=np.float64)])

    def squares(self, weights: Array) -> Array | None:
        """(X∘X)' @ weights."""
        found = self._base.squares(weights)
        return None if found is None else np.vstack([found, self._constant**2 * weights.sum(axis=0)])


class BlasPasses(RoughPasses):
    """Products of blocks of a dense array, each by one thread of a BLAS.

    Parameters
    ----------
    X : array of shape (n, d)
        Of smaller values than float32, a block at a time becomes that.
    n_threads : int
    """

    def __init__(self, X: NDArray[Any], n_threads: int) -> None:
        self._X, self._threads = X, n_threads

    def scores(self, w: Array) -> NDArray[Any]:
        """X @ w."""
        X, dtype = self._X, precision(self._X)
        weights = np.ascontiguousarray(w, dtype)
        found = np.empty((len(X), w.shape[1]), dtype)

        def fill(part: slice) -> None:
            np.matmul(floats(X[part]), weights, out=found[part])

        in_blocks(fill, row_blocks(X), self._threads)
        return found

    def combine(self, coef: NDArray[Any]) -> Array:
        """X' @ coef; sums of blocks are added up in double precision, in their order."""
        return combined(self._X, coef, self._threads, precision(self._X))


class TransposedPasses(RoughPasses):
    """Those of a CSR matrix and of its transpose: sums over examples then need no memory of their own in each thread.

    Parameters
    ----------
    source : Passes
    X : scipy.sparse CSR array
    make : callable
        From a CSR array to a source.
    """

    def __init__(self, source: Passes, X: sp.csr_array, make: Callable[[sp.csr_array], Passes]) -> None:
        super().__init__(source)
        self._X, self._make = X, make

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return sp.csr_array(self._X.T.tocsr())

    @cached_property
    def _sums(self) -> Passes:
        return self._make(self._transposed)

    def combine(self, coef: NDArray[Any]) -> Array:
        """X' @ coef."""
        return self._sums.scores(np.ascontiguousarray(coef, np.float64))

    def squares(self, weights: Array) -> Array | None:
        """(X∘X)' @ weights."""
        squared = self._transposed.copy()
        squared.data = np.square(squared.data)
        return self._make(squared).scores(np.ascontiguousarray(weights))


def row_blocks(X: NDArray[Any]) -> list[slice]:
    """Rows that are multiplied at a time: they depend on the array alone, so that sums are the same to the bit."""
    size = max(1, _BLOCK // max(1, X.shape[1]))
    return [slice(begin, min(begin + size, len(X))) for begin in range(0, len(X), size)]


def combined(X: NDArray[Any], coef: NDArray[Any], n_threads: int, dtype: Any) -> Array:
    """X' @ coef, the products of blocks in a precision, their sum in double."""
    blocks = row_blocks(X)
    sums = np.empty((len(blocks), X.shape[1], coef.shape[1]), dtype)

    def fill(number: int) -> None:
        part = blocks[number]
        rows = floats(X[part]).astype(dtype, copy=False)
        np.matmul(rows.T, coef[part].astype(dtype, copy=False), out=sums[number])

    in_blocks(fill, range(len(blocks)), n_threads)
    return np.asarray(sums.sum(axis=0, dtype=np.float64))


def in_blocks(fill: Callable[[Any], None], blocks: Sequence[Any], n_threads: int) -> None:
    """Call a function for every block, by several threads where there are more than one."""
    threads = min(int(_core.thread_count(n_threads)), len(blocks))
    if threads <= 1:
        for block in blocks:
            fill(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, blocks))
