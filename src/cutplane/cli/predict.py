"""`cutplane predict`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cutplane.cli.declared import declared
from cutplane.cli.options import (
    MODEL,
    DataArgument,
    DebugOption,
    IgnoreUnknownOption,
    JsonOption,
    ModelArgument,
    OutputOption,
    ThreadsOption,
    ZeroBasedOption,
)


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """What to predict, and what to write."""

    model_path: ModelArgument
    data: DataArgument
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="After each label, the decision value (more than two classes: one per class).",
            rich_help_panel=MODEL,
        ),
    ] = False
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="After each label, the probability of each class, in the order of 'cutplane info'.",
            rich_help_panel=MODEL,
        ),
    ] = False
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="Of two classes, say the second where the score is above T; 0, or what train --threshold "
            "found, unless given.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    zero_based: ZeroBasedOption = None
    ignore_unknown: IgnoreUnknownOption = False
    threads: ThreadsOption = None
    output: OutputOption = None
    as_json: JsonOption = False
    debug: DebugOption = False


predict = declared(
    PredictOptions,
    "cutplane.cli.predictions:predict",
    """Predict the label of each example in DATA, one per line.

    The labels in DATA are not looked at; any number will do. With --scores or --probability the columns
    are separated by tabs.
    """,
)
