"""Sources side by side."""

from __future__ import annotations

import itertools

import numpy as np

from cutplane.sources.base import Array, Extent, Rows, Source
from cutplane.sources.strings import StringSource


class Stacked(Source):
    """The features of several sources over the same examples, one source after the other.

    String features over the same strings share their passes: with weights that are scaled alike, a position of a
    string costs one lookup for all of them. Features scaled to length 1 one by one are scaled apart; the cheapest
    and the most even is to stack features that are not scaled (``normalize=False``) and to scale the whole.

    Parameters
    ----------
    *sources : Source
        Dense, CSR, strings, in any order.
    normalize : bool, default=False
        Whether the whole vector is scaled to length 1; for string features over the same strings alone.
    n_threads : int
        For string features; 0 leaves it to OpenMP.

    Examples
    --------
    >>> from cutplane.sources.packed import PackedStrings
    >>> from cutplane.sources.stacked import Stacked
    >>> from cutplane.sources.strings import Spectrum, WeightedDegree
    >>> dna = PackedStrings.pack(["ACGTACGT", "TTGTAAGT"])
    >>> left, right = Spectrum(dna, 2, window=(0, 3)), Spectrum(dna, 2, window=(5, 8))
    >>> Stacked(left, right, WeightedDegree(dna, 2)).shape
    (2, 184)
    """

    def __init__(self, *sources: Source, normalize: bool = False, n_threads: int = 0) -> None:
        if not sources:
            raise ValueError("Stacked() needs at least one source.")
        sizes = [source.shape[0] for source in sources]
        if len(set(sizes)) > 1:
            raise ValueError(f"Sources of {', '.join(map(str, sizes))} examples cannot be stacked; all need as many.")
        ends = list(itertools.accumulate(source.shape[1] for source in sources))
        self._shape = sizes[0], ends[-1]
        self._places: list[tuple[Source, list[slice]]] = []
        shared: dict[int, list[int]] = {}
        for k, source in enumerate(sources):
            key = id(source.strings) if isinstance(source, StringSource) and not source.normalize else -1 - k
            shared.setdefault(key, []).append(k)
        for members in shared.values():
            slices = [slice(ends[k] - sources[k].shape[1], ends[k]) for k in members]
            self._places.append((_joined([sources[k] for k in members], normalize, n_threads), _merged(slices)))
        if normalize and (len(self._places) > 1 or not isinstance(self._places[0][0], StringSource)):
            raise ValueError("normalize=True scales string features over the same strings; these are other sources.")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features."""
        return self._shape

    @property
    def extent(self) -> Extent:
        """All parts together."""
        each = [source.extent for source, _ in self._places]
        reach = float(np.sqrt(sum(part.reach**2 for part in each))) * (1.0 + 1e-9)
        return Extent(reach, sum(part.row_depth + 1 for part in each), max(part.sum_depth for part in each))

    def scores(self, w: Array) -> Array:
        """X @ w."""
        parts = [source.scores(_of(w, slices)) for source, slices in self._places]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def combine(self, coef: Array) -> Array:
        """X.T @ coef."""
        if len(self._places) == 1 and len(self._places[0][1]) == 1:
            return self._places[0][0].combine(coef)
        total = np.empty((self._shape[1], *coef.shape[1:]))
        for source, slices in self._places:
            part, start = source.combine(coef), 0
            for place in slices:
                size = place.stop - place.start
                total[place] = part[start : start + size]
                start += size
        return total

    def take(self, rows: Rows) -> Stacked:
        """The source over some examples."""
        part = object.__new__(Stacked)
        part._shape = len(rows), self._shape[1]
        part._places = [(source.take(rows), slices) for source, slices in self._places]
        return part


def _joined(members: list[Source], normalize: bool, n_threads: int) -> Source:
    """One source for string features over the same strings."""
    first = members[0]
    if not isinstance(first, StringSource) or (len(members) == 1 and not normalize):
        return first
    parts = [part for member in members if isinstance(member, StringSource) for part in member.parts]
    return StringSource(first.strings, parts, normalize=normalize, n_threads=n_threads)


def _merged(slices: list[slice]) -> list[slice]:
    """Neighbours as one."""
    result: list[slice] = []
    for place in slices:
        if result and result[-1].stop == place.start:
            result[-1] = slice(result[-1].start, place.stop)
        else:
            result.append(place)
    return result


def _of(w: Array, slices: list[slice]) -> Array:
    if len(slices) == 1:
        return np.ascontiguousarray(w[slices[0]])
    return np.concatenate([w[place] for place in slices])
