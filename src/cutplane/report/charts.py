"""Charts as SVG by hand: small, sharp at any size, coloured by the page so that they follow light and dark.

A chart says what it shows in words too (``role="img"``, title and description), and no line is told from another by
its colour alone: each has a dash pattern of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutplane.report.markup import Markup, element, text
from cutplane.report.scales import Scale, decades, padded, tick_label
from cutplane.report.svg import COLOURS, framed, legend_entry, shape, words_at

WIDTH, HEIGHT = 440, 270
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 12, 40
_MOST_POINTS = 160


@dataclass(frozen=True, slots=True)
class Line:
    """A series; `steps` holds each value until the next point."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    steps: bool = False
    colour: int = 0
    dashed: bool = False

    @property
    def look(self) -> str:
        """Its classes in the style sheet."""
        return f"s{self.colour % COLOURS}{' dashed' if self.dashed else ''}"


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
    size: tuple[int, int] = (WIDTH, HEIGHT)

    def svg(self) -> Markup:
        """The chart, without its legend."""
        lines = [_thinned(line) for line in self.lines]
        across = [value for line in lines for value in line.x]
        up = [value for line in lines for value in line.y if value > 0 or not self.y.log]
        if self.mark is not None:
            up += [self.mark[1], 0.5 * self.mark[1]]  # the second, so that it does not lie on the border
        width, height = self.size
        x = _scale(self.x, across, LEFT, width - RIGHT, tight=True)
        y = _scale(self.y, up, height - BOTTOM, TOP)
        parts = [_grid(x, y, self.x, self.y), *self._behind(lines, x, y)]
        parts += [_path(line, x, y, self.y.log) for line in lines]
        if self.points:
            parts += [_dots(line, x, y, self) for line in lines if len(line.x) <= 60]
        return framed(self.title, self.description, width, height, *parts)

    def _behind(self, lines: Sequence[Line], x: Scale, y: Scale) -> Iterator[Markup]:
        """What the lines are drawn over: the diagonal, the band between two of them, the mark."""
        if self.diagonal:
            yield shape("line", x1=x(x.low), y1=y(y.low), x2=x(x.high), y2=y(y.high), class_="guide")
        if self.band:
            yield _band(lines[0], lines[1], x, y)
        if self.mark is not None:
            yield shape("line", x1=x.start, x2=x.end, y1=y(self.mark[1]), y2=y(self.mark[1]), class_="mark")

    def legend(self) -> Markup:
        """The names of the lines beside what they look like."""
        entries = [legend_entry(line.name, f"line {line.look}") for line in self.lines]
        if self.mark is not None:
            entries.append(legend_entry(self.mark[0], "mark"))
        return element("ul", *entries, class_="legend") if len(entries) > 1 else Markup("")


def _scale(axis: Axis, values: Sequence[float], start: float, end: float, *, tight: bool = False) -> Scale:
    shown = list(values) or [1.0]
    low, high = decades(shown) if axis.log else ((min(shown), max(shown)) if tight else padded(shown))
    low, high = axis.low if axis.low is not None else low, axis.high if axis.high is not None else high
    if not high > low:
        high = low + 1.0
    return Scale(low, high, start, end, axis.log)


def _grid(x: Scale, y: Scale, x_axis: Axis, y_axis: Axis) -> Markup:
    parts = []
    for value in y.ticks(round(abs(y.end - y.start) / 36)):
        at = y(value)
        parts.append(shape("line", x1=x.start, x2=x.end, y1=at, y2=at, class_="grid"))
        parts.append(words_at(tick_label(value, y_axis.log), x.start - 6, at + 4, "end"))
    for value in x.ticks(round((x.end - x.start) / 70)):
        at = x(value)
        parts.append(shape("line", x1=at, x2=at, y1=y.start, y2=y.start + 4, class_="axis"))
        # The last number may be longer than what is left beside the axis.
        place, anchor = (x.end + RIGHT - 2, "end") if at > x.end - RIGHT else (at, "middle")
        parts.append(words_at(tick_label(value, x_axis.log), place, y.start + 17, anchor))
    parts.append(shape("line", x1=x.start, x2=x.end, y1=y.start, y2=y.start, class_="axis"))
    parts.append(words_at(x_axis.label, (x.start + x.end) / 2, y.start + BOTTOM - 6, "middle", "name"))
    middle = (y.start + y.end) / 2
    turned = f"rotate(-90 12 {middle:g})"
    parts.append(words_at(y_axis.label, 12, middle, "middle", "name", transform=turned))
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
    return shape("path", d=way, class_=f"line {line.look}")


def _band(first: Line, second: Line, x: Scale, y: Scale) -> Markup:
    there, back = _corners(first, x, y), _corners(second, x, y)
    if len(there) < 2 or len(back) < 2:
        return Markup("")
    way = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in there + back[::-1]) + "Z"
    return shape("path", d=way, class_="band")


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


def _thinned(line: Line) -> Line:
    if len(line.x) <= _MOST_POINTS:
        return line
    every = (len(line.x) - 1) / (_MOST_POINTS - 1)
    kept = sorted({round(index * every) for index in range(_MOST_POINTS)})
    x, y = [line.x[index] for index in kept], [line.y[index] for index in kept]
    return Line(line.name, x, y, line.steps, line.colour, line.dashed)
