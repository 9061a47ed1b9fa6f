"""Every window of a long string, scored where it lies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.sources.alphabet import DNA, Alphabet, as_alphabet
from cutplane.sources.base import Rows
from cutplane.sources.packed import PackedStrings, StringCollection

# Windows scored at a time: bounds the memory, not the result.
_CHUNK = 1 << 20
_UNKNOWN, _INVALID = 254, 255


def refuse_letter(text: NDArray[np.uint8], position: int, alphabet: Alphabet) -> NoReturn:
    """Say which letter of a text is none of the alphabet's."""
    unknown = f", unknown ones {alphabet.unknown}" if alphabet.unknown else ""
    raise ValueError(
        f"The text has the letter {chr(text[position])!r} at position {position}; letters are "
        f"{alphabet.letters}{unknown}."
    )


def motif_codes(motif: str, offset: int, alphabet: Alphabet, length: int) -> NDArray[np.uint8]:
    """The codes of a motif's letters, which must lie in a window of that length."""
    wanted = alphabet.codes[np.frombuffer(motif.encode("latin-1"), np.uint8)]
    if (wanted >= alphabet.size).any():
        raise ValueError(f"The motif {motif!r} has letters other than {alphabet.letters}.")
    if not 0 <= offset <= length - len(motif):
        raise ValueError(f"The motif {motif!r} at {offset} does not lie in a window of {length} letters.")
    return wanted


class WindowChunk:
    """Some neighbouring windows, with what a source asks of strings."""

    def __init__(self, codes: NDArray[np.uint8], length: int, alphabet: Alphabet) -> None:
        self.core = _core.StringWindows(codes, length, alphabet.size)

    def __len__(self) -> int:
        return self.core.count


class SlidingWindows(StringCollection):
    """The windows of `length` letters that begin at each letter of a text; none is cut out.

    To a source they are strings: `decision_function` of a model takes them.

    Parameters
    ----------
    text : str, bytes or array of uint8
        A chromosome, say.
    length : int
        Letters of a window.
    alphabet : str or Alphabet
    reverse : bool
        Whether the opposite strand is read: window i still covers letters i to i + length, read backwards and
        complemented.

    Examples
    --------
    >>> from cutplane.sources.windows import SlidingWindows
    >>> len(SlidingWindows("ACGTACGT", 5))
    4
    """

    def __init__(
        self,
        text: str | bytes | NDArray[np.uint8],
        length: int,
        alphabet: str | Alphabet = DNA,
        *,
        reverse: bool = False,
    ) -> None:
        self.alphabet = as_alphabet(alphabet)
        self.length = length
        self.reverse = reverse
        raw = np.frombuffer(text.encode("latin-1") if isinstance(text, str) else text, np.uint8)
        if not 1 <= length <= len(raw):
            raise ValueError(f"A window of {length} letters does not fit into a text of {len(raw)}.")
        self._codes = self.alphabet.codes[raw]
        wrong = np.flatnonzero(self._codes == _INVALID)
        if len(wrong):
            refuse_letter(raw, int(wrong[0]), self.alphabet)
        if reverse:
            self._codes = self.alphabet.complement[self._codes[::-1]]
        self.has_unknown = bool((self._codes == _UNKNOWN).any())

    def __len__(self) -> int:
        return len(self._codes) - self.length + 1

    def chunks(self) -> Iterator[tuple[int, WindowChunk]]:
        """The windows in pieces, each with the number of its first, in the order in which they are read."""
        for start in range(0, len(self), _CHUNK):
            stop = min(len(self), start + _CHUNK) + self.length - 1
            yield start, WindowChunk(np.ascontiguousarray(self._codes[start:stop]), self.length, self.alphabet)

    def forward(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores in the order of the text, whichever strand was read."""
        return scores[::-1] if self.reverse else scores

    def starts_with(self, motif: str, offset: int) -> NDArray[np.bool_]:
        """Which windows have `motif` at a position, in the order in which they are read."""
        wanted = motif_codes(motif, offset, self.alphabet, self.length)
        found = np.ones(len(self), bool)
        for k, code in enumerate(wanted):
            found &= self._codes[offset + k : offset + k + len(self)] == code
        return found

    def take(self, rows: Rows, *, n_threads: int = 0) -> PackedStrings:
        """Some windows, cut out and packed."""
        shown = np.full(256, ord(self.alphabet.unknown[:1] or "?"), np.uint8)
        shown[: self.alphabet.size] = list(map(ord, self.alphabet.letters))
        text = shown[self._codes[np.asarray(rows)[:, None] + np.arange(self.length)]]
        return PackedStrings.pack(text, self.alphabet, n_threads=n_threads)

    def gathered(self, rows: Rows, *, n_threads: int = 0) -> Iterator[tuple[Rows, PackedStrings]]:
        """Some windows, cut out a part at a time."""
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            yield part, self.take(part, n_threads=n_threads)
