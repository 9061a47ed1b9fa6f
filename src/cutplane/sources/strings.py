"""String features computed on demand: spectrum and weighted degree, never as a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cutplane import _core
from cutplane.sources.alphabet import DNA, Alphabet
from cutplane.sources.base import Array, Extent, Rows, Source
from cutplane.sources.packed import StringCollection, StringsLike, as_strings

_LARGEST_TABLE = 1 << 24
_LONGEST = 65535


def degree_weights(order: int, depth: int | None = None) -> Array:
    """Shogun's weights of the weighted-degree kernel: of k-mers of order k, 2 (D - k + 1) / (D (D + 1)), D the depth.

    Parameters
    ----------
    order : int
        Weights of orders 1 to `order` are given.
    depth : int, optional
        The order of the kernel whose first weights they are; `order` unless given. Franc and Sonnenburg use the
        first 8 of depth 40.
    """
    deepest = order if depth is None else depth
    if not 1 <= order <= deepest:
        raise ValueError(f"order={order} and depth={depth} must be at least 1, the order not above the depth.")
    k = np.arange(1, order + 1)
    return np.asarray(2.0 * (deepest - k + 1) / (deepest * (deepest + 1)))


@dataclass(frozen=True)
class StringPart:
    """One kind of features of strings: all k-mers of orders 1 to len(weights) in a window.

    Attributes
    ----------
    positional : bool
        Whether the same k-mer at another position is another feature (weighted degree) or not (spectrum).
    begin, end : int
        The window: letters from `begin` up to `end`, which is not included.
    weights : tuple of float
        Of orders 1, 2, ... in the kernel: a feature of order k counts sqrt(weights[k - 1]).
    normalize : bool
        Whether the vector of these features is scaled to length 1.
    """

    positional: bool
    begin: int
    end: int
    weights: tuple[float, ...]
    normalize: bool = True

    @property
    def values(self) -> list[float]:
        """Of a feature, by order."""
        return [float(np.sqrt(weight)) for weight in self.weights]

    def dimension(self, alphabet: int) -> int:
        """How many features these are."""
        if not self.positional:
            return sum(alphabet**k for k in range(1, len(self.weights) + 1))
        return sum(
            alphabet**k * max(0, self.end - self.begin - k + 1)  # where a k-mer fits in
            for k in range(1, len(self.weights) + 1)
        )


def string_part(
    positional: bool,
    strings_length: int,
    alphabet: int,
    order: int,
    window: tuple[int, int] | None,
    weights: ArrayLike | None,
    normalize: bool,
) -> StringPart:
    """A part with its parameters checked."""
    begin, end = (0, strings_length) if window is None else window
    if not 0 <= begin < end <= strings_length:
        raise ValueError(f"window={window} must lie within the {strings_length} letters of a string.")
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 1:
        raise ValueError(f"order={order!r} must be an integer greater than 0.")
    if order > end - begin:
        raise ValueError(f"order={order} is longer than the window of {end - begin} letters.")
    if alphabet ** int(order) > _LARGEST_TABLE:
        raise ValueError(
            f"order={order} with {alphabet} letters makes {alphabet ** int(order):.1e} k-mers; at most "
            f"{_LARGEST_TABLE:.1e} are possible: lower the order."
        )
    if strings_length > _LONGEST:
        raise ValueError(f"Strings of {strings_length} letters are too long; at most {_LONGEST} are possible.")
    given = degree_weights(int(order)) if weights is None else np.asarray(weights, np.float64)
    if given.shape != (order,) or not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise ValueError(f"weights={weights!r} must be {order} finite numbers, 0 or greater, not all 0.")
    return StringPart(positional, int(begin), int(end), tuple(given.tolist()), bool(normalize))


class StringSource(Source):
    """Features of strings, computed as they are needed.

    k-mers with an unknown letter (N in DNA) are features of no string: neither counted nor part of its length.

    Parameters
    ----------
    strings : StringCollection
    parts : sequence of StringPart
    normalize : bool
        Whether the vector of all features is scaled to length 1.
    n_threads : int
        0 leaves it to OpenMP.
    """

    def __init__(
        self,
        strings: StringCollection,
        parts: Sequence[StringPart],
        *,
        normalize: bool = False,
        n_threads: int = 0,
        scales: list[Array | None] | None = None,
    ) -> None:
        self.strings = strings
        self.parts = tuple(parts)
        self.normalize = normalize
        self.n_threads = n_threads
        self.features, self.scales = _scaled(strings, self.parts, normalize, scales, n_threads)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of strings and features."""
        return len(self.strings), self.features.dimension

    @property
    def extent(self) -> Extent:
        """No k-mer of an order occurs more often than there are places for it."""
        extent = string_extent(self.parts, normalize=self.normalize)
        return extent._replace(sum_depth=len(self.strings) + extent.row_depth)

    @property
    def lookups(self) -> int:
        """Table lookups that the scores of one string take."""
        return self.features.lookups

    def scores(self, w: Array) -> Array:
        """X @ w: weights collapsed into tables, one lookup per position."""
        if w.ndim == 2:
            return _columns(w, self.scores, len(self.strings))
        w = np.ascontiguousarray(w)
        tables = self.features.collapse(w, self.n_threads)
        out = np.empty(len(self.strings))
        for start, chunk in self.strings.chunks():
            part = slice(start, start + len(chunk))
            self.features.scores(chunk.core, tables, w, self._scales_of(part), out[part], self.n_threads)
        return out

    def combine(self, coef: Array) -> Array:
        """X.T @ coef: one histogram of k-mers per position, expanded to all orders."""
        if coef.ndim == 2:
            return _columns(coef, self.combine, self.shape[1])
        n, rows = len(self.strings), _core.nonzero(np.ascontiguousarray(coef), self.n_threads)
        if 2 * len(rows) > n:
            rows = np.arange(n)
        total: Array | None = None
        for chosen, chunk in self.strings.gathered(rows, n_threads=self.n_threads):
            weights = coef if len(chosen) == n else coef[chosen]
            scales = self.scales if len(chosen) == n else self._scales_of(chosen)
            part = self.features.combine(chunk.core, np.ascontiguousarray(weights), scales, self.n_threads)
            if total is None:
                total = part
            else:
                total += part
        return np.zeros(self.shape[1]) if total is None else total

    def take(self, rows: Rows) -> StringSource:
        """The source over some strings, packed anew."""
        strings = self.strings.take(rows, n_threads=self.n_threads)
        scales = self._scales_of(rows)
        return StringSource(strings, self.parts, normalize=self.normalize, n_threads=self.n_threads, scales=scales)

    def _scales_of(self, part: slice | Rows) -> list[Array | None]:
        return [None if scale is None else np.ascontiguousarray(scale[part]) for scale in self.scales]


