"""Files of examples, read by the workers of a cluster: Parquet, CSV and svmlight, wherever fsspec finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from cutplane.cli.tables import check_column, table_kind
from cutplane.cluster.collections import the_client
from cutplane.io.svmlight import load_svmlight

_READERS = {"parquet": "read_parquet", "csv": "read_csv", "tsv": "read_csv"}


def read_tables(pattern: str, target: str) -> tuple[Any, Any]:
    """The columns of all files but one, and that one: lazy collections."""
    import dask.dataframe
    import fsspec

    kind = table_kind(pattern)
    assert kind is not None
    if not fsspec.open_files(pattern):
        raise ValueError(f"No file is called {pattern}.")
    table = getattr(dask.dataframe, _READERS[kind])(pattern, **({"sep": "\t"} if kind == "tsv" else {}))
    check_column(pattern, target, [str(name) for name in table.columns])
    return table.drop(columns=[target]), table[target]


def read_svmlight(pattern: str, *, zero_based: bool, n_features: int | None) -> tuple[list[Any], list[Any]]:
    """A partition for each file: rows of equally many features, and labels."""
    import fsspec
    from dask import delayed

    files = fsspec.open_files(pattern, "rb")
    if not files:
        raise ValueError(f"No file is called {pattern}.")
    client = the_client()
    read = client.compute([delayed(_read, pure=False)(file, zero_based) for file in files])
    widths = client.gather(client.map(_width, read, pure=False))
    width = max(widths) if n_features is None else n_features
    rows = [delayed(_widened)(each, width) for each in read]
    return rows, [delayed(_labels)(each) for each in read]


def _read(file: Any, zero_based: bool) -> tuple[Any, Any]:
    with file as opened:
        data = load_svmlight(opened.read(), zero_based=zero_based)
    return data.X, data.y


def _width(read: tuple[Any, Any]) -> int:
    return int(read[0].shape[1])


def _widened(read: tuple[Any, Any], width: int) -> Any:
    X, _ = read
    if X.shape[1] > width:
        raise ValueError(f"A file has {X.shape[1]} features; --n-features says {width}.")
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width), copy=False)


def _labels(read: tuple[Any, Any]) -> Any:
    """Whole numbers as such, where all of a file are."""
    y = read[1]
    whole = np.rint(y)
    return whole.astype(np.int64) if np.array_equal(whole, y) and np.all(np.abs(y) < 2.0**53) else y
