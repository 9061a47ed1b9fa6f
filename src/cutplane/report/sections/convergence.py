"""The bounds on the optimum and the proven gap, over the seconds of training."""

from __future__ import annotations

import math

from cutplane.report.charts import Axis, Line, LineChart
from cutplane.report.markup import Markup, details, element, figure, number, paragraph, seconds, table
from cutplane.report.page import Section
from cutplane.report.run_shapes import above, below, gaps, spread
from cutplane.report.scales import decades
from cutplane.report.trained import Trained
from cutplane.solvers.result import Step

_MOST_ROWS = 12
_MOST_MULTIPLES = 12
_SMALL = 250, 160


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
        element("div", *((_spread(trained), _problems(trained)) if several else _alone(trained)), class_="pair"),
        _multiples(trained) if several else _steps(runs[0]),
    ]
    return Section("convergence", "Certified convergence", Markup("".join(body)))


def _alone(trained: Trained) -> tuple[Markup, Markup]:
    """Of a single problem: how far away each bound was, and the gap."""
    run = trained.runs[0]
    points = gaps(run)
    if not points.seconds:
        return _distances(run), paragraph("The gap closed at the first step.")
    chart = LineChart(
        "Proven relative gap",
        f"On a logarithmic axis, over time; it ends at {run[-1].gap:.1e}.",
        Axis("seconds", low=0.0),
        Axis("relative gap", log=True),
        [Line("proven gap", *points, True, 6)],
        mark=_tolerance(trained),
    )
    return _distances(run), figure("Proven relative gap: (upper − lower) / upper.", chart.svg(), chart.legend())


def _distances(run: list[Step]) -> Markup:
    """Both bounds as distances: as values they would lie on top of each other for most of the time."""
    over, under = above(run), below(run)
    if not over.seconds and not under.seconds:
        return paragraph("Both bounds met at the first step.")
    chart = LineChart(
        "Distance of the bounds",
        f"The objective falls from {number(run[0].upper)} to {number(run[-1].upper)}, the lower bound rises from "
        f"{number(run[0].lower)} to {number(run[-1].lower)}, in {seconds(run[-1].seconds)}. On a logarithmic axis.",
        Axis("seconds", low=0.0),
        Axis("distance", log=True),
        [
            Line(f"{_model_of(run)} above the last bound", *over, True, 1),
            Line("lower bound below the last objective", *under, True, 0, True),
        ],
    )
    caption = "How far each bound was from where the other ended: the optimum is no further away."
    return figure(caption, chart.svg(), chart.legend())


def _model_of(run: list[Step]) -> str:
    return "best model so far" if math.isinf(run[0].violation) else "model at that time"


def _tolerance(trained: Trained) -> tuple[str, float] | None:
    """The tolerance as a line, where it is one of gaps."""
    model = trained.model
    tol = getattr(model, "tol", None) if getattr(model, "stopping", "gap") == "gap" else None
    return None if tol is None else (f"tolerance {tol:g}", float(tol))


def _spread(trained: Trained) -> Markup:
    """Of several problems, the gap of the worst, with a band to the best."""
    runs = trained.runs
    moments, worst, best = spread(runs)
    if not moments:
        return paragraph("Every gap closed at the first step.")
    chart = LineChart(
        "Proven relative gap of the worst problem",
        f"On a logarithmic axis, over time, with a band to the best of {len(runs)}; it ends at "
        f"{max(run[-1].gap for run in runs):.1e}.",
        Axis("seconds of each", low=0.0),
        Axis("relative gap", log=True),
        [Line("worst", moments, worst, True, 6), Line("best", moments, best, True, 0, True)],
        band=True,
        mark=_tolerance(trained),
        points=False,
    )
    return figure(f"Proven relative gap: the worst and the best of {len(runs)}.", chart.svg(), chart.legend())


def _multiples(trained: Trained) -> Markup:
    """A small chart of the gap for each problem, all with the same axes; of many, the slowest."""
    pairs = [pair for pair in zip(trained.problems, map(gaps, trained.runs), strict=True) if pair[1].seconds]
    if not pairs:
        return Markup("")
    shown = sorted(sorted(pairs, key=lambda pair: -pair[1].seconds[-1])[:_MOST_MULTIPLES], key=pairs.index)
    mark = _tolerance(trained)
    low, high = decades([value for _, (_, values) in shown for value in values] + ([mark[1]] if mark else []))
    longest = max(points.seconds[-1] for _, points in shown)
    charts = []
    for name, points in shown:
        chart = LineChart(
            f"Proven relative gap of {name}",
            f"On a logarithmic axis; it ends at {points.values[-1]:.1e} after {seconds(points.seconds[-1])}.",
            Axis("seconds", low=0.0, high=longest),
            Axis("", log=True, low=low, high=high),
            [Line(name, *points, True, 6)],
            mark=mark,
            size=_SMALL,
        )
        charts.append(figure(f"{name}: {points.values[-1]:.1e}", chart.svg()))
    rest = len(pairs) - len(shown)
    more = [paragraph(f"The {len(shown)} slowest; the table has the other {rest}.", "soft")] if rest else []
    return Markup("".join([element("div", *charts, class_="multiples"), *more]))


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
    figures = table("Problems", head, rows)
    title = f"One problem for each {what}"
    if len(rows) > _MOST_ROWS:
        return details(title, figures)
    return element("div", paragraph(f"{title}.", "soft"), figures)