class Spectrum(StringSource):
    """Weighted spectrum: how often each k-mer of orders 1 to `order` occurs in a window.

    Parameters
    ----------
    strings : PackedStrings, list of str or bytes, or array
        All of one length.
    order : int, default=8
        The longest k-mers.
    window : (int, int), optional
        The letters looked at, from the first up to the last, which is not included; all unless given.
    weights : array of shape (order,), optional
        Of the orders in the kernel; `degree_weights(order)` unless given.
    normalize : bool, default=True
        Whether feature vectors are scaled to length 1.
    alphabet : str or Alphabet
        Where `strings` are not packed yet.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.sources.strings import Spectrum
    >>> source = Spectrum(["ACGA", "TTTT"], order=1, normalize=False)
    >>> source.scores(np.array([1.0, 0.0, 0.0, 10.0]))  # A counts 1, T counts 10
    array([ 2., 40.])
    """

    def __init__(
        self,
        strings: StringsLike,
        order: int = 8,
        *,
        window: tuple[int, int] | None = None,
        weights: ArrayLike | None = None,
        normalize: bool = True,
        alphabet: str | Alphabet = DNA,
        n_threads: int = 0,
    ) -> None:
        packed = as_strings(strings, alphabet, n_threads=n_threads)
        part = string_part(False, packed.length, packed.alphabet.size, order, window, weights, normalize)
        super().__init__(packed, [part], n_threads=n_threads)


