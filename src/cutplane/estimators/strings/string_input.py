"""Strings, labels and windows as users hand them over, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Labels
from cutplane.estimators.common.validation.input_kinds import plain_labels
from cutplane.io.strings import read_strings
from cutplane.sources.alphabet import Alphabet, as_alphabet
from cutplane.sources.packed import PackedStrings, StringCollection

# One string for each example, packed ones, or the path of a file of them.
StringsLike = Sequence[str | bytes] | NDArray[np.generic] | StringCollection | PathLike[str]


def as_strings(X: StringsLike, alphabet: str | Alphabet, *, n_threads: int) -> tuple[StringCollection, Labels | None]:
    """The strings, packed, and the labels that came with them."""
    if isinstance(X, PathLike):
        return read_strings(X, alphabet, n_threads=n_threads)
    if isinstance(X, (str, bytes)):
        raise ValueError(
            f"X={X[:40]!r} is one string; a list of strings, one for each example, is needed, or pathlib.Path(name) "
            "for a file of them."
        )
    if isinstance(X, StringCollection):
        if X.alphabet != as_alphabet(alphabet):
            wanted = as_alphabet(alphabet).letters
            raise ValueError(f"The strings are made of {X.alphabet.letters}, but alphabet={wanted!r}.")
        return X, getattr(X, "labels", None)
    return PackedStrings.pack(X, alphabet, n_threads=n_threads), None


def labels_for(strings: StringCollection, y: ArrayLike | None, X: StringsLike) -> Labels:
    """A label for each string; `ValueError` where there are none, or not as many."""
    if y is None:
        raise ValueError(f"There are no labels: {X if isinstance(X, PathLike) else 'the strings'} have none; give y.")
    labels = np.asarray(plain_labels(y))
    if labels.shape != (len(strings),):
        raise ValueError(f"y of shape {labels.shape} must have one label for each of {len(strings)} strings.")
    return labels


def windows_of(spectra: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of begin and end."""
    try:
        windows = list(spectra)
    except TypeError:
        raise ValueError(f"spectra={spectra!r} must be a sequence of windows, pairs of begin and end.") from None
    return [_window(window) for window in windows]


def _window(window: Iterable[int]) -> tuple[int, int]:
    try:
        begin, end = map(int, window)
    except (TypeError, ValueError):
        raise ValueError(f"spectra has {window!r}; windows are pairs of whole numbers, begin and end.") from None
    return begin, end
