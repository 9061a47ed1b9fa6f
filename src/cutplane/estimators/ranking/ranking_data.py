"""Checks of targets and queries, said in one sentence each."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane._runtime.warned import users_line
from cutplane.risks.pairs import dense_codes

Codes = NDArray[np.int64]


def check_queries(qid: ArrayLike | None, n: int) -> Codes | None:
    """The query of each example as a number; None where there is but one. That this was assumed is said."""
    if qid is None:
        warnings.warn(
            f"qid is None: all {n} examples are taken for one query, and each is compared with every other; "
            "qid=... names the query of each.",
            UserWarning,
            stacklevel=users_line(),
        )
        return None
    return dense_codes(check_named_queries(qid, n))


def check_named_queries(qid: ArrayLike, n: int) -> NDArray[Any]:
    """The query of each example, as it was given."""
    queries = np.asarray(qid)
    if queries.shape != (n,):
        raise ValueError(f"qid has shape {queries.shape}; it must name the query of each of the {n} examples.")
    if queries.dtype.kind == "f" and np.isnan(queries).any():
        raise ValueError(f"qid[{int(np.flatnonzero(np.isnan(queries))[0])}] is NaN; every example needs a query.")
    return queries


def check_pairs(
    y: NDArray[np.float64], queries: Codes | None, weights: NDArray[np.float64] | None, what: str = "target"
) -> None:
    """At least two targets to compare; queries without are ignored, and that is said once."""
    if len(y) == 1:
        raise ValueError("There is no pair to compare: n_samples=1; there must be at least two.")
    counted = np.ones(len(y), dtype=bool) if weights is None else weights > 0.0
    groups = np.zeros(int(counted.sum()), dtype=np.int64) if queries is None else queries[counted]
    count = int(groups.max(initial=-1)) + 1
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, groups, y[counted])
    np.maximum.at(most, groups, y[counted])
    present = np.isfinite(least)
    comparable = int(np.count_nonzero(least[present] < most[present]))
    if not comparable:
        where = "y has" if queries is None else "in every query, y has"
        raise ValueError(f"There is no pair to compare: {where} one {what} only (examples of weight 0 do not count).")
    all_of_them = int(np.count_nonzero(present))
    warn_of_ignored(all_of_them - comparable, all_of_them)


def warn_of_ignored(ignored: int, queries: int) -> None:
    """Say that some queries have no pair."""
    if ignored:
        warnings.warn(
            f"{ignored} of {queries} queries have one target only and so no pair to learn from; they are ignored.",
            UserWarning,
            stacklevel=users_line(),
        )


def check_compared(pairs: ArrayLike, n: int) -> Codes:
    """Two rows to compare for each pair."""
    found = np.asarray(pairs)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(f"pairs has shape {found.shape} and dtype {found.dtype}; it must be rows of X, two for each.")
    if found.size and not (found.min() >= 0 and found.max() < n):
        raise ValueError(f"pairs names row {found.max() if found.max() >= n else found.min()}, but X has {n} rows.")
    return found.astype(np.int64)
