"""`cutplane scale`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.declared import declared
from cutplane.cli.options import DATA, MODEL, DataArgument, DebugOption, OutputOption, ThreadsOption, ZeroBasedOption


class Scaling(StrEnum):
    """What features are divided by."""

    max_abs = "max-abs"
    deviation = "deviation"


@dataclass(frozen=True, kw_only=True)
class ScaleOptions:
    """What to scale, by what."""

    data: DataArgument
    by: Annotated[
        Scaling,
        typer.Option(
            "--by",
            help="Divide each feature by its largest absolute value, or by its standard deviation. Zeros stay zeros.",
            rich_help_panel=MODEL,
        ),
    ] = Scaling.max_abs
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the factors there (JSON).", show_default=False, rich_help_panel=MODEL),
    ] = None
    restore: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take the factors of --save: test data is scaled as the training data was.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    zero_based: ZeroBasedOption = None
    n_features: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Features, if more than DATA mentions.", show_default=False, rich_help_panel=DATA
        ),
    ] = None
    threads: ThreadsOption = None
    output: OutputOption = None
    debug: DebugOption = False


scale = declared(
    ScaleOptions,
    "cutplane.cli.scaling:scale",
    """Bring the features of DATA into one range, and other files into the same.

    Writes an svmlight file. Features with very different ranges make training slow and models poor.
    """,
)
