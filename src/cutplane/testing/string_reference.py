"""String features from their definition, as a dense matrix: what the compiled passes are compared with."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cutplane.sources.alphabet import Alphabet
from cutplane.sources.strings import StringPart

Array = NDArray[np.float64]


def string_features(
    strings: Sequence[str], parts: Sequence[StringPart], alphabet: Alphabet, *, normalize: bool = False
) -> Array:
    """One row per string, one column per k-mer (and position): in the order of `StringSource`'s weights."""
    columns = [_columns(part, alphabet) for part in parts]
    blocks = []
    for part, names in zip(parts, columns, strict=True):
        block = np.zeros((len(strings), len(names)))
        for i, text in enumerate(strings):
            for p in range(part.begin, part.end):
                for k in range(1, min(len(part.weights), part.end - p) + 1):
                    name = (p if part.positional else None, text[p : p + k])
                    if name in names:  # else it has an unknown letter
                        block[i, names[name]] += np.sqrt(part.weights[k - 1])
        blocks.append(_unit(block) if part.normalize else block)
    whole = np.hstack(blocks)
    return _unit(whole) if normalize else whole


def _columns(part: StringPart, alphabet: Alphabet) -> dict[tuple[int | None, str], int]:
    names: list[tuple[int | None, str]] = []
    for p in range(part.begin, part.end) if part.positional else [None]:
        depth = len(part.weights) if p is None else min(len(part.weights), part.end - p)
        for k in range(1, depth + 1):
            names += [(p, "".join(kmer)) for kmer in itertools.product(alphabet.letters, repeat=k)]
    return {name: column for column, name in enumerate(names)}


def _unit(rows: Array) -> Array:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))
