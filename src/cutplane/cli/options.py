"""Options that several commands have, the panels that help lists them in, and the checks of their values."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.streams import from_stdin

DATA = "Data"
MODEL = "Model"
KERNEL = "Kernel machines"
STRINGS = "Strings (--task strings)"
SEQUENCES = "Sequences (--task sequence)"
STOPPING = "Stopping"
CLUSTER = "Clusters"
OUTPUT = "Output"


class Task(StrEnum):
    """What there is to learn."""

    classes = "classes"
    ordinal = "ordinal"
    rank = "rank"
    strings = "strings"
    sequence = "sequence"
    regression = "regression"


class Method(StrEnum):
    """Ways to find planes."""

    auto = "auto"
    newton = "newton"
    oca = "oca"
    cpa = "cpa"


class LineSearch(StrEnum):
    """Line searches of the optimised cutting-plane algorithm."""

    adaptive = "adaptive"
    exact = "exact"
    three_point = "three-point"


class MultiClass(StrEnum):
    """Ways to tell more than two classes apart."""

    ovr = "ovr"
    crammer_singer = "crammer_singer"


def positive(value: float | None) -> float | None:
    """Refuse what is not a positive finite number; None means the option was not given."""
    if value is not None and not (value > 0.0 and math.isfinite(value)):
        raise typer.BadParameter(f"{value:g} is not a positive number.")
    return value


def not_negative(value: float) -> float:
    """Refuse a number below zero."""
    if not value >= 0.0:
        raise typer.BadParameter(f"{value:g} is not a number of 0 or more.")
    return value


def limit(value: int | None) -> int | None:
    """Refuse a number of iterations that is neither positive nor -1; None means the option was not given."""
    if value is not None and value != -1 and value < 1:
        raise typer.BadParameter(f"{value} is neither a positive number nor -1, for no limit.")
    return value


DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        callback=from_stdin,
        help="svmlight/libsvm file, plain or .gz, .bz2, .xz or .zst; a Parquet or CSV file with --target; FASTA or "
        "token files for strings and sequences; - for stdin.",
        show_default=False,
    ),
]
ModelArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        callback=from_stdin,
        help="Model file from 'cutplane train'; - for stdin.",
        show_default=False,
    ),
]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Show a traceback when something fails.", rich_help_panel=OUTPUT)
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, nothing else.", rich_help_panel=OUTPUT)
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.", rich_help_panel=OUTPUT)]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Threads to use; all cores unless given.",
        show_default=False,
        rich_help_panel=STOPPING,
    ),
]
DeviceOption = Annotated[
    str | None,
    typer.Option(
        "--device",  # else typer 0.27 takes the name from a metavar that is the same in capitals
        metavar="DEVICE",
        help="cuda: work on a GPU, which needs CuPy; of linear models also several, as in cuda:0,cuda:1.",
        show_default=False,
        rich_help_panel=STOPPING,
    ),
]
ZeroBasedOption = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Whether features in DATA are numbered from 0 or from 1; found out unless given.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
IgnoreUnknownOption = Annotated[
    bool,
    typer.Option(
        "--ignore-unknown",
        help="Leave out the features of an svmlight file that the model does not know.",
        rich_help_panel=DATA,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="The column to learn of a Parquet or CSV file (.parquet, .csv, .tsv); all others are features.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write there, not to stdout.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
