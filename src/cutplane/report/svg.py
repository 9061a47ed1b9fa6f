"""The pieces of every chart: shapes, words, and a frame that reads its title out."""

from __future__ import annotations

from itertools import count

from cutplane.report.markup import Markup, element, text

COLOURS = 7  # as many as the page has for series
_ids = count(1)


def framed(
    title: str,
    description: str,
    width: float,
    height: float,
    *parts: Markup,
    class_: str | None = None,
    **more: object,
) -> Markup:
    """An SVG that reads its title and description out."""
    number = next(_ids)
    names = f"t{number}", f"d{number}"
    return element(
        "svg",
        element("title", text(title), id=names[0]),
        element("desc", text(description), id=names[1]),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_labelledby=" ".join(names),
        class_=class_,
        **more,
    )


def shape(name: str, **attributes: object) -> Markup:
    """An SVG element, its numbers no longer than they need to be."""
    rounded = {
        key: f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
        for key, value in attributes.items()
    }
    return element(name, **rounded)


def words_at(words: str, x: float, y: float, anchor: str, class_: str | None = None, **more: object) -> Markup:
    """Words at a place; `anchor` says which end of them is there."""
    return element("text", text(words), x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_, **more)


def legend_entry(words: str, class_: str) -> Markup:
    """A name beside what it looks like in the chart."""
    kind = class_.split()[0]
    sample = (
        shape("rect", width=14, height=10, y=1, rx=2, class_=class_.replace("box", "bar"))
        if kind == "box"
        else shape("line", x1=0, x2=22, y1=6, y2=6, class_=class_)
    )
    drawn = element("svg", sample, width=14 if kind == "box" else 22, height=12, aria_hidden="true")
    return element("li", drawn, text(words))


def shortened(name: str, most: int) -> str:
    """A name that fits, the middle left out."""
    return name if len(name) <= most else f"{name[: most - most // 3 - 1]}…{name[-(most // 3) :]}"
