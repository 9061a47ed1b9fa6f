"""Live progress of a training run on a terminal: bounds, proven gap, how far to the tolerance."""

from __future__ import annotations

import math
from collections import deque
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from cutplane.report.time_left import in_words, time_left
from cutplane.solvers.result import Step

# So many of the latest steps tell how long it will take.
_TREND = 200


class TrainingProgress:
    """Show each step of a training run; pass the object itself as ``on_step``.

    The bar is logarithmic, from the first proven gap to the tolerance, because that is how a
    cutting-plane method advances: each halving of the gap costs about as much as the last. The time
    left is estimated from that decay. Nothing is shown, and nothing costs time, when the console is not a terminal.

    Parameters
    ----------
    tol : float
        The relative gap at which the bar is full.
    problems : int, default=1
        How many problems are solved one after the other (one per class in one-vs-rest).
    console : rich.console.Console, optional
        Where to show it; the standard error stream unless given.
    enabled : bool, default=True
        False shows nothing even on a terminal.

    Examples
    --------
    >>> from cutplane.report.progress import TrainingProgress
    >>> from cutplane.solvers.result import Step
    >>> with TrainingProgress(tol=1e-3) as progress:
    ...     progress(Step(iteration=1, seconds=0.1, upper=1.0, lower=0.5, planes=1, step=1.0))
    """

    def __init__(self, tol: float, *, problems: int = 1, console: Console | None = None, enabled: bool = True) -> None:
        self._tol = tol
        self._problems = problems
        console = console or Console(stderr=True)
        self._shown = enabled and console.is_terminal
        self._bars = Progress(
            TextColumn("[bold]{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[state]}", table_column=Column(no_wrap=True, overflow="ellipsis")),
            console=console,
            disable=not self._shown,
        )
        self._task: TaskID | None = None
        self._problem = 0
        self._first_gap = math.inf
        self._seconds: deque[float] = deque(maxlen=_TREND)
        self._gaps: deque[float] = deque(maxlen=_TREND)

    def __enter__(self) -> Self:
        """Start the display."""
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the last state on the screen."""
        self._bars.stop()

    def __call__(self, step: Step) -> None:
        """Show `step`; several kernel machines may run side by side, other problems come one after the other."""
        if not self._shown:
            return
        if self._task is None or (self._problems > 1 and step.problem > self._problem):
            self._begin_problem(step.problem)
        assert self._task is not None
        if not math.isfinite(self._first_gap):
            self._first_gap = _distance(step)
        self._seconds.append(step.seconds)
        self._gaps.append(_distance(step))
        left = time_left(self._seconds, self._gaps, self._tol)
        self._bars.update(
            self._task,
            left=in_words(left) if left else "",
            completed=log_fraction(self._first_gap, _distance(step), self._tol),
            state=describe(step),
        )

    def _begin_problem(self, problem: int) -> None:
        self._problem = problem
        self._first_gap = math.inf
        self._seconds.clear()
        self._gaps.clear()
        name = "training" if self._problems == 1 else f"class {problem + 1} of {self._problems}"
        self._task = self._bars.add_task(name, total=1.0, state="", left="")


def log_fraction(first_gap: float, gap: float, tol: float) -> float:
    """How far `gap` has come from `first_gap` to `tol` on a logarithmic scale, in [0, 1]."""
    if gap <= tol:
        return 1.0
    if not (math.isfinite(gap) and first_gap > tol > 0.0):
        return 0.0
    return min(1.0, max(0.0, math.log(first_gap / gap) / math.log(first_gap / tol)))


def _distance(step: Step) -> float:
    """What is to fall to the tolerance."""
    return step.gap if step.estimate is None else step.violation


def describe(step: Step) -> str:
    """One line about `step`; a narrow terminal cuts off the end, so what matters most comes first."""
    if step.estimate is not None:
        return f"{step.violation:.1e} above the model  objective {step.objective:.6g}  iteration {step.iteration}"
    last = f"planes {step.planes}" if math.isinf(step.violation) else f"machine {step.problem + 1}"
    return f"gap {step.gap:.1e}  {step.lower:.6g} ≤ optimum ≤ {step.upper:.6g}  iteration {step.iteration}  {last}"
