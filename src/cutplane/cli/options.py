"""Options that several commands have, and the checks of their values."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


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


class ClassWeight(StrEnum):
    """Ways to weight classes."""

    balanced = "balanced"


def loss_options(pairs: list[str] | None) -> dict[str, float]:
    """NAME=NUMBER pairs as a dictionary."""
    options = {}
    for pair in pairs or []:
        name, _, number = pair.partition("=")
        try:
            options[name] = float(number)
        except ValueError:
            raise typer.BadParameter(f"{pair!r} is not NAME=NUMBER.", param_hint="--loss-option") from None
    return options


def positive(value: float | None) -> float | None:
    """Refuse what is not a positive finite number; None means the option was not given."""
    if value is not None and not (value > 0.0 and math.isfinite(value)):
        raise typer.BadParameter(f"{value:g} is not a positive number.")
    return value


def limit(value: int | None) -> int | None:
    """Refuse a number of iterations that is neither positive nor -1; None means the option was not given."""
    if value is not None and value != -1 and value < 1:
        raise typer.BadParameter(f"{value} is neither a positive number nor -1, for no limit.")
    return value


DataArgument = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="svmlight/libsvm file, plain or .gz, .bz2, .xz or .zst.", show_default=False),
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file from 'cutplane train'.", show_default=False)
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep here what training has reached while it runs; the same command goes on from there.",
        show_default=False,
    ),
]
CheckpointEveryOption = Annotated[
    float, typer.Option(callback=positive, metavar="SECONDS", help="Time between two checkpoints.")
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
ThreadsOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Threads to use; all cores unless given.", show_default=False),
]
ZeroBasedOption = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Whether features in DATA are numbered from 0 or from 1; found out unless given.",
        show_default=False,
    ),
]