class WeightedDegree(StringSource):
    """Weighted degree: which k-mer of each order 1 to `order` stands at each position of a window.

    Parameters
    ----------
    strings, order, window, weights, normalize, alphabet, n_threads
        As in `Spectrum`.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.sources.strings import WeightedDegree
    >>> source = WeightedDegree(["ACGT", "AAAA"], order=3)
    >>> source.shape  # 4 positions of 4 letters, 3 of 16 pairs, 2 of 64 triples
    (2, 192)
    """

    def __init__(
        self,
        strings: StringsLike,
        order: int = 8,
        *,
        window: tuple[int, int] | None = None,
        weights: ArrayLike | None = None,
        normalize: bool = True,
        alphabet: str | Alphabet = DNA,
        n_threads: int = 0,
    ) -> None:
        packed = as_strings(strings, alphabet, n_threads=n_threads)
        part = string_part(True, packed.length, packed.alphabet.size, order, window, weights, normalize)
        super().__init__(packed, [part], n_threads=n_threads)


def string_extent(parts: Sequence[StringPart], *, normalize: bool) -> Extent:
    """What rounding in passes is charged by, but for sums over strings; `normalize`: the whole is scaled."""
    places = [(part, part.end - part.begin) for part in parts]
    squares = [1.0 if part.normalize else (sum(part.values) * length) ** 2 for part, length in places]
    reach = 1.0 if normalize else float(np.sqrt(sum(squares)))
    depth = sum(len(part.weights) * (length + 1) for part, length in places)
    return Extent(reach * (1.0 + 1e-9), depth + 8, 0)


def _columns(vectors: Array, function: Callable[[Array], Array], size: int) -> Array:
    """A product with a matrix, column by column."""
    result = np.empty((size, vectors.shape[1]))
    for k in range(vectors.shape[1]):
        result[:, k] = function(np.ascontiguousarray(vectors[:, k]))
    return result


def _scaled(
    strings: StringCollection,
    parts: Sequence[StringPart],
    normalize: bool,
    scales: list[Array | None] | None,
    n_threads: int,
) -> tuple[_core.StringFeatures, list[Array | None]]:
    """The features in groups that are scaled alike, and each group's factor for every string.

    Where every string has the same factor it goes into the features' values, and the group is shared.
    """
    groups, values = _groups(strings, parts)
    numbers = {group: number for number, group in enumerate(sorted(set(groups)))}
    described = [
        (part.positional, part.begin, part.end, values[k].tolist(), numbers[groups[k]]) for k, part in enumerate(parts)
    ]
    features = _core.StringFeatures(strings.alphabet.size, strings.length, described)
    if scales is not None:
        return features, scales
    lengths = {g: _squared_lengths(strings, features, numbers[g], n_threads) for g in numbers if g or normalize}
    found = [_inverse_root(lengths[group]) if group else None for group in sorted(numbers)]
    return features, _of_length_one([lengths[group] for group in sorted(numbers)], found) if normalize else found


def _groups(strings: StringCollection, parts: Sequence[StringPart]) -> tuple[list[int], list[Array]]:
    """For each part the group that it is scaled with, 0 where its factor is in its values, and these values."""
    values = [np.array(part.values) for part in parts]
    groups = [k + 1 if part.normalize else 0 for k, part in enumerate(parts)]
    for k, part in enumerate(parts):
        # Without unknown letters every string has as many k-mers at fixed positions.
        if part.normalize and part.positional and not strings.has_unknown:
            fits = part.end - part.begin - np.arange(len(values[k]))
            values[k] = values[k] / np.sqrt(fits @ values[k] ** 2)
            groups[k] = 0
    return groups, values


def _of_length_one(lengths: list[Array], scales: list[Array | None]) -> list[Array | None]:
    """The factors of the groups with which whole feature vectors have the length 1."""
    whole = np.zeros_like(lengths[0])
    for squares, scale in zip(lengths, scales, strict=True):
        whole += squares if scale is None else squares * scale**2
    factor = _inverse_root(whole)
    return [factor if scale is None else factor * scale for scale in scales]


def _squared_lengths(strings: StringCollection, features: _core.StringFeatures, group: int, n_threads: int) -> Array:
    return np.concatenate([features.squared_lengths(chunk.core, group, n_threads) for _, chunk in strings.chunks()])


def _inverse_root(squares: Array) -> Array:
    """1 / sqrt, and 0 for a string without features."""
    result = np.zeros_like(squares)
    np.divide(1.0, np.sqrt(squares), out=result, where=squares > 0.0)
    return result
