"""`cutplane compare`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.declared import declared
from cutplane.cli.options import OUTPUT, DebugOption, JsonOption, ThreadsOption, ZeroBasedOption


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Which runs, and what to make of them."""

    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Model files, or outputs of 'train --json'.", show_default=False),
    ]
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Save the comparison as a page (.html).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Held-out examples to score the model files on.", show_default=False),
    ] = None
    threads: ThreadsOption = None
    zero_based: ZeroBasedOption = None
    as_json: JsonOption = False
    debug: DebugOption = False


compare = declared(
    CompareOptions,
    "cutplane.cli.comparisons:compare",
    """Compare runs: the parameters that differ, what was proven, and how long it took.

    Says as well whether the bounds allow that the runs are of one problem.
    """,
)
