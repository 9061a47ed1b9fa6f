"""Sequences of tokens as one sparse matrix: features from dicts, lists of names, arrays or sparse rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane import _core
from cutplane._runtime.ranges import MOST
from cutplane._types import Integers, MatrixLike, is_sparse
from cutplane.structured.factored import Examples

Scalar = TypeVar("Scalar", bound=np.generic)
# A token with named features: their names, or a value for each.
Token = Mapping[str, object] | Collection[str]
# Sequences as users hand them over: a matrix with a row for each token, or tokens with named features.
Sequences = Sequence[MatrixLike] | Sequence[Sequence[Token]]


@dataclass(frozen=True)
class Tokens:
    """The tokens of all sequences, one after the other, with their features by row.

    Attributes
    ----------
    starts : array of shape (n_sequences + 1,)
        Where each sequence begins.
    indptr, indices, values : arrays
        The features of each token; `values` is None where all are 1.
    n_features : int
    """

    starts: Integers
    indptr: Integers
    indices: NDArray[np.int32]
    values: NDArray[np.float64] | None
    n_features: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def chains(self, n_labels: int) -> _core.Chains:
        """The sequences as the core takes them."""
        return _core.Chains(self.starts, self.indptr, self.indices, self.values, self.n_features, n_labels)

    def split(self, flat: NDArray[Scalar]) -> list[NDArray[Scalar]]:
        """What belongs to all tokens, by sequences."""
        return [flat[begin:end] for begin, end in zip(self.starts[:-1], self.starts[1:], strict=True)]


def tokens_from_matrices(X: Examples[MatrixLike], n_features: int) -> Tokens:
    """Sequences that are arrays or sparse matrices with a row for each token."""
    rows = []
    for index, x in enumerate(X):
        matrix = sp.csr_array(x) if is_sparse(x) else sp.csr_array(_as_rows(index, x))
        if matrix.shape[1] != n_features:
            raise ValueError(f"Sequence {index} has {matrix.shape[1]} features a token; {n_features} were expected.")
        bad = np.flatnonzero(~(np.abs(matrix.data) <= MOST))
        if len(bad):
            value = matrix.data[bad[0]]
            wanted = f"below {MOST:g} in size; scale the feature" if np.isfinite(value) else "finite"
            raise ValueError(
                f"Sequence {index} has the value {value} at feature {matrix.indices[bad[0]]}; every value must be "
                f"{wanted}."
            )
        rows.append(matrix)
    stacked = sp.vstack(rows, format="csr") if len(rows) != 1 else rows[0]
    values = stacked.data.astype(np.float64)
    return Tokens(
        _starts([matrix.shape[0] for matrix in rows]),
        stacked.indptr.astype(np.int64),
        stacked.indices.astype(np.int32),
        None if np.all(values == 1.0) else values,
        n_features,
    )


def _as_rows(index: int, x: MatrixLike) -> NDArray[np.float64]:
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"Sequence {index} is an array of shape {rows.shape}; one row for each token was expected.")
    return rows


def _starts(lengths: Iterable[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, np.int64))]).astype(np.int64)


class Vocabulary:
    """Numbers for named features, in the order they are first met.

    A token is a collection of names, or a dict: ``{"word": "the"}`` is the feature ``word=the``, ``{"capital": True}``
    the feature ``capital`` (False: nothing), ``{"length": 3}`` the feature ``length`` with the value 3.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def names(self) -> list[str]:
        """The features in order."""
        return list(self.numbers)

    def encode(self, X: Sequence[Sequence[Token]], *, grow: bool, n_threads: int = 0) -> Tokens:
        """The tokens of some sequences; names not known are learned, or else left out."""
        # Lists of names, the first that are learned: on all threads. Others one by one, with a sentence for bad ones.
        found = _core.number_tokens(X, n_threads) if grow and not self.numbers else None
        if found is not None:
            ends, indices, names = found
            self.numbers.update(zip(names, range(len(names)), strict=True))
            return Tokens(_starts(map(len, X)), ends, indices, None, max(1, len(names)))
        return self._encode_slowly(X, grow)

    def _encode_slowly(self, X: Sequence[Sequence[Token]], grow: bool) -> Tokens:
        indices: list[int] = []
        values: list[float] = []  # of the tokens up to the last with a value other than 1
        ends: list[int] = [0]
        numbers = self.numbers
        for index, sequence in enumerate(X):
            for position, token in enumerate(sequence):
                names, weights = _names_and_values(index, position, token)
                if not grow:
                    known = [place for place, name in enumerate(names) if name in numbers]
                    names = [names[place] for place in known]
                    weights = weights and [weights[place] for place in known]
                if weights is not None:
                    values += [1.0] * (len(indices) - len(values)) + weights
                indices += [numbers.setdefault(name, len(numbers)) for name in names]
                ends.append(len(indices))
        return Tokens(
            _starts(len(sequence) for sequence in X),
            np.array(ends, dtype=np.int64),
            np.array(indices, dtype=np.int32),
            np.array(values + [1.0] * (len(indices) - len(values)), dtype=np.float64) if values else None,
            max(1, len(numbers)),
        )


def _names_and_values(index: int, position: int, token: object) -> tuple[list[str], list[float] | None]:
    """The features of a token, and their values unless all are 1."""
    if isinstance(token, (list, tuple, set, frozenset)):
        for name in token:
            if not isinstance(name, str):
                raise ValueError(
                    f"Token {position} of sequence {index} has the feature {_shown(name)}; names are strings."
                )
        return list(token), None
    if isinstance(token, Mapping):
        found = _named_values(index, position, token)
        plain = all(value == 1.0 for _, value in found)
        return [name for name, _ in found], None if plain else [value for _, value in found]
    raise ValueError(
        f"Token {position} of sequence {index} is {_shown(token)}; a dict or a list of feature names was expected."
    )


def _named_values(index: int, position: int, token: Mapping[str, object]) -> list[tuple[str, float]]:
    found = []
    for name, value in token.items():
        if isinstance(value, str):
            found.append((f"{name}={value}", 1.0))
        elif isinstance(value, (bool, np.bool_)):
            if value:
                found.append((str(name), 1.0))
        elif isinstance(value, (int, float, np.number)) and abs(float(value)) <= MOST:
            found.append((str(name), float(value)))
        else:
            raise ValueError(
                f"Token {position} of sequence {index} has {_shown(value)} for the feature {name!r}; "
                f"a string, a truth value or a finite number below {MOST:g} in size was expected."
            )
    return found


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
