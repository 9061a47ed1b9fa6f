"""HTML as strings, escaped where it must be: the few elements a report is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """Text that is markup already; whatever is not of this type gets escaped."""

    __slots__ = ()


def text(value: object) -> Markup:
    """`value` as it is, with nothing in it that a browser would take for markup."""
    return Markup(escape(str(value), quote=True))


def element(name: str, *content: Markup, **attributes: object) -> Markup:
    """An element; ``class_`` and ``aria_label`` become ``class`` and ``aria-label``, None leaves one out."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{shown}>{''.join(content)}</{name}>")


def paragraph(words: object, class_: str | None = None) -> Markup:
    """A paragraph of plain words."""
    return element("p", text(words), class_=class_)


def facts(pairs: Iterable[tuple[str, object]]) -> Markup:
    """Names and values, as a definition list."""
    rows = [
        element("div", element("dt", text(name)), element("dd", value if isinstance(value, Markup) else text(value)))
        for name, value in pairs
    ]
    return element("dl", *rows, class_="facts")


def table(name: str, header: Sequence[object], rows: Iterable[Sequence[object]], *, shown: bool = False) -> Markup:
    """A table whose first column names the rows; `name` tells it from the others, as its caption if `shown`."""
    head = element("tr", *(element("th", text(cell), scope="col") for cell in header))
    body = [
        element("tr", element("th", text(row[0]), scope="row"), *(element("td", text(cell)) for cell in row[1:]))
        for row in rows
    ]
    parts = [element("caption", text(name))] if shown else []
    whole = element("table", *parts, element("thead", head), element("tbody", *body))
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=name)


def details(summary: str, *content: Markup) -> Markup:
    """What is shown on demand."""
    return element("details", element("summary", text(summary)), *content)


def figure(caption: object, *content: Markup) -> Markup:
    """Content with a caption."""
    return element("figure", *content, element("figcaption", text(caption)))


def number(value: float, digits: int = 4) -> str:
    """A number for people: thousands apart, no more digits than mean something."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞" if value < 0 else "not a number"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    size = abs(value)
    if 1e-3 <= size < 1e6:
        whole = max(0, digits - 1 - math.floor(math.log10(size)))
        return f"{value:,.{whole}f}"
    return f"{value:.{digits - 1}e}"


def seconds(value: float) -> str:
    """A time in the unit that suits it."""
    if value < 1e-3:
        return f"{1e6 * value:.0f} µs"
    if value < 1.0:
        return f"{1e3 * value:.3g} ms"
    if value < 120.0:
        return f"{value:.3g} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
