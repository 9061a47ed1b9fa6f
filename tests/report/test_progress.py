"""Live progress: silent where nobody looks, truthful where somebody does."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from cutplane.report.progress import TrainingProgress, describe, log_fraction
from cutplane.solvers.result import Step


def step(iteration: int, upper: float = 1.0, lower: float = 0.9, problem: int = 0) -> Step:
    return Step(iteration, 0.1 * iteration, upper, lower, planes=iteration, step=1.0, problem=problem)


def shown(steps: list[Step], *, terminal: bool, problems: int = 1, enabled: bool = True) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    with TrainingProgress(1e-3, problems=problems, console=console, enabled=enabled) as progress:
        for each in steps:
            progress(each)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_nothing_is_shown_when_it_is_not_a_terminal() -> None:
    assert shown([step(1), step(2)], terminal=False) == ""


def test_nothing_is_shown_when_it_is_not_wanted() -> None:
    assert shown([step(1)], terminal=True, enabled=False) == ""


def test_the_last_state_stays_on_the_screen() -> None:
    text = shown([step(1, 2.0, 0.0), step(2, 1.0, 0.9995)], terminal=True)
    assert "gap 5.0e-04  0.9995 ≤ optimum ≤ 1  iteration 2  planes 2" in text


def test_each_class_has_its_own_line() -> None:
    text = shown([step(1), step(2), step(1, problem=1), step(1, problem=2)], terminal=True, problems=3)
    assert all(f"class {c} of 3" in text for c in (1, 2, 3))


def test_a_run_without_steps_shows_no_bar() -> None:
    assert "training" not in shown([], terminal=True)


@pytest.mark.parametrize(
    ("first", "now", "fraction"),
    [(1.0, 1.0, 0.0), (1.0, 1e-3, 1.0), (0.1, 1e-2, 0.5), (0.1, 1e-9, 1.0), (0.1, 0.0, 1.0), (0.1, 0.5, 0.0)],
)
def test_the_bar_is_logarithmic(first: float, now: float, fraction: float) -> None:
    assert log_fraction(first, now, 1e-3) == pytest.approx(fraction)


def test_an_infinite_gap_is_no_progress() -> None:
    assert log_fraction(math.inf, math.inf, 1e-3) == 0.0
    assert "gap inf" in describe(step(1, upper=math.inf, lower=-2.0))


def test_the_time_left_is_shown_while_there_is_some() -> None:
    falling = [step(i, 1.0, 1.0 - 10.0 ** (-0.5 * i)) for i in range(1, 5)]
    assert "under 1 s left" in shown(falling, terminal=True)
    assert "left" not in shown([step(1)], terminal=True)
