"""`cutplane quickstart`: its options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.declared import declared
from cutplane.cli.options import OUTPUT, DebugOption, JsonOption, QuietOption, ThreadsOption


@dataclass(frozen=True, kw_only=True)
class QuickstartOptions:
    """Where the files go."""

    threads: ThreadsOption = None
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder for the files it writes.", rich_help_panel=OUTPUT
        ),
    ] = Path("cutplane-quickstart")
    as_json: JsonOption = False
    quiet: QuietOption = False
    debug: DebugOption = False


quickstart = declared(
    QuickstartOptions,
    "cutplane.cli.first_model:quickstart",
    """Train a first model on bundled data; see what to try next.

    The data is Adult, and the question: from 123 yes/no facts of a census, does a person earn over
    50,000 dollars a year?
    """,
)
