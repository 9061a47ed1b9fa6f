"""Plots in one style: a panel per question with a line per data set or method, or a bar for each trainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart with every common kind of colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

Line = tuple[Sequence[float], Sequence[float]]


@dataclass
class Panel:
    """One set of axes; `guide` is an exponent that the paper states, drawn as a dotted line."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Line]
    log_x: bool = True
    log_y: bool = True
    guide: float | None = None
    guide_label: str = ""
    vertical: float | None = None
    styles: Mapping[str, str] = field(default_factory=dict)


def draw(panels: Sequence[Panel], columns: int = 2) -> Figure:
    """All panels on one sheet, without a display."""
    from matplotlib.figure import Figure

    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.2 * columns, 3.6 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, panel in zip(grid, panels, strict=False):
        _draw(ax, panel)
    for ax in grid[len(panels) :]:
        ax.set_visible(False)
    names = [list(panel.lines) for panel in panels if panel.guide is None]
    if len(panels) > 1 and len(names[0] if names else ()) > 3 and names == [names[0]] * len(panels):
        _one_legend(figure, grid[: len(panels)])
    return figure


def _one_legend(figure: Figure, grid: Sequence[Axes]) -> None:
    """Below all panels, where they have the same lines."""
    for ax in grid:
        ax.get_legend().remove()
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6), frameon=False, fontsize=9)


def speedups(title: str, lines: Mapping[str, Line]) -> Figure:
    """How many times as fast by the number of threads, beside what it would be at best."""
    most = max(max(x) for x, _ in lines.values())
    drawn = {**lines, "ideal": ([1, most], [1, most])}
    panel = Panel(title, "threads", "times one thread", drawn, log_x=False, log_y=False, styles={"ideal": ":"})
    return draw([panel])


def bars(title: str, seconds: Mapping[str, Mapping[str, float]]) -> Figure:
    """Seconds on a logarithmic axis: a group for each data set, a bar for each of those that were measured on it."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    names = list(dict.fromkeys(name for group in seconds.values() for name in group))
    count = sum(map(len, seconds.values())) + len(seconds)
    figure = Figure(figsize=(8.5, 1.2 + 0.2 * count), layout="constrained")
    ax = figure.subplots()
    place, ticks = 0, []
    for group in seconds.values():
        for name, value in group.items():
            label = name if name not in ax.get_legend_handles_labels()[1] else None
            ax.barh(place, value, height=0.8, color=COLOURS[names.index(name) % len(COLOURS)], label=label)
            ax.text(value, place, f" {value:.3g}", va="center", fontsize=7)
            place += 1
        ticks.append(place - 0.5 - len(group) / 2)
        place += 1
    ax.set_yticks(ticks, list(seconds))
    ax.margins(y=0.01)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())  # numbers between the decades run into each other
    ax.set_xlabel("seconds")
    ax.set_title(title, loc="left", fontsize=10)
    finish(ax, legend=False)
    figure.legend(frameon=False, fontsize=8, loc="outside right upper")  # a bar may be anywhere in the axes
    return figure


def finish(ax: Axes, legend: bool = True) -> None:
    """Grid, legend, and no frame where there is no axis."""
    ax.grid(True, color="0.9", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        ax.legend(frameon=False, fontsize=8)


def _draw(ax: Axes, panel: Panel) -> None:
    for index, (name, (x, y)) in enumerate(panel.lines.items()):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        dots = {"marker": marker, "markersize": 4} if len(x) <= 40 else {}
        ax.plot(x, y, color=colour, linewidth=1.4, label=name, linestyle=panel.styles.get(name, "-"), **dots)
    if panel.guide is not None:
        _guide(ax, panel)
    if panel.vertical is not None:
        ax.axvline(panel.vertical, color="0.4", linestyle=":", linewidth=1.2)
    if panel.log_x:
        ax.set_xscale("log")
    if panel.log_y:
        ax.set_yscale("log")
        _plain_numbers(ax)
    ax.set_title(panel.title, loc="left", fontsize=10)
    ax.set_xlabel(panel.x)
    ax.set_ylabel(panel.y)
    finish(ax)


def _plain_numbers(ax: Axes) -> None:
    """1, 2, 5, 10 beside a logarithmic axis of few decades, where Matplotlib would have powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = ax.get_ylim()
    if high < 300 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 6, 8) if high < 10 * low else (1, 2, 5)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_locator(NullLocator())


def _guide(ax: Axes, panel: Panel) -> None:
    """A line of the stated slope through the middle of the first data."""
    drawn = [(list(x), list(y)) for x, y in panel.lines.values() if len(x) > 1]
    if not drawn:
        return
    x, y = drawn[0]
    middle = len(x) // 2
    ends = min(min(a) for a, _ in drawn), max(max(a) for a, _ in drawn)
    values = [1.6 * y[middle] * (end / x[middle]) ** panel.guide for end in ends]
    ax.plot(ends, values, color="0.5", linestyle=":", linewidth=1.4, label=panel.guide_label)
