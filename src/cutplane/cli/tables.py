"""Parquet and CSV files: columns with names, one of which is the target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv"}
_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")


class Table(NamedTuple):
    """The columns of a file as numbers, their names, and the target where it was asked for."""

    X: NDArray[np.float64]
    y: NDArray[Any] | None
    names: list[str]


def table_kind(name: str) -> str | None:
    """ "parquet", "csv" or "tsv", by the ending of the name without that of a compression; None for other files."""
    plain = name.rstrip("/").lower()
    for compressed in _COMPRESSIONS:
        plain = plain.removesuffix(compressed)
    return _KINDS.get(plain[plain.rfind(".") :] if "." in plain else "")


def check_column(name: str, target: str, columns: Sequence[str]) -> None:
    """Refuse a name that no column has, or several."""
    if target not in columns:
        known = ", ".join(columns[:20]) + (" and more" if len(columns) > 20 else "")
        raise ValueError(f"{name} has no column {target!r}; its columns are {known}.")
    if columns.count(target) > 1:
        raise ValueError(f"{name} has {columns.count(target)} columns named {target!r}; give each a name of its own.")


def not_utf8(path: Path) -> ValueError:
    """The sentence about text in another encoding."""
    return ValueError(f"{path} is not UTF-8 text; convert it first: iconv -f latin1 -t utf-8 {path} > FILE.")


def read_table(path: Path, target: str | None, features: list[str] | None = None) -> Table:
    """Read a file; `features` are the columns wanted, in that order, and all but the target unless given."""
    try:
        return _columns(path, _load(path), target, features)
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def _columns(path: Path, table: Any, target: str | None, features: list[str] | None) -> Table:
    if target is not None:
        check_column(str(path), target, table.column_names)
    names = [name for name in table.column_names if name != target] if features is None else features
    for name in names:
        check_column(str(path), name, table.column_names)
    columns = [_numbers(path, name, table.column(name)) for name in names]
    if not columns:
        raise ValueError(f"{path} has no column but {target!r}, which leaves no features.")
    y = None if target is None else np.asarray(table.column(target).to_numpy())
    if y is not None and table.column(target).null_count:
        raise ValueError(f"{path}: the column {target!r} has {table.column(target).null_count:,} rows without a value.")
    return Table(np.column_stack(columns), y if y is None or y.dtype != object else y.astype(str), names)


def _load(path: Path) -> Any:
    try:
        from pyarrow import ArrowInvalid, csv, parquet
    except ImportError:
        raise ValueError(f"To read {path}, pyarrow is needed: pip install pyarrow.") from None
    kind = table_kind(path.name)
    try:
        if kind == "parquet":
            return parquet.read_table(path)
        return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t" if kind == "tsv" else ","))
    except ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read: {str(error).splitlines()[0]}.") from None


def _numbers(path: Path, name: str, column: Any) -> NDArray[np.float64]:
    import pyarrow.types as types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise ValueError(f"{path}: the column {name!r} has {kind} values; features are numbers.")
    if column.null_count:
        raise ValueError(f"{path}: the column {name!r} has {column.null_count:,} rows without a value.")
    return np.asarray(column.to_numpy(), dtype=np.float64)
