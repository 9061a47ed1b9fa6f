"""Options of the commands that train: what to learn, of what, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cutplane.cli.options import (
    DATA,
    MODEL,
    STOPPING,
    DeviceOption,
    LineSearch,
    Method,
    MultiClass,
    TargetOption,
    Task,
    ThreadsOption,
    ZeroBasedOption,
    limit,
    positive,
)


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """How DATA is read."""

    zero_based: ZeroBasedOption = None
    n_features: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Features, if more than DATA mentions.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None
    target: TargetOption = None


@dataclass(frozen=True, kw_only=True)
class TaskOption:
    """What is learned."""

    task: Annotated[Task, typer.Option(help="What to learn.", rich_help_panel=MODEL)] = Task.classes


@dataclass(frozen=True, kw_only=True)
class WeightOption:
    """How much the losses weigh."""

    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            callback=positive,
            help="Weight of each example's loss; the estimator's own unless given.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What is minimised."""

    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The loss: hinge, squared_hinge, logistic ... for classes; epsilon_insensitive, "
            "squared_epsilon_insensitive, huber, quantile for regression.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    loss_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="An option of the loss; may be repeated.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="WEIGHTS",
            help="'balanced', by the inverse of the classes' frequencies, 'none', or LABEL=WEIGHT,LABEL=WEIGHT "
            "(1=2,-1=1). Strings: balanced unless given.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    multi_class: Annotated[
        MultiClass | None,
        typer.Option(
            help="More than two classes: each against the rest (ovr, unless given), or one problem for all.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Learn probabilities by cross-validation too, for predict --probability. The logistic loss has "
            "them without.",
            rich_help_panel=MODEL,
        ),
    ] = False
    no_intercept: Annotated[
        bool, typer.Option("--no-intercept", help="Train without an intercept.", rich_help_panel=MODEL)
    ] = False
    intercept_scaling: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            metavar="S",
            help="Penalise the intercept as the weight of one more feature that is always S, as LIBLINEAR "
            "does; unpenalised unless given.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class StoppingOptions:
    """How it is minimised, and until when."""

    tol: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            help="Relative gap to prove: (objective - bound) / |objective|. With --kernel, the violation of the "
            "optimality conditions to stop at, as in LIBSVM.",
            show_default=False,
            rich_help_panel=STOPPING,
        ),
    ] = None
    max_iter: Annotated[
        int | None,
        typer.Option(
            callback=limit,
            metavar="N",
            help="Stop after N iterations; -1 for no limit.",
            show_default=False,
            rich_help_panel=STOPPING,
        ),
    ] = None
    time_limit: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            metavar="SECONDS",
            help="Stop training after this.",
            show_default=False,
            rich_help_panel=STOPPING,
        ),
    ] = None
    method: Annotated[Method, typer.Option(help="How to find planes.", rich_help_panel=STOPPING)] = Method.auto
    line_search: Annotated[
        LineSearch | None,
        typer.Option(help="Line search of oca.", show_default=False, rich_help_panel=STOPPING),
    ] = None
    threads: ThreadsOption = None
    device: DeviceOption = None
