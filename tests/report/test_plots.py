"""Plots show what the history says, and are files of the format their name asks for."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from cutplane.plotting import plot_convergence
from cutplane.report.plots import save_convergence
from cutplane.solvers.result import Step

mpl.use("Agg")


def run(n: int, scale: float = 1.0, problem: int = 0) -> list[Step]:
    uppers, lowers = ([scale * (1 + sign * 0.5**i) for i in range(1, n + 1)] for sign in (1.0, -1.0))
    return [
        Step(i, 0.1 * i, upper, lower, planes=i, step=1.0, problem=problem)
        for i, (upper, lower) in enumerate(zip(uppers, lowers, strict=True), 1)
    ]


def test_the_distances_of_both_bounds_and_the_gap_are_drawn() -> None:
    history = run(5)
    figure = plot_convergence(history, tol=1e-3)
    distances, gap = figure.axes
    last = history[-1]
    assert [list(line.get_ydata()) for line in distances.lines] == [
        [step.upper - last.lower for step in history],
        [last.upper - step.lower for step in history],
    ]
    assert list(gap.lines[0].get_ydata()) == [step.gap for step in history]
    assert gap.get_yscale() == distances.get_yscale() == "log"


def test_into_axes_of_ones_own() -> None:
    figure = Figure()
    axes = figure.subplots()
    assert plot_convergence(run(3), axes) is figure
    assert len(axes.lines) == 1


def test_of_several_classes_the_worst_and_a_small_panel_each() -> None:
    runs = [run(3), run(4, 2.0, 1), run(5, 3.0, 2)]
    figure = plot_convergence([step for each in runs for step in each], labels=["a", "b", "c"])
    worst, *small = (axes for axes in figure.axes if axes.get_visible())
    assert worst.lines[0].get_ydata()[-1] == runs[0][-1].gap
    assert [axes.get_title(loc="left") for axes in small] == ["a", "b", "c"]
    assert [list(axes.lines[0].get_ydata()) for axes in small] == [[step.gap for step in each] for each in runs]


def test_of_many_classes_the_slowest() -> None:
    figure = plot_convergence([step for problem in range(20) for step in run(1 + problem, problem=problem)])
    titles = [axes.get_title(loc="left") for axes in figure.axes[1:]]
    assert titles == [str(problem) for problem in range(8, 20)]


def test_an_empty_history_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to plot"):
        plot_convergence([])


@pytest.mark.parametrize(
    "history",
    [
        run(1),
        [Step(1, 0.0, 0.0, 0.0, 1, 1.0)],
        [Step(1, 0.0, -1.0, -2.0, 1, 1.0)],
        [step for problem in range(20) for step in run(2, problem=problem)],
    ],
)
def test_odd_histories_can_be_drawn(tmp_path: Path, history: list[Step]) -> None:
    save_convergence(history, tmp_path / "plot.png")


@pytest.mark.parametrize(("name", "start"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.PDF", b"%PDF")])
def test_the_name_says_the_format(tmp_path: Path, name: str, start: bytes) -> None:
    save_convergence(run(4), tmp_path / name, tol=1e-3)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["plot", "plot.jpeg"])
def test_an_unknown_format_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"does not end in \.png, \.svg or \.pdf"):
        save_convergence(run(4), tmp_path / name)


def test_few_late_steps_are_shown_from_the_beginning_and_over_a_decade() -> None:
    history = [Step(1, 5.0, 1.0, 0.9991, 1, 1.0), Step(2, 5.001, 1.0, 0.9992, 1, 1.0)]
    for ax in plot_convergence(history).axes:
        left, right = ax.get_xlim()
        low, high = ax.get_ylim()
        assert left == 0.0
        assert right > 5.001
        assert high >= 10.0 * low
