"""`cutplane path`: a whole grid of C at little more than the price of one, and the best of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table
from sklearn.base import BaseEstimator

from cutplane._types import Params
from cutplane.cli import exit_codes
from cutplane.cli.certified_path import CertifiedPath, certified_path
from cutplane.cli.data import Examples, read_data
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
    certify: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            help="Try more C until none of the range can have an error rate lower by more than this, such as 0.01.",
            show_default=False,
        ),
    ] = None,
    max_fits: Annotated[int, typer.Option(min=2, help="With --certify: values of C at most.")] = 200,
    tol: Annotated[float, typer.Option(callback=positive, help="Relative gap to prove at every C.")] = 1e-3,
    model_path: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="Save the model with the best C.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Plot score and |w|, or error and its lower bound, against C (.png, .svg or .pdf).",
            show_default=False,
        ),
    ] = None,
    threads: ThreadsOption = None,
    zero_based: ZeroBasedOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    _debug: DebugOption = False,
) -> int:
    """Train for a grid of C, choose among them by cross-validation, and prove every model.

    The planes found for one C serve for all others, so that a grid costs little more than its most
    expensive fit. With --certify, the C that is chosen is proven to be the best of all C between the
    smallest and the largest, up to that much.
    """
    if task not in (Task.classes, Task.regression):
        raise typer.BadParameter(f"{task.value} has no path; classes and regression have.", param_hint="--task")
    if smallest >= largest:
        raise typer.BadParameter(f"{smallest:g} is not below --largest {largest:g}.", param_hint="--smallest")
    if certify is not None and task is not Task.classes:
        raise typer.BadParameter("it is an error rate, which classes alone have.", param_hint="--certify")
    _check_files(data, model_path, plot)
    examples = read_data(data, zero_based=zero_based, threads=threads, quiet=quiet)
    grid = np.geomspace(smallest, largest, steps).tolist()
    settings: Params = {"cv": folds, "scoring": scoring, "tol": tol, "n_jobs": threads}
    settings |= {} if loss is None else {"loss": loss}
    found: _Path | CertifiedPath
    if certify is None:
        found = _trained(task, examples, grid, settings)
    else:
        found = certified_path(examples, grid, settings | {"certify": certify, "max_fits": max_fits})
    if model_path is not None:
        save(found.chosen, model_path, notes={"data": data.name, "zero_based": examples.zero_based})
    if plot is not None:
        found.save_plot(plot)
    if as_json:
        print_json({**found.as_json(), "model": model_path, "plot": plot})
    elif not quiet:
        stdout().print(found.table())
    return exit_codes.OK if found.proven(tol) else exit_codes.NOT_PROVEN


def _check_files(data: Path, model_path: Path | None, plot: Path | None) -> None:
    """Refuse files that cannot be written, or that the command would overwrite."""
    if model_path is not None:
        check_model_output(model_path, inputs=[data])
    if plot is not None:
        check_plot_output(plot, inputs=[data, *([] if model_path is None else [model_path])])


@dataclass(frozen=True)
class _Path:
    """The model with the C that was chosen, and those of all C on all examples, whose weights the plot shows."""

    chosen: BaseEstimator
    models: list[BaseEstimator]
    score_name: str
    seconds: float

    @property
    def lengths(self) -> list[float]:
        """|w| at each C."""
        return [float(np.sqrt(np.sum(model.coef_**2))) for model in self.models]

    @property
    def gaps(self) -> list[float]:
        """What is proven at each C."""
        return [model.gap_ for model in self.models]

    def proven(self, tol: float) -> bool:
        """Whether all models are, the one with the chosen C included."""
        return max(*self.gaps, float(self.chosen.gap_)) <= tol

    def save_plot(self, path: Path) -> None:
        """Scores and lengths over C."""
        scores = self.chosen.scores_.tolist()
        save_path_plot(self.chosen.Cs_.tolist(), self.lengths, scores, path, score_name=self.score_name)

    def as_json(self) -> dict[str, object]:
        """The summary for machines."""
        rows = zip(self.chosen.Cs_.tolist(), self.chosen.scores_.tolist(), self.lengths, self.gaps, strict=True)
        return {
            "best_C": self.chosen.C_,
            "scoring": self.score_name,
            "seconds": self.seconds,
            "path": [{"C": C, "scores": scores, "length": w, "gap": gap} for C, scores, w, gap in rows],
        }

    def table(self) -> Table:
        """The summary for people."""
        title = f"{len(self.models)} values of C in {self.seconds:.2f} s"
        table = Table(title=title, title_justify="left", title_style="dim")
        for column in ("C", f"mean {self.score_name}", "worst fold", "best fold", "|w|", "proven gap", ""):
            table.add_column(column, justify="right")
        for C, scores, length, gap in zip(self.chosen.Cs_, self.chosen.scores_, self.lengths, self.gaps, strict=True):
            cells = (scores.mean(), scores.min(), scores.max())
            mark = "best" if C == self.chosen.C_ else ""
            table.add_row(f"{C:.3g}", *(f"{cell:.4f}" for cell in cells), f"{length:.4g}", f"{gap:.1e}", mark)
        return table


def _trained(task: Task, examples: Examples, grid: list[float], settings: Params) -> _Path:
    """Choose C by cross-validation, and train for every C on all examples."""
    regression = task is Task.regression
    kind = LinearSVRCV if regression else LinearSVCCV
    y = examples.y.astype(float) if regression else examples.y
    begin = time.perf_counter()
    chosen: BaseEstimator = kind(grid, **settings).fit(examples.X, y)
    models = kind._plain(**chosen._shared()).path(examples.X, y, grid)
    seconds = time.perf_counter() - begin
    return _Path(chosen, models, settings["scoring"] or ("r2" if regression else "accuracy"), seconds)
