"""`cutplane path`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.config import ConfigOption
from cutplane.cli.declared import declared
from cutplane.cli.kernel_options import KernelOption, KernelOptions
from cutplane.cli.model_options import DataOptions, ModelOptions, StoppingOptions, TaskOption
from cutplane.cli.options import (
    KERNEL,
    OUTPUT,
    DataArgument,
    DebugOption,
    JsonOption,
    QuietOption,
    positive,
)
from cutplane.cli.streams import to_stdout
from cutplane.cli.task_options import SequenceOptions, StringOptions

GRID = "Grid"


@dataclass(frozen=True, kw_only=True)
class _Data:
    data: DataArgument


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Which models are compared, and how."""

    smallest: Annotated[
        float, typer.Option(callback=positive, metavar="C", help="The smallest C.", rich_help_panel=GRID)
    ] = 1e-4
    largest: Annotated[
        float, typer.Option(callback=positive, metavar="C", help="The largest C.", rich_help_panel=GRID)
    ] = 1e2
    steps: Annotated[
        int, typer.Option(min=2, metavar="N", help="Values of C, equal factors apart.", rich_help_panel=GRID)
    ] = 13
    Cs: Annotated[
        str | None,
        typer.Option(
            "--C",
            metavar="VALUES",
            help="The values of C instead: 0.1,1,10, or 0.001:100:6 for six of them, equal factors apart.",
            show_default=False,
            rich_help_panel=GRID,
        ),
    ] = None
    folds: Annotated[
        int,
        typer.Option(
            min=2,
            metavar="K",
            help="Folds of the cross-validation. Queries are not divided.",
            rich_help_panel=GRID,
        ),
    ] = 5
    scoring: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The figure that decides: one of those shown (roc_auc, ndcg@10, token_f1 ...); for linear models of "
            "classes and regression any scorer of scikit-learn, accuracy or r2 unless given.",
            show_default=False,
            rich_help_panel=GRID,
        ),
    ] = None
    certify: Annotated[
        float | None,
        typer.Option(
            callback=positive,
            metavar="SHARE",
            help="Linear models of classes: try more C until none of the range can have an error rate lower by more "
            "than this, such as 0.01.",
            show_default=False,
            rich_help_panel=GRID,
        ),
    ] = None
    max_fits: Annotated[
        int, typer.Option(min=2, metavar="N", help="With --certify: values of C at most.", rich_help_panel=GRID)
    ] = 200


@dataclass(frozen=True, kw_only=True)
class _Gammas:
    gammas: Annotated[
        str,
        typer.Option(
            "--gamma",
            metavar="VALUES",
            help="With --kernel: values of its gamma, as those of --C, or 'scale' (1 / (features * variance)) or "
            "'auto'. Each is tried with each C.",
            rich_help_panel=KERNEL,
        ),
    ] = "scale"


@dataclass(frozen=True, kw_only=True)
class _Output:
    model_path: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            callback=to_stdout,
            help="Save the best model; - for stdout.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    picture: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Plot scores and |w| against C, or a grid of C and gamma as a heat map; with --certify the error and "
            "its lower bound (.png, .svg or .pdf).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    report_path: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Save a report of the grid and of the best model (.html).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    config: ConfigOption = None
    as_json: JsonOption = False
    quiet: QuietOption = False
    debug: DebugOption = False


@dataclass(frozen=True, kw_only=True)
class PathOptions(
    _Output,
    StoppingOptions,
    SequenceOptions,
    StringOptions,
    KernelOptions,
    _Gammas,
    KernelOption,
    ModelOptions,
    TaskOption,
    DataOptions,
    _Grid,
    _Data,
):
    """All of them."""


path = declared(
    PathOptions,
    "cutplane.cli.path_models:path",
    """Train for a grid of C, choose among them by cross-validation, and prove every model.

    For every task. Linear models of classes and regression share their planes, so that a grid costs little
    more than its most expensive fit. With --kernel, the grid is of C and gamma. With --certify, the C that
    is chosen is proven to be the best of all C between the smallest and the largest, up to that much.
    """,
)
