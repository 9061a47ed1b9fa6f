"""Bars as SVG: weights for and against, counts, shares of a whole."""

from __future__ import annotations

from collections.abc import Sequence

from cutplane.report.markup import Markup, element, text
from cutplane.report.svg import COLOURS, framed, legend_entry, shape, shortened, words_at


def diverging_bars(
    title: str, description: str, names: Sequence[str], values: Sequence[float], *, width: int = 380, label: int = 165
) -> Markup:
    """Bars to the left for negative and to the right for positive values, each with its name and value.

    Names have at most `label` of the `width`.
    """
    row, beside = 22, 58
    label = min(label, 16 + 7 * max(map(len, names), default=0))
    largest = max((abs(value) for value in values), default=1.0) or 1.0
    both = min(values, default=0.0) < 0.0 < max(values, default=0.0)
    negative = min(values, default=0.0) < 0.0
    zero = label + (width - label) / 2 if both else (width - 2.0 if negative else label + 2.0)
    room = ((width - label) / 2 if both else width - label - 4) - beside
    parts = [shape("line", x1=zero, x2=zero, y1=0, y2=row * len(values), class_="axis")]
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        length = room * abs(value) / largest
        top = row * index
        left = zero - length if value < 0 else zero
        colour = "s1" if value < 0 else "s0"
        bar = shape("rect", x=left, y=top + 4, width=max(length, 0.5), height=row - 8, rx=2, class_=f"bar {colour}")
        outside = (left - 4, "end") if value < 0 else (left + length + 4, "start")
        parts += [
            element("g", element("title", text(f"{name}: {value:.4g}")), bar),
            words_at(shortened(name, label // 7), label - 8, top + 15, "end"),
            words_at(f"{value:.3g}", outside[0], top + 15, outside[1], "value"),
        ]
    return framed(title, description, width, max(row * len(values), row), *parts, class_="bars")


def share_bar(title: str, description: str, names: Sequence[str], shares: Sequence[float]) -> Markup:
    """One bar cut into shares of a whole, as wide as the page, and a legend with the percentages.

    There are as many pieces as colours at most: the last are counted together.
    """
    if len(names) > COLOURS:
        names = [*names[: COLOURS - 1], "other"]
        shares = [*shares[: COLOURS - 1], sum(shares[COLOURS - 1 :])]
    parts, left = [], 0.0
    for index, (name, share) in enumerate(zip(names, shares, strict=True)):
        piece = shape("rect", x=left, y=0, width=max(440 * share, 0.0), height=26, class_=f"bar s{index}")
        parts.append(element("g", element("title", text(f"{name}: {share:.1%}")), piece))
        left += 440 * share
    legend = [
        legend_entry(f"{name} {share:.0%}", f"box s{index}")
        for index, (name, share) in enumerate(zip(names, shares, strict=True))
    ]
    bar = framed(title, description, 440, 26, *parts, class_="share", preserveAspectRatio="none")
    return Markup(bar + element("ul", *legend, class_="legend"))


def counts(title: str, description: str, names: Sequence[str], values: Sequence[float]) -> Markup:
    """Bars from the left, with counts and their shares."""
    row, width, label = 22, 380, 100
    total, largest = sum(values) or 1.0, max(values, default=1.0) or 1.0
    parts = []
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        length = (width - label - 120) * value / largest
        top = row * index
        parts += [
            shape("rect", x=label, y=top + 4, width=max(length, 0.5), height=row - 8, rx=2, class_="bar s0"),
            words_at(shortened(name, 16), label - 8, top + 15, "end"),
            words_at(f"{value:,.0f} ({value / total:.1%})", label + length + 6, top + 15, "start", "value"),
        ]
    return framed(title, description, width, row * len(values), *parts, class_="bars")
