"""Columns of data frames of pandas, Polars and Arrow: their names, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

# How types begin that pandas, Polars and Arrow call differently, in lower case.
_WORDS = ("object", "str", "utf8", "categor", "enum", "dictionary", "large_string", "binary", "large_binary")
_DATES = ("date", "timestamp", "time")
_SPANS = ("duration", "timedelta")
_NESTED = ("list", "large_list", "fixed_size_list", "array", "struct", "map")


class Column(NamedTuple):
    """A column: its name, and what it holds.

    `kind` is "O" for what may be words, "L" for lists and the like, else NumPy's letter where that is known.
    """

    name: object
    kind: str


def columns_of(values: object) -> list[Column]:
    """The columns of a data frame or a table; none of anything else."""
    return [Column(name, _kind(dtype)) for name, dtype in _typed_columns(values)]


def is_lazy(values: object) -> bool:
    """Whether it is a frame that is still to be computed: Polars' LazyFrame."""
    return hasattr(values, "collect_schema") and not hasattr(values, "to_numpy")


def entries(frame: Any, name: object) -> Iterable[object]:
    """The values of a column, as Python has them."""
    column = frame[name]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return getattr(column, method)()  # type: ignore[no-any-return]
    return column  # type: ignore[no-any-return]


def _typed_columns(values: object) -> list[tuple[object, object]]:
    dtypes, schema = getattr(values, "dtypes", None), getattr(values, "schema", None)
    if hasattr(dtypes, "items"):  # pandas
        return list(dtypes.items())  # type: ignore[union-attr]
    if hasattr(schema, "items"):  # Polars
        return list(schema.items())  # type: ignore[union-attr]
    if hasattr(schema, "names") and hasattr(schema, "types"):  # Arrow
        return list(zip(schema.names, schema.types, strict=True))  # type: ignore[union-attr]
    return []


def _kind(dtype: object) -> str:
    written = str(dtype).lower()
    for begins, kind in ((_WORDS, "O"), (_SPANS, "m"), (_DATES, "M"), (_NESTED, "L")):
        if written.startswith(begins):
            return kind
    known = getattr(dtype, "kind", "")
    return known if isinstance(known, str) else ""
