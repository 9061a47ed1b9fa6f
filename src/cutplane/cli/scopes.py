"""What each option of training is for: one of another task is refused in a sentence, not ignored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import typer

from cutplane.cli.options import Task


class Scope(NamedTuple):
    """Options, whether they are for this request, and what to say where they are not."""

    options: tuple[str, ...]
    holds: Callable[[Any], bool]
    otherwise: str


def _by_cuts(request: Any) -> bool:
    return request.kernel is not None and (request.sampled_cuts is not None or request.task is Task.sequence)


def _linear(*tasks: Task) -> Callable[[Any], bool]:
    return lambda request: request.kernel is None and request.task in tasks


def _tasks(*tasks: Task) -> Callable[[Any], bool]:
    return lambda request: request.task in tasks


_NUMBERS = (Task.classes, Task.regression)

# In the order in which they are said: first what decides on others.
_SCOPES = (
    Scope(("kernel",), _tasks(*_NUMBERS, Task.sequence), "is for --task classes, regression and sequence."),
    Scope(
        ("gamma", "gammas", "degree", "coef0", "cache_size", "sampled_cuts", "risk_tol", "n_samples_cut"),
        lambda request: request.kernel is not None,
        "needs --kernel.",
    ),
    Scope(("sampled_cuts",), _tasks(Task.classes, Task.sequence), "is for --task classes and sequence."),
    Scope(("n_samples_cut", "risk_tol"), _by_cuts, "needs --sampled-cuts."),
    Scope(
        ("epsilon",),
        lambda request: request.kernel is not None and request.task is Task.regression,
        "is for --kernel with --task regression; of linear regressions it is --loss-option epsilon=E.",
    ),
    Scope(("order", "spectrum", "spectrum_order", "depth", "alphabet"), _tasks(Task.strings), "is for --task strings."),
    Scope(("template",), _tasks(Task.sequence), "is for --task sequence."),
    Scope(
        ("zero_based", "n_features"),
        _tasks(*_NUMBERS, Task.rank, Task.ordinal),
        "is for svmlight files; strings and sequences have none.",
    ),
    Scope(("target",), _tasks(*_NUMBERS, Task.ordinal), "is for --task classes, regression and ordinal."),
    Scope(
        ("method", "line_search", "no_intercept", "intercept_scaling", "loss", "loss_option", "multi_class"),
        lambda request: request.kernel is None,
        "is for linear models; leave it out with --kernel.",
    ),
    Scope(("loss", "loss_option"), _tasks(*_NUMBERS), "is for --task classes and regression."),
    Scope(("multi_class",), _tasks(Task.classes), "is for --task classes."),
    Scope(("no_intercept",), _linear(*_NUMBERS, Task.strings), "is for --task classes, regression and strings."),
    Scope(("intercept_scaling",), _linear(*_NUMBERS), "is for --task classes and regression."),
    Scope(("intercept_scaling",), lambda request: not request.no_intercept, "is for models with an intercept."),
    Scope(("class_weight",), _tasks(Task.classes, Task.strings), "is for --task classes and strings."),
    Scope(
        ("class_weight",),
        lambda request: not _by_cuts(request),
        "is not for --sampled-cuts: every example weighs the same in a sample.",
    ),
    Scope(("probability",), _tasks(Task.classes), "is for --task classes: other models have none."),
    Scope(("probability",), lambda request: not _by_cuts(request), "is not for models by cuts; leave it out."),
    Scope(
        ("proof",),
        lambda request: request.task in _NUMBERS and not _by_cuts(request),
        "is for --task classes and regression, without --sampled-cuts.",
    ),
    Scope(
        ("device",),
        lambda request: request.task is not Task.sequence,
        "is not for sequences, which are trained on the processor.",
    ),
    Scope(("tol",), lambda request: not _by_cuts(request), "is for proven gaps; models by cuts stop at --risk-tol."),
    Scope(
        ("plot",),
        lambda request: not _by_cuts(request),
        "shows proven bounds, which sampled cuts lack; take --report.",
    ),
    Scope(("until_certain",), _linear(Task.classes), "is for --task classes without --kernel."),
    Scope(("threshold",), _tasks(Task.classes, Task.strings), "is for --task classes and strings."),
    Scope(
        ("until_certain", "threshold"),
        lambda request: request.test is not None,
        "needs --test: the examples whose labels count.",
    ),
    Scope(("certify",), _linear(Task.classes), "is for --task classes without --kernel: it bounds an error rate."),
    Scope(("max_fits",), lambda request: request.certify is not None, "needs --certify."),
    Scope(
        ("report_path",),
        lambda request: getattr(request, "certify", None) is None,
        "shows the folds of a grid; the picture of --certify is --plot.",
    ),
    Scope(
        ("smallest", "largest", "steps"),
        lambda request: request.Cs is None,
        "is not for --C, which says all values.",
    ),
    Scope(("workers",), lambda request: request.dask is None, "starts a cluster; --dask names one that is there."),
    Scope(
        ("dask", "workers"),
        _linear(*_NUMBERS),
        "is for --task classes and regression without --kernel; others train in one process.",
    ),
    Scope(
        ("report_path", "test", "proof", "checkpoint", "probability"),
        lambda request: getattr(request, "dask", None) is None and getattr(request, "workers", None) is None,
        "is for examples in one process, not on a cluster.",
    ),
)


def check_scopes(request: Any, context: typer.Context) -> None:
    """Refuse options that say nothing about this task; `request` has those of the command as attributes."""
    names = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for scope in _SCOPES:
        given = [option for option in scope.options if option in names and _given(context, option)]
        if given and not scope.holds(request):
            context.fail(f"{names[given[0]]} {scope.otherwise}")


def _given(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"
