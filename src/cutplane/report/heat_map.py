"""Heat maps as SVG: a table of numbers as shades, with names at its sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cutplane._types import Array
from cutplane.report.markup import Markup, element
from cutplane.report.svg import framed, legend_entry, shape, shortened, words_at

SHADES = 9
_GAP = 0.06  # between cells, as a share of them
_TURNED = 3  # letters of the longest name that stands upright


def heat_map(
    title: str,
    description: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Array,
    *,
    cell: tuple[float, float] = (22.0, 18.0),
    label: int = 84,
    upright: bool = False,
    mark: tuple[int, int] | None = None,
) -> Markup:
    """Cells in shades of one colour above zero and of another below; the strongest is the largest in size.

    Cells of a shade are one path, so that thousands of them stay small. Long names of columns are
    turned unless `upright`; empty ones leave no trace. The cell of row and column `mark` is framed.
    """
    wide, high = cell
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    shades = np.rint(SHADES * values / largest).astype(int)
    longest = max(map(len, columns), default=0)
    turned = longest > _TURNED and not upright
    top = 10.0 + (min(longest, 12) * 7.6 if turned else 8.0)
    parts = [_names(rows, columns, cell, label, top, turned)]
    for shade in np.unique(shades[shades != 0]):
        corners = [(label + c * wide, top + r * high) for r, c in zip(*np.nonzero(shades == shade), strict=True)]
        inner = (1.0 - _GAP) * wide, (1.0 - _GAP) * high
        way = "".join(f"M{x:.4g} {y:.4g}h{inner[0]:.3g}v{inner[1]:.3g}H{x:.4g}z" for x, y in corners)
        colour = "s0" if shade > 0 else "s1"
        parts.append(shape("path", d=way, class_=f"bar {colour}", fill_opacity=f"{abs(shade) / SHADES:.2f}"))
    width, height = label + len(columns) * wide, top + len(rows) * high
    parts.append(shape("rect", x=label, y=top, width=width - label, height=height - top, class_="frame"))
    if mark is not None:
        at = label + mark[1] * wide, top + mark[0] * high
        inner = (1.0 - _GAP) * wide, (1.0 - _GAP) * high
        parts.append(shape("rect", x=at[0], y=at[1], width=inner[0], height=inner[1], class_="chosen"))
    return framed(title, description, width + 2.0, height + 2.0, *parts, class_="heat")


def heat_legend(below: str, above: str) -> Markup:
    """What the two colours mean."""
    return element("ul", legend_entry(above, "box s0"), legend_entry(below, "box s1"), class_="legend")


def _names(
    rows: Sequence[str], columns: Sequence[str], cell: tuple[float, float], label: int, top: float, turned: bool
) -> Markup:
    wide, high = cell
    parts = [
        words_at(shortened(name, label // 7), label - 6, top + high * index + high / 2 + 4, "end")
        for index, name in enumerate(rows)
        if name
    ]
    for index, name in enumerate(columns):
        if not name:
            continue
        x, y = label + wide * (index + 0.5), top - 5.0
        if turned:
            parts.append(words_at(shortened(name, 12), x + 4, y, "start", transform=f"rotate(-90 {x + 4:.1f} {y:.1f})"))
        else:
            parts.append(words_at(name, x, y, "middle"))
    return element("g", *parts)
