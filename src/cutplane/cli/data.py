"""svmlight files and model files as the commands need them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from rich.console import Console
from sklearn.base import BaseEstimator

from cutplane.estimators.restoring import restore
from cutplane.estimators.strings.string_svc import StringSVC
from cutplane.io.fasta import is_fasta
from cutplane.io.model_file import ModelFile, read_model
from cutplane.io.strings import read_strings
from cutplane.io.svmlight import SvmlightError, load_svmlight


class Examples(NamedTuple):
    """Examples, their labels, whether the file numbers its features from 0, where that is known, and their queries.

    Labels are numbers, or text in files of strings; there X is a `StringCollection`.
    """

    X: sp.csr_array
    y: NDArray[Any]
    zero_based: bool | None
    qid: NDArray[np.int64] | None = None


class Sentences(NamedTuple):
    """The features of each token of each sentence, and the tokens' labels."""

    X: list[list[list[str]]]
    y: list[list[str]]
    zero_based: None = None
    qid: None = None


def read_data(
    path: Path,
    *,
    zero_based: bool | None,
    threads: int | None,
    n_features: int | None = None,
    quiet: bool = False,
) -> Examples:
    """Read a file; labels that are all whole numbers become integers."""

    def load(zero_based: bool | None) -> Examples:
        base: bool | Literal["auto"] = "auto" if zero_based is None else zero_based
        data = load_svmlight(path, n_features=n_features, zero_based=base, n_jobs=threads)
        return Examples(data.X, whole_labels(data.y), zero_based, data.qid)

    if path.is_file() and is_fasta(path):
        raise ValueError(f"{path} is a FASTA file; 'cutplane train --task strings' learns from those.")
    with _spinner(f"reading {path}", quiet):
        if zero_based is not None or not path.is_file():
            return load(zero_based)
        # Not "auto", which a pipe has to do with: which it was must go into the model, for other files
        # to be read alike. A feature 0 is met early in a file that has one, so two readings cost little.
        try:
            return load(False)
        except SvmlightError as error:
            return _retry(load, error)


def _retry(load: Callable[[bool | None], Examples], error: SvmlightError) -> Examples:
    """Read again with features from 0; if that is no better, the first error was the file's fault."""
    try:
        return load(True)
    except SvmlightError as second:
        got_further = (second.line or 0, second.column or 0) > (error.line or 0, error.column or 0)
        raise (second if got_further else error) from None


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
) -> Examples:
    """Return the examples of a file with as many features as the model has.

    A file need not mention the last features, so missing ones are zero. One too many means that the
    file is not for this model.
    """
    if isinstance(model, StringSVC):
        strings, labels = read_strings(path, model.alphabet)
        return Examples(strings, np.zeros(len(strings)) if labels is None else labels, None)
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"A {type(model).__name__} takes no svmlight files; use it in Python.")
    if zero_based is None:
        # A small file may not mention feature 0, so what the training file showed is better evidence.
        zero_based = _noted_base(file)
    examples = read_data(path, zero_based=zero_based, threads=threads)
    found, expected = examples.X.shape[1], model.n_features_in_
    if found > expected:
        raise ValueError(f"{path} has {found} features, but the model was trained with {expected}.")
    examples.X.resize((len(examples.y), expected))
    if getattr(model, "kernel", None) == "precomputed":  # the kernel values with the examples trained on
        return examples._replace(X=examples.X.toarray())
    return examples


def _noted_base(file: ModelFile) -> bool | None:
    """Whether the features of the training file were numbered from 0, if the model file knows."""
    notes = file.metadata.get("notes")
    base = notes.get("zero_based") if isinstance(notes, dict) else None
    return base if isinstance(base, bool) else None


def whole_labels(y: NDArray[np.float64]) -> NDArray[np.number]:
    """`y` as integers where that loses nothing."""
    whole = np.rint(y)
    # Past 2^53 neighbouring whole numbers are one and the same float64.
    return whole.astype(np.int64) if np.all((whole == y) & (np.abs(y) < 2**53)) else y


@contextmanager
def _spinner(text: str, quiet: bool) -> Iterator[None]:
    if quiet or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True, markup=False, highlight=False).status(text):
        yield
