"""`cutplane train`: the options of every task, handed to the one that was asked for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.kernel_options import (
    CacheOption,
    Coef0Option,
    CutSizeOption,
    DegreeOption,
    EpsilonOption,
    GammaOption,
    KernelOption,
    KernelOptions,
    ProbabilityOption,
    RiskTolOption,
    SampledCutsOption,
)
from cutplane.cli.options import (
    CheckpointEveryOption,
    CheckpointOption,
    ClassWeight,
    DebugOption,
    JsonOption,
    LineSearch,
    Method,
    QuietOption,
    Task,
    ThreadsOption,
    ZeroBasedOption,
    limit,
    loss_options,
    positive,
)
from cutplane.cli.outputs import check_model_output, check_plot_output
from cutplane.cli.reporting import Report
from cutplane.cli.request import TrainRequest
from cutplane.cli.watch import WatchOption

# Each in a module of its own, with a function `train` that takes the request.
_TASKS = {
    Task.classes: "cutplane.cli.classification",
    Task.ordinal: "cutplane.cli.ordinal",
    Task.rank: "cutplane.cli.ranking",
    Task.strings: "cutplane.cli.strings",
    Task.sequence: "cutplane.cli.sequences",
    Task.regression: "cutplane.cli.regression",
}


def train(
    context: typer.Context,
    files: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="svmlight/libsvm file, plain or .gz, .bz2, .xz or .zst; on a cluster a pattern or URL of such "
            "files, or of Parquet or CSV files.",
            show_default=False,
        ),
    ],
    model_path: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Where to write the model file.", show_default=False)
    ],
    task: Annotated[Task, typer.Option(help="What to learn.")] = Task.classes,
    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            callback=positive,
            help="Weight of each example's loss; the estimator's own unless given.",
            show_default=False,
        ),
    ] = None,
    tol: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            help="Relative gap to prove: (objective - bound) / objective. With --kernel, the violation of the "
            "optimality conditions to stop at, as in LIBSVM.",
            show_default=False,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The loss: hinge, squared_hinge, logistic ... for classes; epsilon_insensitive, "
            "squared_epsilon_insensitive, huber, quantile for regression.",
            show_default=False,
        ),
    ] = None,
    loss_option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="An option of the loss; may be repeated.", show_default=False),
    ] = None,
    method: Annotated[Method, typer.Option(help="How to find planes.")] = Method.auto,
    line_search: Annotated[LineSearch | None, typer.Option(help="Line search of oca.", show_default=False)] = None,
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
    max_iter: Annotated[
        int | None,
        typer.Option(callback=limit, metavar="N", help="Stop after N iterations; -1 for no limit.", show_default=False),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            metavar="SECONDS",
            help="Stop training after this.",
            show_default=False,
        ),
    ] = None,
    checkpoint: CheckpointOption = None,
    checkpoint_every: CheckpointEveryOption = 30.0,
    kernel: KernelOption = None,
    gamma: GammaOption = "scale",
    degree: DegreeOption = 3,
    coef0: Coef0Option = 0.0,
    epsilon: EpsilonOption = 0.1,
    cache_size: CacheOption = None,
    probability: ProbabilityOption = False,
    sampled_cuts: SampledCutsOption = None,
    n_samples_cut: CutSizeOption = None,
    risk_tol: RiskTolOption = None,
    threads: ThreadsOption = None,
    zero_based: ZeroBasedOption = None,
    n_features: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Features, if more than DATA mentions.", show_default=False),
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For sequences: feature template as of CRF++; windows of two tokens to each side unless given.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save a convergence plot (.png, .svg or .pdf).", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save a report of the training (.html).", show_default=False),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Held-out examples to show in the report.", show_default=False),
    ] = None,
    feature_names: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Names for the report, one feature a line.", show_default=False),
    ] = None,
    order: Annotated[int, typer.Option(min=0, help="strings: longest k-mers at fixed positions.")] = 8,
    spectrum: Annotated[
        list[str] | None,
        typer.Option(metavar="BEGIN:END", help="strings: count k-mers in this window; may be repeated."),
    ] = None,
    spectrum_order: Annotated[int, typer.Option(min=1, help="strings: longest k-mers counted.")] = 8,
    depth: Annotated[
        int | None,
        typer.Option(min=1, metavar="D", help="strings: weights of a kernel of this order.", show_default=False),
    ] = None,
    alphabet: Annotated[str, typer.Option(help="strings: dna, rna, protein, or the letters.")] = "dna",
    proof: Annotated[
        bool,
        typer.Option("--proof", help="classes, regression: keep a proof in MODEL, for cutplane verify."),
    ] = False,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="classes, regression: train on the cluster of this Dask scheduler, whose workers read DATA.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="The same on N processes of this machine.", show_default=False),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="On a cluster: the column of Parquet or CSV files to learn."),
    ] = None,
    watch: WatchOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    _debug: DebugOption = False,
) -> int:
    """Train a linear or kernel SVM and prove how close to optimal it is.

    Reads DATA, writes MODEL. Ctrl-C stops training and saves the best model so far with the gap that
    was proven for it.
    """
    if no_intercept and intercept_scaling is not None:
        raise typer.BadParameter("is for models with an intercept.", param_hint="--intercept-scaling")
    data = Path(files)
    named = _check_files(data, model_path, checkpoint, plot)
    request = TrainRequest(
        data=data,
        model_path=model_path,
        C=C,
        tol=tol,
        loss=loss,
        loss_options=loss_options(loss_option),
        method=method.value,
        line_search=None if line_search is None else line_search.value,
        fit_intercept=not no_intercept,
        intercept_scaling=intercept_scaling,
        class_weight=None if class_weight is None else class_weight.value,
        max_iter=max_iter,
        time_limit=time_limit,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        threads=threads,
        zero_based=zero_based,
        n_features=n_features,
        template=template,
        plot=plot,
        report=Report.asked(context, report, test, feature_names, inputs=named),
        as_json=as_json,
        watch=watch,
        quiet=quiet,
        order=order,
        spectrum=tuple(spectrum or ()),
        spectrum_order=spectrum_order,
        depth=depth,
        alphabet=alphabet,
        proof=proof,
        probability=probability,
        kernel=KernelOptions.asked(
            kernel, gamma, degree, coef0, epsilon, cache_size, probability, sampled_cuts, n_samples_cut, risk_tol
        ),
    )
    if proof and (sampled_cuts is not None or task not in (Task.classes, Task.regression)):
        raise typer.BadParameter("is for --task classes and regression, without --sampled-cuts.", param_hint="--proof")
    if probability and task is not Task.classes:
        raise typer.BadParameter("is for --task classes: other models have none.", param_hint="--probability")
    if dask is not None or workers is not None:
        return _train_on_cluster(request, task, files, dask, workers, target)
    if target is not None:
        raise typer.BadParameter("is for --dask and --workers.", param_hint="--target")
    _check_checkpoint(task, request)
    if request.kernel is not None:
        return _train_kernel(task, request)
    if sampled_cuts is not None:
        raise typer.BadParameter("needs --kernel.", param_hint="--sampled-cuts")
    if task not in _TASKS:
        raise typer.BadParameter(f"{task.value} needs --kernel.", param_hint="--task")
    status: int = import_module(_TASKS[task]).train(request)
    return status


def _train_on_cluster(
    request: TrainRequest, task: Task, files: str, dask: str | None, workers: int | None, target: str | None
) -> int:
    from cutplane.cli import on_cluster

    if dask is not None and workers is not None:
        raise typer.BadParameter("starts a cluster; --dask names one that is there.", param_hint="--workers")
    return on_cluster.train(request, task, on_cluster.Cluster(files, dask, workers, target))


def _check_files(data: Path, model_path: Path, checkpoint: Path | None, plot: Path | None) -> list[Path]:
    """Refuse files that cannot be written, or that the command would overwrite; returns those named so far."""
    check_model_output(model_path, inputs=[data])
    if checkpoint is not None and checkpoint.resolve() in (data.resolve(), model_path.resolve()):
        raise typer.BadParameter("needs a file of its own, beside DATA and MODEL.", param_hint="--checkpoint")
    if plot is None:
        return [data, model_path]
    check_plot_output(plot, inputs=[data, model_path])
    return [data, model_path, plot]


def _check_checkpoint(task: Task, request: TrainRequest) -> None:
    """Refuse checkpoints of models that have none."""
    if request.checkpoint is not None and request.kernel is not None:
        raise typer.BadParameter("is for models without --kernel.", param_hint="--checkpoint")
    if request.checkpoint is not None and task is Task.sequence and request.method != "oca":
        raise typer.BadParameter("needs --method oca with --task sequence.", param_hint="--checkpoint")


def _train_kernel(task: Task, request: TrainRequest) -> int:
    if task not in (Task.classes, Task.regression, Task.sequence):
        raise typer.BadParameter("is for --task classes, regression and sequence.", param_hint="--kernel")
    assert request.kernel is not None
    sampled = request.kernel.sampled_cuts is not None or task is Task.sequence
    for option, value in (("--n-samples-cut", request.kernel.n_samples_cut), ("--risk-tol", request.kernel.risk_tol)):
        if value is not None and not sampled:
            raise typer.BadParameter("needs --sampled-cuts.", param_hint=option)
    if sampled and request.tol is not None:
        raise typer.BadParameter("is for proven gaps; models by cuts stop at --risk-tol.", param_hint="--tol")
    if sampled and task is Task.regression:
        raise typer.BadParameter("is for --task classes and sequence.", param_hint="--sampled-cuts")
    from cutplane.cli import kernels

    return kernels.train_regression(request) if task is Task.regression else kernels.train(request, task)
