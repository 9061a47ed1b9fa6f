"""Every window of a long text scored on a device: the text goes there once, and what scores high comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.device.kernels import Array, DeviceArray, Kernels
from cutplane.device.string_kernels import LONGEST_MEASURED, DeviceStrings, LayoutThere
from cutplane.device.string_layout import string_layout
from cutplane.device.string_source import StringRows, scales_of
from cutplane.sources.alphabet import Alphabet
from cutplane.sources.strings import StringPart
from cutplane.sources.windows import motif_codes, refuse_letter

# Windows that are looked at together: their scores are 256 MB.
_AT_ONCE = 1 << 25
_UNKNOWN, _INVALID = 254, 255


class WindowHits(NamedTuple):
    """The windows of a text that score more than a threshold.

    Attributes
    ----------
    begins : array of int64
        Where they begin in the text, ascending.
    scores : array
    looked_at : int
        Windows with the motif.
    highest : float
        The highest score of these; -inf where there is none.
    """

    begins: NDArray[np.int64]
    scores: Array
    looked_at: int
    highest: float


class WindowScores:
    """The weights of a model of strings, for windows of texts on a device.

    Parameters
    ----------
    kernels : Kernels
    alphabet : Alphabet
    length : int
        Letters of a window.
    parts : sequence of StringPart
    w : array
    intercept : float
    normalize : bool
        Whether feature vectors are scaled to length 1.
    """

    def __init__(
        self,
        kernels: Kernels,
        alphabet: Alphabet,
        length: int,
        parts: Sequence[StringPart],
        w: Array,
        intercept: float,
        *,
        normalize: bool,
    ) -> None:
        if normalize and length > LONGEST_MEASURED:
            raise ValueError(
                f"Windows of {length} letters are measured by the processor; on a GPU at most {LONGEST_MEASURED} are."
            )
        self._kernels, self._alphabet, self._length = kernels, alphabet, length
        self._layout = LayoutThere.on(string_layout(alphabet.size, length, parts), kernels.to_device)
        self._w = kernels.to_device(np.ascontiguousarray(w, np.float64))
        self._intercept, self._normalize = intercept, normalize

    def codes(self, text: bytes) -> DeviceArray:
        """The letters of a text as codes, on the device; `ValueError` where one is none of the alphabet's."""
        letters = np.frombuffer(text, np.uint8)
        there = self._replaced(self._kernels.to_device(letters), self._alphabet.codes)
        wrong = self._kernels.xp.flatnonzero(there == _INVALID)
        if len(wrong):
            refuse_letter(letters, int(wrong[0]), self._alphabet)
        return there

    def _replaced(self, codes: DeviceArray, by: NDArray[np.uint8]) -> DeviceArray:
        """Bytes by others, a stretch at a time: as positions in a table they take more room."""
        table, found = self._kernels.to_device(by), self._kernels.xp.empty_like(codes)
        for start in range(0, len(codes), _AT_ONCE):
            found[start : start + _AT_ONCE] = table[codes[start : start + _AT_ONCE]]
        return found

    def opposite(self, codes: DeviceArray) -> DeviceArray:
        """The other strand, as it is read; `ValueError` where the alphabet has none."""
        return self._replaced(codes[::-1], self._alphabet.complement)

    def hits(self, codes: DeviceArray, threshold: float, motif: tuple[str, int] | None = None) -> WindowHits:
        """The windows that score more; only those with the letters of a motif at a place are looked at."""
        windows, host = len(codes) - self._length + 1, self._kernels.to_host
        begins, scores, looked_at, highest = [np.zeros(0, np.int64)], [np.zeros(0)], 0, -np.inf
        for start in range(0, windows, _AT_ONCE):
            count = min(_AT_ONCE, windows - start)
            part = codes[start : start + count + self._length - 1]
            chosen = self._chosen(part, count, motif)
            if not len(chosen):
                continue
            found = self._scores(part, chosen)
            looked_at, highest = looked_at + len(chosen), max(highest, float(found.max()))
            above = self._kernels.xp.flatnonzero(found > threshold)
            begins.append(start + host(chosen[above]))
            scores.append(host(found[above]))
        return WindowHits(np.concatenate(begins), np.concatenate(scores), looked_at, highest)

    def _chosen(self, codes: DeviceArray, count: int, motif: tuple[str, int] | None) -> DeviceArray:
        """Where the windows begin that are looked at."""
        xp = self._kernels.xp
        if motif is None:
            return xp.arange(count)
        letters, offset = motif
        found = xp.ones(count, bool)
        for k, code in enumerate(motif_codes(letters, offset, self._alphabet, self._length).tolist()):
            found &= codes[offset + k : offset + k + count] == code
        return xp.flatnonzero(found)

    def _scores(self, codes: DeviceArray, begins: DeviceArray) -> DeviceArray:
        xp, length = self._kernels.xp, self._length
        unknown, odd = codes == _UNKNOWN, None
        if len(xp.flatnonzero(unknown)):
            upto = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(unknown)])
            found = xp.flatnonzero(upto[begins + length] > upto[begins])
            odd = found if len(found) else None
        strings = DeviceStrings("windows", codes, len(begins), length, length, self._alphabet, odd, begins=begins)
        scales = None
        if self._normalize:
            scales, _ = scales_of(self._kernels, self._kernels.strings().squared_lengths(strings, self._layout))
        rows = StringRows(self._kernels, strings, self._layout, scales)
        return rows.scores_there(self._w) + self._intercept
