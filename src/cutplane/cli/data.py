"""Files of examples and model files as the commands need them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cutplane.cli.tables import read_table, table_kind
from cutplane.estimators.restoring import restore
from cutplane.io.fasta import is_fasta
from cutplane.io.model_file import ModelFile, read_model
from cutplane.io.strings import read_strings
from cutplane.io.svmlight import SvmlightError, load_svmlight


class Examples(NamedTuple):
    """Examples, their labels, whether the file numbers its features from 0, where that is known, and their queries.

    Labels are numbers, or text in tables and in files of strings; of these, X is a `StringCollection`. Columns of
    tables have names.
    """

    X: Any
    y: NDArray[Any]
    zero_based: bool | None
    qid: NDArray[np.int64] | None = None
    names: list[str] | None = None

    def widened(self, expected: int, path: Path, whose: str, remedy: str = "") -> Examples:
        """With as many features as expected: a file need not mention the last ones, which are zero then."""
        found = self.X.shape[1]
        if found > expected or (found < expected and not sp.issparse(self.X)):
            raise ValueError(f"{path} has {found} features, but {whose} {expected}{remedy}.")
        if found < expected:
            self.X.resize((len(self.y), expected))
        return self

    def taken(self, rows: NDArray[np.int64]) -> Examples:
        """Some of them."""
        X = self.X.take(rows) if hasattr(self.X, "alphabet") else self.X[rows]
        return self._replace(X=X, y=self.y[rows], qid=None if self.qid is None else self.qid[rows])


class Sentences(NamedTuple):
    """The features of each token of each sentence, and the tokens' labels."""

    X: list[list[list[str]]]
    y: list[list[str]]
    zero_based: None = None
    qid: None = None

    def taken(self, rows: NDArray[np.int64]) -> Sentences:
        """Some of them."""
        return self._replace(X=[self.X[row] for row in rows], y=[self.y[row] for row in rows])


def read_data(
    path: Path,
    *,
    zero_based: bool | None,
    threads: int | None,
    n_features: int | None = None,
    target: str | None = None,
    quiet: bool = False,
) -> Examples:
    """Read a file; labels that are all whole numbers become integers."""
    if table_kind(path.name) is not None:
        return _read_columns(path, target)
    if target is not None:
        raise ValueError(f"--target is for Parquet and CSV files; {path} has neither's ending (.parquet, .csv, .tsv).")

    def load(zero_based: bool | None) -> Examples:
        base: bool | Literal["auto"] = "auto" if zero_based is None else zero_based
        data = load_svmlight(path, n_features=n_features, zero_based=base, n_jobs=threads)
        return Examples(data.X, whole_labels(data.y), zero_based, data.qid)

    if path.is_file() and is_fasta(path):
        raise ValueError(f"{path} is a FASTA file; --task strings learns from those.")
    with _spinner(f"reading {path}", quiet):
        if zero_based is not None or not path.is_file():
            return load(zero_based)
        # Not "auto", which a pipe has to do with: which it was must go into the model, for other files
        # to be read alike. A feature 0 is met early in a file that has one, so two readings cost little.
        try:
            return load(False)
        except SvmlightError as error:
            return _retry(load, error)


def _read_columns(path: Path, target: str | None) -> Examples:
    if target is None:
        raise ValueError(f"{path} is a table: --target names the column to learn.")
    X, y, names = read_table(path, target)
    assert y is not None
    return Examples(X, whole_labels(y), None, names=names)


def _retry(load: Callable[[bool | None], Examples], error: SvmlightError) -> Examples:
    """Read again with features from 0; if that is no better, the first error was the file's fault."""
    try:
        return load(True)
    except SvmlightError as second:
        got_further = (second.line or 0, second.column or 0) > (error.line or 0, error.column or 0)
        first = second if got_further else error
        if (first.line, first.column) == (1, 1):  # no label to begin with: another kind of file
            hint = "tokens are learned with --task sequence, columns of a .csv file with --target"
            raise SvmlightError(f"{str(first).rstrip('.')}; {hint}.", first.path, 1, 1) from None
        raise first from None


def read_fitted(path: Path) -> tuple[BaseEstimator, ModelFile]:
    """Return the estimator in a model file, and the file's own description."""
    file = read_model(path)
    return restore(file, path), file


def read_data_for(
    model: BaseEstimator,
    file: ModelFile,
    path: Path,
    *,
    zero_based: bool | None,
    threads: int | None,
    target: str | None = None,
    labelled: bool = True,
    ignore_unknown: bool | None = None,
) -> Examples:
    """Return the examples of a file with as many features as the model has.

    A file need not mention the last features, so missing ones are zero. One too many means that the
    file is not for this model, unless `ignore_unknown` leaves it out; None is for commands without that option.
    Tables need no target where labels are not looked at.
    """
    if hasattr(model, "alphabet"):
        strings, labels = read_strings(path, model.alphabet)
        if labels is None and labelled:
            raise ValueError(f"{path} has no labels; the first line of each entry needs 'label=...'.")
        return Examples(strings, np.zeros(len(strings)) if labels is None else labels, None)
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"A {type(model).__name__} takes no svmlight files; use it in Python.")
    if table_kind(path.name) is not None:
        return _read_columns_for(model, file, path, target, labelled)
    if zero_based is None:
        # A small file may not mention feature 0, so what the training file showed is better evidence.
        zero_based = _noted(file, "zero_based", bool)
    examples = read_data(path, zero_based=zero_based, threads=threads, target=target)
    if ignore_unknown and examples.X.shape[1] > model.n_features_in_:
        examples = examples._replace(X=examples.X[:, : model.n_features_in_])
    remedy = "" if ignore_unknown is None else "; --ignore-unknown leaves the others out"
    examples.widened(model.n_features_in_, path, "the model was trained with", remedy)
    if getattr(model, "kernel", None) == "precomputed":  # the kernel values with the examples trained on
        return examples._replace(X=examples.X.toarray())
    return examples


def _read_columns_for(
    model: BaseEstimator, file: ModelFile, path: Path, target: str | None, labelled: bool
) -> Examples:
    columns = _noted(file, "columns", list) or list(getattr(model, "feature_names_in_", ()))
    if not columns:
        raise ValueError(f"{path} is a table, but the model was trained on features without names.")
    wanted = target or _noted(file, "target", str)
    if labelled and wanted is None:
        raise ValueError(f"{path} is a table: --target names the column with the labels.")
    X, y, names = read_table(path, wanted if labelled else None, columns)
    return Examples(X, np.zeros(len(X)) if y is None else whole_labels(y), None, names=names)


_Kind = TypeVar("_Kind", bool, list[str], str)


def _noted(file: ModelFile, name: str, kind: type[_Kind]) -> _Kind | None:
    """What the model file knows of the file that it was trained on."""
    notes = file.metadata.get("notes")
    value = notes.get(name) if isinstance(notes, dict) else None
    return value if isinstance(value, kind) else None


def whole_labels(y: NDArray[Any]) -> NDArray[Any]:
    """`y` as integers where that loses nothing; text is left as it is."""
    if y.dtype.kind not in "fiu":
        return y
    whole = np.rint(y)
    # Past 2^53 neighbouring whole numbers are one and the same float64.
    return whole.astype(np.int64) if np.all((whole == y) & (np.abs(y) < 2**53)) else y


@contextmanager
def _spinner(text: str, quiet: bool) -> Iterator[None]:
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True, markup=False, highlight=False).status(text):
        yield
