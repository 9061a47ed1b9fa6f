"""Several runs side by side: what differs, what was proven, and how long it took."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from sklearn.base import BaseEstimator

from cutplane.io.atomic import replace_file
from cutplane.report.bars import diverging_bars
from cutplane.report.calls import plain_params
from cutplane.report.charts import Axis, Line, LineChart
from cutplane.report.markup import Markup, element, figure, number, paragraph, seconds, table
from cutplane.report.page import Section, render_page
from cutplane.report.run_shapes import spread
from cutplane.report.svg import COLOURS
from cutplane.report.trained import Trained
from cutplane.report.verdict import met
from cutplane.solvers.result import Step

_NUMBERS = ("objective", "lower_bound", "gap")


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run: what was asked for, what was reached and what is proven.

    Attributes
    ----------
    name : str
        What it is called.
    kind : str
        The estimator; empty where it is not known.
    params : dict
        Its parameters; empty where they are not known.
    objective, lower_bound, gap, seconds : float
    n_iter : int
        Over all problems.
    stop_reason : str
    proven : bool
        Whether what was asked for is proven.
    steps : list of lists of Step
        The history of each problem, where it is known.
    score : float or None
        On held-out examples.
    """

    name: str
    kind: str
    params: dict[str, Any]
    objective: float
    lower_bound: float
    gap: float
    seconds: float
    n_iter: int
    stop_reason: str
    proven: bool
    steps: list[list[Step]] = field(default_factory=list, repr=False)
    score: float | None = None


def run_of_model(name: str, model: BaseEstimator, score: float | None = None) -> ComparedRun:
    """The run of a fitted model."""
    return ComparedRun(
        name,
        type(model).__name__,
        plain_params(model),
        float(model.objective_),
        float(model.lower_bound_),
        float(model.gap_),
        sum(each.seconds for each in model.certificates_),
        sum(each.n_iter for each in model.certificates_),
        str(model.stop_reason_),
        met(model),
        Trained(model).runs,
        score,
    )


def run_of_json(name: str, text: str) -> ComparedRun:
    """The run that an output of ``cutplane train --json`` tells of; `ValueError` where it is none."""
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    if not isinstance(said, dict) or not all(key in said for key in (*_NUMBERS, "stop_reason", "problems")):
        raise ValueError(f"{name} is no model file and no output of 'cutplane train --json'.")
    objective, lower_bound, gap = (math.nan if said[key] is None else float(said[key]) for key in _NUMBERS)
    took = sum(each["seconds"] for each in said["problems"])  # as of a model file, without what was beside
    # Outputs of earlier versions say nothing but the tolerance.
    tolerance = {key: said[key] for key in ("tol", "risk_tol") if said.get(key) is not None}
    known, kind = said.get("params", tolerance), str(said.get("kind", ""))
    n_iter = sum(each["n_iter"] for each in said["problems"])
    proven = bool(said.get("proven"))
    return ComparedRun(name, kind, known, objective, lower_bound, gap, took, n_iter, said["stop_reason"], proven)


def differing(runs: Sequence[ComparedRun]) -> list[str]:
    """The parameters that are not the same in all runs that have them."""
    names = sorted({name for run in runs for name in run.params})
    found = {name: {json.dumps(run.params[name]) for run in runs if name in run.params} for name in names}
    return [name for name, values in found.items() if len(values) > 1]


def apart(runs: Sequence[ComparedRun]) -> tuple[ComparedRun, ComparedRun] | None:
    """Two runs whose optima are proven to differ, so that they are of different problems; None where all may be one.

    The optimum of a run lies between its lower bound and its objective.
    """
    lowest = min(runs, key=lambda run: run.objective)
    highest = max(runs, key=lambda run: run.lower_bound)
    return (lowest, highest) if highest.lower_bound > lowest.objective else None


