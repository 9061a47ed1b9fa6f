"""The bounds on the optimum and the proven gap, over the seconds of training."""

from __future__ import annotations

import math

from cutplane.report.charts import COLOURS, Axis, Line, LineChart
from cutplane.report.markup import Markup, details, element, figure, number, paragraph, seconds, table
from cutplane.report.page import Section
from cutplane.report.trained import Trained
from cutplane.solvers.result import Step

_MOST_ROWS = 12


def section(trained: Trained) -> Section | None:
    """How training closed in on the optimum."""
    runs = trained.runs
    if not runs:
        return None
    several = len(runs) > 1
    body = [
        paragraph(
            "The optimum lies between the two bounds at every moment; where they meet, nothing better is left to find."
        ),
        element("div", *([] if several else [_bounds(runs[0])]), _gap(trained), class_="pair"),
        _steps(runs[0]) if not several else _problems(trained),
    ]
    return Section("convergence", "Certified convergence", Markup("".join(body)))


def _bounds(run: list[Step]) -> Markup:
    times = [step.seconds for step in run]
    # First guesses may be a hundred times off: show where the bounds meet.
    last = run[-1].upper
    top = min(run[0].upper, last + 2.0 * abs(last))
    bottom = max(run[0].lower, last - 2.0 * abs(last))
    margin = 0.06 * (top - bottom) or 1.0
    chart = LineChart(
        "Bounds on the optimum",
        f"The upper bound falls from {number(run[0].upper)} to {number(run[-1].upper)}, the lower bound rises from "
        f"{number(run[0].lower)} to {number(run[-1].lower)}, in {seconds(times[-1])}.",
        Axis("seconds", low=0.0),
        Axis("objective", low=bottom - margin, high=top + margin),
        [
            Line(f"upper bound: {_model_of(run)}", times, [step.upper for step in run], steps=True, colour=1),
            Line("lower bound: proven", times, [step.lower for step in run], steps=True, colour=0, dashed=True),
        ],
        band=True,
    )
    return figure("Bounds on the optimum: what is still open is shaded.", chart.svg(), chart.legend())


def _model_of(run: list[Step]) -> str:
    return "the best model so far" if math.isinf(run[0].violation) else "the model at that time"


def _gap(trained: Trained) -> Markup:
    runs, names = trained.runs, trained.problems
    model = trained.model
    tol = getattr(model, "tol", None) if getattr(model, "stopping", "gap") == "gap" else None
    lines = []
    for index, run in enumerate(runs):
        steps = [step for step in run if 0.0 < step.gap < math.inf]
        name = "proven gap" if len(runs) == 1 else names[index]
        colour = 6 if len(runs) == 1 else index % COLOURS
        line = Line(
            name, [step.seconds for step in steps], [step.gap for step in steps], True, colour, index >= COLOURS
        )
        lines.append(line)
    shown = [line for line in lines if len(line.x)]
    if not shown:
        return paragraph("The gap closed at the first step.")
    worst = max(run[-1].gap for run in runs)
    chart = LineChart(
        "Proven relative gap",
        f"On a logarithmic axis, over time; it ends at {worst:.1e}.",
        Axis("seconds", low=0.0),
        Axis("relative gap", log=True),
        shown,
        mark=None if tol is None else (f"tolerance {tol:g}", float(tol)),
    )
    legend = chart.legend() if len(shown) <= 2 * COLOURS else Markup("")
    return figure("Proven relative gap: (upper − lower) / upper.", chart.svg(), legend)


def _steps(run: list[Step]) -> Markup:
    every = max(1, -(-len(run) // _MOST_ROWS))
    chosen = [*run[:-1:every], run[-1]]
    rows = [
        (
            f"{step.iteration:,}",
            seconds(step.seconds),
            number(step.upper, 6),
            number(step.lower, 6),
            f"{step.gap:.1e}",
            *_own(step).values(),
        )
        for step in chosen
    ]
    head = ["iteration", "time", "upper", "lower", "gap", *_own(run[-1])]
    return details("The steps as a table", table("Steps", head, rows))


def _own(step: Step) -> dict[str, str]:
    """What only steps of this kind have: those of kernel machines, and those of others."""
    if math.isfinite(step.violation):
        return {"violation": f"{step.violation:.1e}"}
    return {"planes": f"{step.planes:,}"}


def _problems(trained: Trained) -> Markup:
    rows = [
        (name, f"{run[-1].iteration:,}", seconds(run[-1].seconds), number(run[-1].upper, 6), f"{run[-1].gap:.1e}")
        for name, run in zip(trained.problems, trained.runs, strict=True)
    ]
    what = "pair of classes" if getattr(trained.model, "_pairwise", False) else "class"
    head = [what, "iterations", "time", "objective", "proven gap"]
    return details(f"One problem for each {what}: the figures", table("Problems", head, rows))
