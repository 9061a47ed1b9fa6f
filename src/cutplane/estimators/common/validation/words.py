"""Words where numbers are needed: names of files, texts, categories."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from os import PathLike
from typing import Any

import numpy as np

from cutplane.estimators.common.validation.frames import columns_of, entries

READ_ROWS = (
    "cutplane.io.svmlight.load_svmlight(path) reads a file in LIBSVM's format into X and y, "
    "cutplane.sources.MappedSource(cutplane.sources.open_rows(path)) one of NumPy or Parquet block by block, and "
    "`cutplane train` takes the file itself"
)
MAKE_EXAMPLES = "a list or an array of examples is needed"
_READ_SEQUENCES = (
    "cutplane.io.conll.read_tokens(path) reads sentences of tokens, and `cutplane train --task sequence` takes the "
    "file itself"
)


def check_no_file_name(name: str, values: object, instead: str = READ_ROWS) -> None:
    """Refuse one word, or a path, for values: it is a file's name."""
    if isinstance(values, (str, bytes, PathLike)):
        shown = repr(str(values) if isinstance(values, PathLike) else values[:80])
        raise ValueError(f"{name}={shown} is a word or the name of a file, which is not read here; {instead}.")


def check_listed_sequences(X: object) -> None:
    """Refuse the name of a file, and texts in the place of lists of tokens."""
    check_no_file_name("X", X, _READ_SEQUENCES)
    check_listed("X", X)
    tokens: dict[bool, int] = {}  # where sequences are arrays, and where they are lists
    for index, sequence in enumerate(X if isinstance(X, Iterable) else ()):
        if isinstance(sequence, (str, bytes)) or not (isinstance(sequence, Sized) or hasattr(sequence, "shape")):
            raise ValueError(
                f"X[{index}] is {sequence!r:.60}; a sequence is a list of tokens, each a dict or a list of names of "
                "features, or an array with a row for each token."
            )
        shape: tuple[int, ...] = getattr(sequence, "shape", ())
        numeric = getattr(getattr(sequence, "dtype", None), "kind", "O") in "biuf"
        if numeric and len(shape) != 2:
            raise ValueError(
                f"X[{index}] is an array of shape {shape}; one with a row of features for each token is needed, "
                "reshape(-1, 1) makes one of a single feature."
            )
        if not numeric and not len(sequence):
            continue
        tokens.setdefault(numeric, index)
        if len(tokens) > 1:
            raise ValueError(
                f"X[{tokens[True]}] is an array of numbers and X[{tokens[False]}] a list of tokens with named "
                "features; all sequences must be of one kind."
            )


def check_listed(name: str, values: object) -> None:
    """Refuse what can be gone through once only, or has no length."""
    if values is not None and not isinstance(values, Sized):
        raise ValueError(f"{name} is a {type(values).__name__}, which has no length; a list is needed: list({name}).")


def check_words(X: object) -> None:
    """Name the first value of a data frame, a list or an array that is a word and no number."""
    for name, kind in columns_of(X):
        if kind == "O":
            for row, value in enumerate(entries(X, name)):
                if not _is_number(value):
                    raise ValueError(
                        f"Column {name!r} of X has the value {value!r} in row {row}; features must be numbers, and "
                        "scikit-learn's OneHotEncoder makes numbers of words."
                    )
    _check_listed(X)


def _check_listed(X: object) -> None:
    """The same without names of columns; one word for each example is taken for its text."""
    examples: Any = X if _may_hold_words(X) else ()
    for row, example in enumerate(examples):
        if isinstance(example, (str, bytes)) and not _is_number(example):
            raise ValueError(
                f"X[{row}] is {example[:40]!r}, a text; features must be numbers, and scikit-learn's TfidfVectorizer "
                "makes numbers of texts. StringSVC takes strings of letters of an alphabet as they are."
            )
        for column, value in enumerate(example if isinstance(example, (list, tuple, np.ndarray)) else ()):
            if isinstance(value, (str, bytes)) and not _is_number(value):
                raise ValueError(
                    f"Row {row} of X has the value {value[:40]!r} in column {column}; features must be numbers, and "
                    "scikit-learn's OneHotEncoder makes numbers of words."
                )


def _may_hold_words(X: object) -> bool:
    """Whether the values need a look one by one: those of an array are numbers by their type, mostly."""
    if isinstance(X, (list, tuple)):
        try:
            X = np.asarray(X)
        except (TypeError, ValueError, OverflowError):  # of several lengths, say: scikit-learn says it well
            return False
    return isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and X.ndim > 0


def _is_number(value: object) -> bool:
    if value is None:  # missing, which is another matter than a word
        return True
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True
