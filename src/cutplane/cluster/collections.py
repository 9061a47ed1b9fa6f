"""Collections of Dask: arrays, data frames and lists of delayed partitions, as parts, and predictions of them."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cutplane.device.arrays import on_host, where_it_lies

if TYPE_CHECKING:
    from distributed import Client

# Of a worker's memory, what rows may take: the rest is for partitions on their way, and what a fit adds.
_OF_MEMORY = 0.4


def is_collection(values: object) -> bool:
    """Whether values lie in a collection of Dask, or in several partitions, delayed or as futures."""
    if "dask" not in sys.modules:
        return False
    from dask import is_dask_collection

    if isinstance(values, (list, tuple)):
        return len(values) > 0 and all(is_dask_collection(each) or _is_future(each) for each in values)
    return bool(is_dask_collection(values))


def _is_future(value: object) -> bool:
    return "distributed" in sys.modules and isinstance(value, sys.modules["distributed"].Future)


def columns_of(X: Any) -> list[str] | None:
    """The names of features, where the collection has some."""
    names = getattr(X, "columns", None)
    return None if names is None or not all(isinstance(name, str) for name in names) else list(names)


def the_client() -> Client:
    """The one that is in use."""
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "A Dask collection is trained on where its client is: there is none. "
            "client = dask.distributed.Client() starts a cluster on this machine."
        ) from None


def placed(client: Client, make: Callable[..., Any], X: Any, **beside: Any) -> list[Any]:
    """Futures of make(number, X, *beside) for each partition of X and of what is cut alike."""
    from dask import delayed

    blocks = _partitions("X", X)
    zipped = [blocks, *(_aligned(name, values, X, blocks) for name, values in beside.items())]
    share = math.ceil(len(blocks) / max(1, len(client.nthreads())))
    task = delayed(partial(_made, make, share), pure=False)
    return list(client.compute([task(number, *row) for number, row in enumerate(zip(*zipped, strict=True))]))


def _made(make: Callable[..., Any], share: int, *partition: Any) -> Any:
    """The examples of a partition, of which a worker has so many."""
    return where_it_fits(make(*partition), share)


def where_it_fits(part: Any, share: int) -> Any:
    """Examples in the memory of a worker, or on its disk where so many like these would not fit there."""
    from distributed import get_worker

    worker = get_worker()
    limit = worker.memory_manager.memory_limit
    crowded = limit is not None and share * part.nbytes > _OF_MEMORY * limit
    return part.on_disk(worker.local_directory) if crowded else part


def _partitions(name: str, values: Any) -> list[Any]:
    """The pieces of a collection, row after row."""
    if isinstance(values, (list, tuple)):
        return list(values)
    chunks = getattr(values, "chunks", None)
    if chunks is not None and len(chunks) > 1:
        if len(chunks[1]) > 1:
            values = values.rechunk({1: -1})
        return list(values.to_delayed().ravel())
    if not hasattr(values, "to_delayed"):
        raise ValueError(
            f"{name} is a {type(values).__name__}; Dask's arrays, data frames and delayed partitions are taken."
        )
    # Optimised apart, X and y of the same files would be put together from other numbers of these.
    return list(np.ravel(values.to_delayed(optimize_graph=False)))


def _aligned(name: str, values: Any, X: Any, blocks: Sequence[Any]) -> list[Any]:
    """What goes with the rows of X, cut as these are."""
    if values is None:
        return [None] * len(blocks)
    rows = _sizes(X)
    if not is_collection(values):
        return _cut(name, np.asarray(on_host(values)), rows)
    own = _sizes(values)
    if rows is not None and own is not None and rows != own and hasattr(values, "rechunk"):
        if sum(rows) != sum(own):
            raise ValueError(f"X has {sum(rows)} rows, but {name} has {sum(own)}.")
        values = values.rechunk((tuple(rows),))
    pieces = _partitions(name, values)
    if len(pieces) != len(blocks):
        raise ValueError(
            f"X has {len(blocks)} partitions, but {name} has {len(pieces)}; they must be cut at the same rows, as by "
            "repartition, rechunk or compute_chunk_sizes."
        )
    return pieces


def _sizes(values: Any) -> list[int] | None:
    """How many rows each partition has, where that is known."""
    chunks = getattr(values, "chunks", None)
    if chunks is None or any(math.isnan(size) for size in chunks[0]):
        return None
    return [int(size) for size in chunks[0]]


def _cut(name: str, values: Any, rows: list[int] | None) -> list[Any]:
    """An array of this process, in pieces."""
    if rows is None:
        raise ValueError(
            f"{name} lies in memory, and how many rows the partitions of X have is not known; make {name} a Dask "
            "collection with the same partitions, or call compute_chunk_sizes() of an array and "
            "to_dask_array(lengths=True) of a data frame."
        )
    if len(values) != sum(rows):
        raise ValueError(f"X has {sum(rows)} rows, but {name} has {len(values)}.")
    return np.split(values, np.cumsum(rows)[:-1])


def lazily(predict: Callable[[Any], Any], X: Any, features: int) -> Any:
    """What a function of rows gives of each partition: a collection like X, nothing of which is computed yet."""
    from dask import delayed

    if isinstance(X, (list, tuple)):
        return [delayed(predict)(each) for each in X]
    if X.shape[1] != features:
        raise ValueError(f"X has {X.shape[1]} features, but the model was trained with {features}.")
    # Names of features are held against those of the fit partition by partition.
    with warnings.catch_warnings(action="ignore"):
        example = np.asarray(predict(np.zeros((1, features))))[:0]
    each = _OfRows(predict, example)
    if hasattr(X, "map_blocks"):
        whole = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        meta = where_it_lies(whole._meta, example)
        if example.ndim == 1:
            return whole.map_blocks(each, dtype=example.dtype, drop_axis=1, meta=meta)
        return whole.map_blocks(each, dtype=example.dtype, chunks=(whole.chunks[0], (example.shape[1],)), meta=meta)
    if example.ndim == 1:
        return X.map_partitions(each.with_index, meta=(None, example.dtype))
    return X.map_partitions(each, meta=example)


def both_lazily(bounds: Callable[[Any], tuple[Any, Any]], X: Any, features: int) -> tuple[Any, Any]:
    """The same of a function that gives two arrays, which are computed together."""
    beside = partial(_side_by_side, bounds)
    whole = lazily(beside, X, features)
    columns = beside(np.zeros((1, features))).shape[1] // 2
    ends = (0, 1) if columns == 1 else (slice(None, columns), slice(columns, None))
    low, high = ([each[:, end] for each in whole] if isinstance(whole, list) else whole[:, end] for end in ends)
    return low, high


def _side_by_side(bounds: Callable[[Any], tuple[Any, Any]], rows: Any) -> Any:
    return np.column_stack(bounds(rows))


def of_partitions(judge: Callable[..., Any], X: Any, **beside: Any) -> list[Any]:
    """What judge(X, *beside) gives of each partition of X and of what is cut alike, computed where these lie."""
    from dask import compute, delayed

    blocks = _partitions("X", X)
    zipped = zip(blocks, *(_aligned(name, values, X, blocks) for name, values in beside.items()), strict=True)
    return list(compute(*(delayed(judge, pure=False)(*row) for row in zipped)))


class _OfRows:
    """A function of the rows of a partition, of which there may be none."""

    def __init__(self, predict: Callable[[Any], Any], example: Any) -> None:
        self._predict, self._example = predict, example

    def __call__(self, rows: Any) -> Any:
        return self._predict(rows) if rows.shape[0] else where_it_lies(rows, self._example)

    def with_index(self, rows: Any) -> Any:
        """The same, with the index of the rows."""
        pandas = sys.modules["pandas"]
        return pandas.Series(self(rows), index=rows.index)
