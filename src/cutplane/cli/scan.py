"""`cutplane scan`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.declared import declared
from cutplane.cli.options import (
    MODEL,
    OUTPUT,
    DebugOption,
    DeviceOption,
    JsonOption,
    ModelArgument,
    OutputOption,
    ThreadsOption,
)
from cutplane.cli.streams import from_stdin


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """Which windows of the genome, and what to write of them."""

    model_path: ModelArgument
    genome: Annotated[
        Path,
        typer.Argument(
            metavar="GENOME",
            callback=from_stdin,
            help="FASTA file, plain or compressed; - for stdin.",
            show_default=False,
        ),
    ]
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="Report windows that score more; 0, or what train --threshold found, unless given.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    motif: Annotated[
        str | None,
        typer.Option(
            metavar="LETTERS",
            help="Look at windows with these letters at --at alone; with those that all strings of the training had, "
            "unless given.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    at: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="P",
            help="Where in a window the site is, from 0.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    any_window: Annotated[
        bool,
        typer.Option("--any-window", help="Look at every window, whatever its letters.", rich_help_panel=MODEL),
    ] = False
    both: Annotated[
        bool, typer.Option("--both-strands", help="Scan the opposite strand of DNA, too.", rich_help_panel=MODEL)
    ] = False
    device: DeviceOption = None
    threads: ThreadsOption = None
    output: OutputOption = None
    importance: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Plot what the model looks at (.png, .svg or .pdf).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    as_json: JsonOption = False
    debug: DebugOption = False


scan = declared(
    ScanOptions,
    "cutplane.cli.scanning:scan",
    """Score the window at each letter of GENOME; write those above the threshold in BED format.

    Columns: chromosome, begin, end, name (the class), score (0 to 1000, by the logistic function of the real one),
    strand, and the model's score. Sorted within a strand. Begin and end are those of the motif, or of the letter at
    --at; of the whole window where there is neither.
    """,
)
