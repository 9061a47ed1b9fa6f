"""`cutplane train`: a model from an svmlight file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from cutplane.cli.data import read_data
from cutplane.cli.options import (
    ClassWeight,
    DataArgument,
    DebugOption,
    JsonOption,
    LineSearch,
    Method,
    QuietOption,
    ThreadsOption,
    ZeroBasedOption,
    positive,
)
from cutplane.cli.output import print_facts, print_json
from cutplane.cli.outputs import check_model_output, check_plot_output
from cutplane.cli.training import fit
from cutplane.estimators.linear_svc import LinearSVC
from cutplane.estimators.persistence import save
from cutplane.report.plots import save_convergence


def train(
    data: DataArgument,
    model_path: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Where to write the model file.", show_default=False)
    ],
    C: Annotated[float, typer.Option("--C", callback=positive, help="Weight of each example's loss.")] = 1.0,
    tol: Annotated[
        float, typer.Option(callback=positive, help="Relative gap to prove: (objective - bound) / objective.")
    ] = 1e-3,
    method: Annotated[Method, typer.Option(help="How to find planes.")] = Method.auto,
    line_search: Annotated[LineSearch, typer.Option(help="Line search of oca.")] = LineSearch.exact,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Train without an intercept.")] = False,
    intercept_scaling: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            metavar="S",
            help="Penalise the intercept as the weight of one more feature that is always S, as LIBLINEAR "
            "does; unpenalised unless given.",
            show_default=False,
        ),
    ] = None,
    class_weight: Annotated[
        ClassWeight | None,
        typer.Option(help="Weight classes by the inverse of their frequency.", show_default=False),
    ] = None,
    max_iter: Annotated[int, typer.Option(min=1, metavar="N", help="Stop after N iterations.")] = 10_000,
    time_limit: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            metavar="SECONDS",
            help="Stop training after this (per class, if more than two).",
            show_default=False,
        ),
    ] = None,
    threads: ThreadsOption = None,
    zero_based: ZeroBasedOption = None,
    n_features: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Features, if more than DATA mentions.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save a convergence plot (.png, .svg or .pdf).", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    _debug: DebugOption = False,
) -> int:
    """Train a linear SVM and prove how close to optimal it is.

    Reads DATA, writes MODEL. Ctrl-C stops training and saves the best model so far with the gap that
    was proven for it.
    """
    if no_intercept and intercept_scaling is not None:
        raise typer.BadParameter("is for models with an intercept.", param_hint="--intercept-scaling")
    check_model_output(model_path, inputs=[data])
    if plot is not None:
        check_plot_output(plot, inputs=[data, model_path])

    examples = read_data(data, zero_based=zero_based, threads=threads, n_features=n_features, quiet=quiet)
    _refuse_targets(data, examples.y)
    model = LinearSVC(
        C,
        tol=tol,
        method=method.value,
        line_search=line_search.value,
        fit_intercept=not no_intercept,
        intercept_scaling=intercept_scaling,
        class_weight=None if class_weight is None else class_weight.value,
        max_iter=max_iter,
        time_limit=time_limit,
        n_jobs=threads,
    )
    run = fit(model, examples.X, examples.y, quiet=quiet)
    save(model, model_path, notes={"data": data.name, "zero_based": examples.zero_based})
    if plot is not None:
        save_convergence(model.history_, plot, tol=tol, labels=list(model.classes_))

    if as_json:
        print_json({"model": model_path, "plot": plot, **run.as_json()})
    elif not quiet:
        saved = [("model", str(model_path))] + ([] if plot is None else [("plot", str(plot))])
        print_facts(run.facts() + saved)
    return run.status


def _refuse_targets(path: Path, y: NDArray[Any]) -> None:
    """Say it plainly when a file for regression is given; scikit-learn's words take three lines."""
    if y.dtype.kind == "f":
        odd = y[np.rint(y) != y]
        example = odd[0] if len(odd) else y[np.argmax(np.abs(y))]
        raise ValueError(f"{path} has the label {example:g}, but classes are whole numbers below 2^53 in size.")
