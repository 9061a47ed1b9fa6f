"""`cutplane path`: a whole grid of C at little more than the price of one, and the best of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table
from sklearn.base import BaseEstimator

from cutplane._types import Params
from cutplane.cli import exit_codes
from cutplane.cli.data import read_data
from cutplane.cli.options import (
    DataArgument,
    DebugOption,
    JsonOption,
    QuietOption,
    Task,
    ThreadsOption,
    ZeroBasedOption,
    positive,
)
from cutplane.cli.output import print_json, stdout
from cutplane.cli.outputs import check_model_output, check_plot_output
from cutplane.estimators.common.persistence import save
from cutplane.estimators.linear.cross_validation import LinearSVCCV, LinearSVRCV
from cutplane.report.path_plot import save_path_plot


def path(
    data: DataArgument,
    task: Annotated[Task, typer.Option(help="What to learn: classes or regression.")] = Task.classes,
    loss: Annotated[str | None, typer.Option(metavar="NAME", help="The loss.", show_default=False)] = None,
    smallest: Annotated[float, typer.Option(callback=positive, help="The smallest C.")] = 1e-4,
    largest: Annotated[float, typer.Option(callback=positive, help="The largest C.")] = 1e2,
    steps: Annotated[int, typer.Option(min=2, help="Values of C, equal factors apart.")] = 13,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    scoring: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A scikit-learn scorer; accuracy or r2 unless given.", show_default=False),
    ] = None,
    tol: Annotated[float, typer.Option(callback=positive, help="Relative gap to prove at every C.")] = 1e-3,
    model_path: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="Save the model with the best C.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot score and |w| against C (.png, .svg or .pdf).", show_default=False),
    ] = None,
    threads: ThreadsOption = None,
    zero_based: ZeroBasedOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    _debug: DebugOption = False,
) -> int:
    """Train for a grid of C, choose among them by cross-validation, and prove every model.

    The planes found for one C serve for all others, so that a grid costs little more than its most
    expensive fit.
    """
    if task not in (Task.classes, Task.regression):
        raise typer.BadParameter(f"{task.value} has no path; classes and regression have.", param_hint="--task")
    if smallest >= largest:
        raise typer.BadParameter(f"{smallest:g} is not below --largest {largest:g}.", param_hint="--smallest")
    if model_path is not None:
        check_model_output(model_path, inputs=[data])
    if plot is not None:
        check_plot_output(plot, inputs=[data, *([] if model_path is None else [model_path])])
    examples = read_data(data, zero_based=zero_based, threads=threads, quiet=quiet)
    grid = np.geomspace(smallest, largest, steps).tolist()
    settings: Params = {"cv": folds, "scoring": scoring, "tol": tol, "n_jobs": threads}
    if loss is not None:
        settings["loss"] = loss
    kind = LinearSVRCV if task is Task.regression else LinearSVCCV
    y = examples.y.astype(float) if task is Task.regression else examples.y
    begin = time.perf_counter()
    chosen: BaseEstimator = kind(grid, **settings).fit(examples.X, y)
    # The models of all examples, whose weights the plot shows.
    shared = {name: value for name, value in chosen.get_params().items() if name not in ("Cs", "cv", "scoring")}
    models = kind._plain(**shared).path(examples.X, y, grid)
    seconds = time.perf_counter() - begin
    lengths = [float(np.sqrt(np.sum(model.coef_**2))) for model in models]
    name = scoring or ("r2" if task is Task.regression else "accuracy")
    if model_path is not None:
        save(chosen, model_path, notes={"data": data.name, "zero_based": examples.zero_based})
    if plot is not None:
        save_path_plot(grid, lengths, chosen.scores_.tolist(), plot, score_name=name)
    gaps = [float(np.max(model.gap_)) for model in models]
    if as_json:
        rows = zip(grid, chosen.scores_.tolist(), lengths, gaps, strict=True)
        print_json(
            {
                "best_C": chosen.C_,
                "scoring": name,
                "seconds": seconds,
                "model": model_path,
                "plot": plot,
                "path": [{"C": C, "scores": scores, "length": w, "gap": gap} for C, scores, w, gap in rows],
            }
        )
    elif not quiet:
        _print(chosen, lengths, gaps, name, seconds)
    return exit_codes.OK if max(gaps) <= tol and np.max(chosen.gap_) <= tol else exit_codes.NOT_PROVEN


def _print(chosen: BaseEstimator, lengths: list[float], gaps: list[float], name: str, seconds: float) -> None:
    table = Table(title=f"{len(lengths)} values of C in {seconds:.2f} s", title_justify="left", title_style="dim")
    for column in ("C", f"mean {name}", "worst fold", "best fold", "|w|", "proven gap", ""):
        table.add_column(column, justify="right")
    for C, scores, length, gap in zip(chosen.Cs_, chosen.scores_, lengths, gaps, strict=True):
        cells = (scores.mean(), scores.min(), scores.max())
        mark = "best" if C == chosen.C_ else ""
        table.add_row(f"{C:.3g}", *(f"{cell:.4f}" for cell in cells), f"{length:.4g}", f"{gap:.1e}", mark)
    stdout().print(table)
