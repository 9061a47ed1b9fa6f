"""Checks of targets and queries, said in one sentence each."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane._runtime.warned import users_line
from cutplane.device.arrays import on_host, several_devices
from cutplane.risks.pairs import check_query_names

Codes = NDArray[np.int64]


def check_queries(qid: Any, n: int) -> NDArray[Any] | None:
    """The query of each example, as it was given; None where there is but one. That this was assumed is said."""
    if qid is None:
        warnings.warn(
            f"qid is None: all {n} examples are taken for one query, and each is compared with every other; "
            "qid=... names the query of each.",
            UserWarning,
            stacklevel=users_line(),
        )
        return None
    return check_named_queries(on_host(qid), n)


def check_named_queries(qid: ArrayLike, n: int) -> NDArray[Any]:
    """The query of each example, as it was given."""
    queries = np.asarray(qid)
    if queries.shape != (n,):
        raise ValueError(f"qid has shape {queries.shape}; it must name the query of each of the {n} examples.")
    if queries.dtype.kind == "f" and np.isnan(queries).any():
        raise ValueError(f"qid[{int(np.flatnonzero(np.isnan(queries))[0])}] is NaN; every example needs a query.")
    check_query_names(queries)
    return queries


def check_one_device(device: object) -> None:
    """Refuse several GPUs: pairs have their examples on one."""
    if several_devices(device) is not None:
        raise ValueError(
            f"device={device!r}: pairs are compared on one GPU, 'cuda'; whole queries lie on several with Dask."
        )


def no_pair(what: str, *, in_queries: bool) -> ValueError:
    """What is said where no two examples can be compared."""
    where = "in every query, y has" if in_queries else "y has"
    return ValueError(f"There is no pair to compare: {where} one {what} only (examples of weight 0 do not count).")


def check_several(n: int) -> None:
    """Refuse a single example."""
    if n == 1:
        raise ValueError("There is no pair to compare: n_samples=1; there must be at least two.")


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
