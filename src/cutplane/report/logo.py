"""Sequence logos: at each position the letters that speak for a class above the line, those against it below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cutplane._types import Array
from cutplane.report.markup import Markup, element, text
from cutplane.report.svg import COLOURS, framed, shape, words_at

MOST_POSITIONS = 80
# Letters that are lower than this share of the highest stack would be specks.
_SPECK = 0.02
_COLUMN, _HEIGHT, _LEFT, _BOTTOM = 11.0, 120.0, 8.0, 22.0
# Of a bold monospaced letter at 10 px: how wide it is made, and how high capitals are.
_GLYPH_WIDTH, _GLYPH_HEIGHT = 6.0, 7.2
_COLOURS = {"A": 2, "C": 0, "G": 4, "T": 1, "U": 1}


class Glyph(NamedTuple):
    """A letter of a logo: its position, and from where to where it reaches."""

    position: int
    letter: int
    low: float
    high: float


def stacked(importance: Array) -> Iterator[Glyph]:
    """The letters of each position on top of each other, the strongest outermost."""
    for position, effects in enumerate(importance):
        for side in (1.0, -1.0):
            base = 0.0
            for letter in np.argsort(np.abs(effects), kind="stable"):
                height = float(effects[letter])
                if side * height > 0.0:
                    yield Glyph(position, int(letter), min(base, base + height), max(base, base + height))
                    base += height


def window(importance: Array, most: int = MOST_POSITIONS) -> slice:
    """The stretch of at most so many positions that holds most of the importance."""
    if len(importance) <= most:
        return slice(0, len(importance))
    sums = np.concatenate([[0.0], np.cumsum(np.abs(importance).sum(axis=1))])
    begin = int(np.argmax(sums[most:] - sums[:-most]))
    return slice(begin, begin + most)


def colour_of(letter: str, letters: str) -> int:
    """The usual colours of bases; other letters in turn."""
    return _COLOURS[letter] if set(letters) <= set(_COLOURS) else letters.index(letter) % COLOURS


def logo(title: str, description: str, importance: Array, letters: str) -> Markup:
    """The logo of a matrix of positions by letters, over the positions that matter most."""
    shown = window(importance)
    glyphs = list(stacked(importance[shown]))
    top = max((glyph.high for glyph in glyphs), default=1.0)
    bottom = min((glyph.low for glyph in glyphs), default=0.0)
    scale = _HEIGHT / ((top - bottom) or 1.0)
    width = _LEFT + _COLUMN * (shown.stop - shown.start) + 4.0
    speck = _SPECK * _HEIGHT / scale
    parts = [_glyph(glyph, letters, top, scale) for glyph in glyphs if glyph.high - glyph.low > speck]
    zero = top * scale
    parts.append(shape("line", x1=_LEFT, x2=width - 4.0, y1=zero, y2=zero, class_="axis"))
    parts += _ticks(range(shown.start, shown.stop))
    return framed(title, description, width, _HEIGHT + _BOTTOM, *parts, class_="logos")


def _glyph(glyph: Glyph, letters: str, top: float, scale: float) -> Markup:
    x = _LEFT + _COLUMN * glyph.position
    y = (top - glyph.low) * scale
    stretched = f"{0.92 * _COLUMN / _GLYPH_WIDTH:.3f} {(glyph.high - glyph.low) * scale / _GLYPH_HEIGHT:.3f}"
    letter = letters[glyph.letter]
    return element(
        "text",
        text(letter),
        transform=f"translate({x:.1f} {y:.2f}) scale({stretched})",
        textLength=f"{_GLYPH_WIDTH:g}",
        lengthAdjust="spacingAndGlyphs",
        class_=f"logo s{colour_of(letter, letters)}",
    )


def _ticks(positions: Sequence[int]) -> list[Markup]:
    return [
        words_at(str(position), _LEFT + _COLUMN * (position - positions[0] + 0.46), _HEIGHT + 15.0, "middle")
        for position in positions
        if position % (5 if len(positions) <= 40 else 10) == 0
    ]