def compared_table(runs: Sequence[ComparedRun]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: a run each."""
    several = len({run.kind for run in runs if run.kind}) > 1
    names = differing(runs)
    scored = any(run.score is not None for run in runs)
    head = ["run", *(["model"] if several else []), *names, "proven gap", "objective", "lower bound"]
    head += ["time", "iterations", "ended by", *(["held-out score"] if scored else [])]
    rows = []
    for run in runs:
        row = [run.name, *([run.kind or "not known"] if several else [])]
        row += [_shown(run.params[name]) if name in run.params else _absent(run) for name in names]
        row += [f"{run.gap:.1e}", number(run.objective, 6), number(run.lower_bound, 6)]
        row += [seconds(run.seconds), f"{run.n_iter:,}", run.stop_reason]
        rows.append(row + ([("" if run.score is None else f"{run.score:.4f}")] if scored else []))
    return head, rows


def same_problem(runs: Sequence[ComparedRun]) -> str:
    """What the bounds say of whether the runs are of one problem."""
    pair = apart(runs)
    if pair is None:
        return "The bounds of all runs have a point in common, so that they may be of one problem."
    low, high = pair
    return (
        f"The runs are not of one problem: the optimum of {low.name} is at most {number(low.objective, 6)}, that of "
        f"{high.name} at least {number(high.lower_bound, 6)}. Objectives of different data, C or loss say nothing of "
        "each other."
    )


def render_comparison(runs: Sequence[ComparedRun], title: str | None = None) -> str:
    """The page as text."""
    head, rows = compared_table(runs)
    open_runs = [run.name for run in runs if not run.proven]
    short = f" Not proven as asked for: {', '.join(open_runs)}." if open_runs else " All are proven as asked for."
    body = paragraph(same_problem(runs) + short) + table("Figures of each run", head, rows)
    sections = [
        Section("runs", "Runs", Markup(body)),
        Section("convergence", "Certified convergence", element("div", _gaps(runs), _times(runs), class_="pair")),
    ]
    now = datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC")
    subtitle = f"Comparison of {len(runs)} runs, {now}. Cutplane {version('cutplane')}."
    footer = "The optimum of a run lies between its lower bound and its objective."
    return render_page(title or f"{len(runs)} runs", subtitle, Markup(""), sections, footer)


def write_comparison(runs: Sequence[ComparedRun], where: str | os.PathLike[str], title: str | None = None) -> None:
    """Write the page to a file; an existing one is replaced once the new one is complete."""
    text = render_comparison(runs, title)
    with replace_file(where) as file:
        file.write(text.encode("utf-8"))


def _gaps(runs: Sequence[ComparedRun]) -> Markup:
    """The gap of each run over time, of its worst problem where it has several."""
    lines = []
    for index, run in enumerate(runs):
        moments, worst, _ = spread(run.steps)
        if moments:
            lines.append(Line(run.name, moments, worst, True, index % COLOURS, index % 2 == 1))
    if not lines:
        return paragraph("No run has a history: model files do, outputs of --json do not.")
    words = "; ".join(f"{run.name} ends at {run.gap:.1e} after {seconds(run.seconds)}" for run in runs)
    tols = {run.params.get("tol") for run in runs}
    tol = tols.pop() if len(tols) == 1 else None
    chart = LineChart(
        "Proven relative gap of each run",
        f"On a logarithmic axis, over time: {words}.",
        Axis("seconds", low=0.0),
        Axis("relative gap", log=True),
        lines,
        mark=None if tol is None else (f"tolerance {tol:g}", float(tol)),
    )
    return figure("Proven relative gap over time; of several problems the worst.", chart.svg(), chart.legend())


def _times(runs: Sequence[ComparedRun]) -> Markup:
    names, times = [run.name for run in runs], [run.seconds for run in runs]
    words = "; ".join(f"{name} {seconds(time)}" for name, time in zip(names, times, strict=True))
    return figure("Seconds of training.", diverging_bars("Seconds of training", words, names, times))


def _absent(run: ComparedRun) -> str:
    """In place of a parameter: an estimator of another kind has none of that name."""
    return "-" if run.kind else "not known"


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
