"""The contract of sources as a check; it raises AssertionError with what is wrong.

A new source is ready when its check passes on samples of every kind it claims to take.

Examples
--------
>>> import numpy as np
>>> from cutplane.sources import DenseSource
>>> from cutplane.testing import check_source
>>> X = np.random.default_rng(0).normal(size=(50, 3))
>>> check_source(DenseSource(X), X)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane.sources.base import Source
from cutplane.testing import reference
from cutplane.testing.requirements import ROUNDING, require, require_close

Array = NDArray[np.float64]


def check_source(
    source: Source, X: ArrayLike, *, seed: int = 0, twins: Sequence[Source] = (), taken: bool = True
) -> None:
    """Check that a source is the linear map X.

    Parameters
    ----------
    source : Source
    X : array of shape (n, d)
        The same examples as a dense array.
    seed : int
        For the vectors it is tried on.
    twins : sequence of Source
        The same source with other numbers of threads: their results must be the same to the bit.
    taken : bool
        Whether `take` is checked as well.

    Raises
    ------
    AssertionError
        Saying what is wrong.
    """
    full = reference.dense(X)
    n, d = full.shape
    require(source.shape == (n, d), f"shape is {source.shape}; it must be (n, d) = {(n, d)}.")
    rng = np.random.default_rng(seed)
    for columns in ((), (1,), (3,)):
        w, coef = rng.normal(size=(d, *columns)), rng.normal(size=(n, *columns))
        coef[rng.random(n) < 0.3] = 0.0
        found_scores, found_sums = source.scores(w), source.combine(coef)
        name = f"of shape {w.shape}"
        require_close(found_scores, full @ w, np.abs(full) @ np.abs(w), f"scores(w), w {name}, is not X @ w")
        require_close(
            found_sums,
            full.T @ coef,
            np.abs(full).T @ np.abs(coef),
            f"combine(coef), coef of shape {coef.shape}, is not X.T @ coef",
        )
        require(
            found_scores.dtype == found_sums.dtype == np.float64,
            f"scores and combine gave {found_scores.dtype} and {found_sums.dtype}; they must give float64.",
        )
        require_close(
            np.vdot(found_scores, coef),
            np.vdot(w, found_sums),
            np.vdot(np.abs(full) @ np.abs(w), np.abs(coef)),
            f"combine is not the adjoint of scores for w {name}: <X w, g> differs from <w, X' g>",
        )
        for twin in twins:
            require(
                np.array_equal(twin.scores(w), found_scores) and np.array_equal(twin.combine(coef), found_sums),
                f"{twin!r} gives other bits than {source!r}: the number of threads must not matter.",
            )
    _check_curvature(source, full, rng, twins)
    if taken:
        _check_take(source, full, rng)


def _check_curvature(source: Source, full: Array, rng: np.random.Generator, twins: Sequence[Source]) -> None:
    n, d = full.shape
    rows = np.flatnonzero(rng.random(n) < 0.5).astype(np.int64)
    weights: Array = rng.uniform(size=(len(rows),))
    v: Array = rng.normal(size=(d,))
    part = np.abs(full[rows])
    found = source.curvature(rows, weights, v)
    require_close(
        found,
        reference.curvature(full, rows, weights, v),
        part.T @ (weights * (part @ np.abs(v))),
        "curvature(rows, weights, v) is not the sum of weights[i] x_i <x_i, v>",
    )
    for twin in twins:
        require(
            np.array_equal(twin.curvature(rows, weights, v), found),
            f"{twin!r} gives another curvature than {source!r}: the number of threads must not matter.",
        )
    # A gram only serves as a preconditioner: single precision will do.
    lower = np.tril_indices(d)
    gram, expected = source.gram(rows, weights), reference.gram(full, rows, weights)
    require(gram.shape == (d, d), f"gram has the shape {gram.shape}; it must be {(d, d)}.")
    require_close(
        gram[lower],
        expected[lower],
        1e-5 / ROUNDING * np.asarray((part.T * weights) @ part)[lower],
        "the lower triangle of gram(rows, weights) is not that of the sum of weights[i] x_i x_i'",
    )


def _check_take(source: Source, full: Array, rng: np.random.Generator) -> None:
    n = len(full)
    choices: dict[str, NDArray[np.int64]] = {
        "some rows, shuffled": rng.permutation(n)[: max(1, n // 2)],
        "a row twice": np.array([0, n - 1, 0], dtype=np.int64),
        "no row": np.zeros(0, dtype=np.int64),
    }
    for name, rows in choices.items():
        try:
            check_source(source.take(rows), full[rows], taken=False)
            inner = np.arange(len(rows), dtype=np.int64)[::-2].copy()
            check_source(source.take(rows).take(inner), full[rows[inner]], taken=False)
        except AssertionError as error:
            raise AssertionError(f"take, {name}: {error}") from None
