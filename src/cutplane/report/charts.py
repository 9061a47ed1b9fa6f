"""Charts as SVG by hand: small, sharp at any size, coloured by the page so that they follow light and dark.

A chart says what it shows in words too (``role="img"``, title and description), and no line is told from another by
its colour alone: each has a dash pattern of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from cutplane.report.markup import Markup, element, text
from cutplane.report.scales import Scale, decades, padded, tick_label

WIDTH, HEIGHT = 440, 270
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 12, 40
COLOURS = 7  # as many as the page has for series
_MOST_POINTS = 160
_ids = count(1)


@dataclass(frozen=True, slots=True)
class Line:
    """A series; `steps` holds each value until the next point."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    steps: bool = False
    colour: int = 0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows; `low` and `high` fix its range."""

    label: str
    log: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over common axes. `band` fills between the first two lines, `mark` is a named horizontal line."""

    title: str
    description: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    band: bool = False
    mark: tuple[str, float] | None = None
    diagonal: bool = False
    points: bool = True
    extra: Sequence[Markup] = field(default_factory=tuple)

    def svg(self) -> Markup:
        """The chart, without its legend."""
        lines = [_thinned(line) for line in self.lines]
        across = [value for line in lines for value in line.x]
        up = [value for line in lines for value in line.y if value > 0 or not self.y.log]
        if self.mark is not None:
            up += [self.mark[1], 0.5 * self.mark[1]]  # the second, so that it does not lie on the border
        x = _scale(self.x, across, LEFT, WIDTH - RIGHT, tight=True)
        y = _scale(self.y, up, HEIGHT - BOTTOM, TOP)
        parts = [_grid(x, y, self.x, self.y), *self._behind(lines, x, y)]
        parts += [_path(line, x, y, self.y.log) for line in lines]
        if self.points:
            parts += [_dots(line, x, y, self) for line in lines if len(line.x) <= 60]
        return framed(self.title, self.description, WIDTH, HEIGHT, *parts, *self.extra)

    def _behind(self, lines: Sequence[Line], x: Scale, y: Scale) -> Iterator[Markup]:
        """What the lines are drawn over: the diagonal, the band between two of them, the mark."""
        if self.diagonal:
            yield _svg("line", x1=x(x.low), y1=y(y.low), x2=x(x.high), y2=y(y.high), class_="guide")
        if self.band:
            yield _band(lines[0], lines[1], x, y)
        if self.mark is not None:
            yield _svg("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(self.mark[1]), y2=y(self.mark[1]), class_="mark")

    def legend(self) -> Markup:
        """The names of the lines beside what they look like."""
        entries = [
            _entry(line.name, f"line s{line.colour % COLOURS}{' dashed' if line.dashed else ''}") for line in self.lines
        ]
        if self.mark is not None:
            entries.append(_entry(self.mark[0], "mark"))
        return element("ul", *entries, class_="legend") if len(entries) > 1 else Markup("")


def framed(
    title: str, description: str, width: float, height: float, *parts: Markup, class_: str | None = None
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
    )


def diverging_bars(title: str, description: str, names: Sequence[str], values: Sequence[float]) -> Markup:
    """Bars to the left for negative and to the right for positive values, each with its name and value."""
    row, width, label = 22, 460, 200
    largest = max((abs(value) for value in values), default=1.0) or 1.0
    both = min(values, default=0.0) < 0.0 < max(values, default=0.0)
    negative = min(values, default=0.0) < 0.0
    zero = label + (width - label) / 2 if both else (width - 2.0 if negative else label + 2.0)
    room = (width - label) / 2 - 46 if both else width - label - 50
    parts = [_svg("line", x1=zero, x2=zero, y1=0, y2=row * len(values), class_="axis")]
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        length = room * abs(value) / largest
        top = row * index
        left = zero - length if value < 0 else zero
        colour = "s1" if value < 0 else "s0"
        bar = _svg("rect", x=left, y=top + 4, width=max(length, 0.5), height=row - 8, rx=2, class_=f"bar {colour}")
        outside = (left - 4, "end") if value < 0 else (left + length + 4, "start")
        parts += [
            element("g", element("title", text(f"{name}: {value:.4g}")), bar),
            _label(shortened(name, 28), label - 8, top + 15, "end"),
            _label(f"{value:.3g}", outside[0], top + 15, outside[1], "value"),
        ]
    return framed(title, description, width, max(row * len(values), row), *parts, class_="bars")


def share_bar(title: str, description: str, names: Sequence[str], shares: Sequence[float]) -> Markup:
    """One bar cut into shares of a whole, and a legend with the percentages."""
    parts, left = [], 0.0
    for index, (name, share) in enumerate(zip(names, shares, strict=True)):
        colour = f"bar s{index % COLOURS}"
        piece = _svg("rect", x=left, y=0, width=max(440 * share, 0.0), height=26, class_=colour)
        parts.append(element("g", element("title", text(f"{name}: {share:.1%}")), piece))
        left += 440 * share
    legend = [
        _entry(f"{name} {share:.0%}", f"box s{index % COLOURS}")
        for index, (name, share) in enumerate(zip(names, shares, strict=True))
    ]
    return Markup(framed(title, description, 440, 26, *parts) + element("ul", *legend, class_="legend"))


def counts(title: str, description: str, names: Sequence[str], values: Sequence[float]) -> Markup:
    """Bars from the left, with counts and their shares."""
    row, width, label = 22, 440, 110
    total, largest = sum(values) or 1.0, max(values, default=1.0) or 1.0
    parts = []
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        length = (width - label - 120) * value / largest
        top = row * index
        parts += [
            _svg("rect", x=label, y=top + 4, width=max(length, 0.5), height=row - 8, rx=2, class_="bar s0"),
            _label(shortened(name, 16), label - 8, top + 15, "end"),
            _label(f"{value:,.0f} ({value / total:.1%})", label + length + 6, top + 15, "start", "value"),
        ]
    return framed(title, description, width, row * len(values), *parts, class_="bars")


def shortened(name: str, most: int) -> str:
    """A name that fits, the middle left out."""
    return name if len(name) <= most else f"{name[: most - most // 3 - 1]}…{name[-(most // 3) :]}"


def _scale(axis: Axis, values: Sequence[float], start: float, end: float, *, tight: bool = False) -> Scale:
    shown = list(values) or [1.0]
    low, high = decades(shown) if axis.log else ((min(shown), max(shown)) if tight else padded(shown))
    low, high = axis.low if axis.low is not None else low, axis.high if axis.high is not None else high
    if not high > low:
        high = low + 1.0
    return Scale(low, high, start, end, axis.log)


def _svg(name: str, **attributes: object) -> Markup:
    rounded = {
        key: f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
        for key, value in attributes.items()
    }
    return element(name, **rounded)


def _label(words: str, x: float, y: float, anchor: str, class_: str | None = None, **more: object) -> Markup:
    return element("text", text(words), x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_, **more)


def _grid(x: Scale, y: Scale, x_axis: Axis, y_axis: Axis) -> Markup:
    parts = []
    for value in y.ticks():
        at = y(value)
        parts.append(_svg("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, class_="grid"))
        parts.append(_label(tick_label(value, y_axis.log), LEFT - 6, at + 4, "end"))
    for value in x.ticks(5):
        at = x(value)
        parts.append(_svg("line", x1=at, x2=at, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 4, class_="axis"))
        parts.append(_label(tick_label(value, x_axis.log), at, HEIGHT - BOTTOM + 17, "middle"))
    parts.append(_svg("line", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM, class_="axis"))
    parts.append(_label(x_axis.label, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", "name"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = f"rotate(-90 12 {middle:g})"
    parts.append(_label(y_axis.label, 12, middle, "middle", "name", transform=turned))
    return element("g", *parts)


def _corners(line: Line, x: Scale, y: Scale) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for across, up in zip(line.x, line.y, strict=True):
        if y.log and not up > 0.0:
            continue
        if line.steps and found:
            found.append((x(across), found[-1][1]))
        found.append((x(across), y(up)))
    return found


def _path(line: Line, x: Scale, y: Scale, log: bool) -> Markup:
    corners = _corners(line, x, y)
    if len(corners) < 2:
        return Markup("")
    way = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in corners)
    return _svg("path", d=way, class_=f"line s{line.colour % COLOURS}{' dashed' if line.dashed else ''}")


def _band(first: Line, second: Line, x: Scale, y: Scale) -> Markup:
    there, back = _corners(first, x, y), _corners(second, x, y)
    if len(there) < 2 or len(back) < 2:
        return Markup("")
    way = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in there + back[::-1]) + "Z"
    return _svg("path", d=way, class_="band")


def _dots(line: Line, x: Scale, y: Scale, chart: LineChart) -> Markup:
    dots = []
    for across, up in zip(line.x, line.y, strict=True):
        if chart.y.log and not up > 0.0:
            continue
        words = f"{line.name}: {up:.6g} at {across:.4g} {chart.x.label}"
        dots.append(
            element(
                "circle",
                element("title", text(words)),
                cx=f"{x(across):.1f}",
                cy=f"{y(up):.1f}",
                r="2.4",
                class_=f"dot s{line.colour % COLOURS}",
            )
        )
    return element("g", *dots)


def _entry(words: str, class_: str) -> Markup:
    kind = class_.split()[0]
    shape = (
        _svg("rect", width=14, height=10, y=1, rx=2, class_=class_.replace("box", "bar"))
        if kind == "box"
        else _svg("line", x1=0, x2=22, y1=6, y2=6, class_=class_)
    )
    sample = element("svg", shape, width=14 if kind == "box" else 22, height=12, aria_hidden="true")
    return element("li", sample, text(words))


def _thinned(line: Line) -> Line:
    if len(line.x) <= _MOST_POINTS:
        return line
    every = (len(line.x) - 1) / (_MOST_POINTS - 1)
    kept = sorted({round(index * every) for index in range(_MOST_POINTS)})
    x, y = [line.x[index] for index in kept], [line.y[index] for index in kept]
    return Line(line.name, x, y, line.steps, line.colour, line.dashed)
