"""Options of the commands that train, for strings and for sequences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.options import SEQUENCES, STRINGS


@dataclass(frozen=True, kw_only=True)
class StringOptions:
    """Which k-mers are features, and of which letters."""

    order: Annotated[
        int, typer.Option(min=0, help="The longest k-mers at fixed positions.", rich_help_panel=STRINGS)
    ] = 8
    spectrum: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BEGIN:END",
            help="Count k-mers in this window; may be repeated.",
            show_default=False,
            rich_help_panel=STRINGS,
        ),
    ] = None
    spectrum_order: Annotated[int, typer.Option(min=1, help="The longest k-mers counted.", rich_help_panel=STRINGS)] = 8
    depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="D",
            help="Weights of a kernel of this order.",
            show_default=False,
            rich_help_panel=STRINGS,
        ),
    ] = None
    alphabet: Annotated[str, typer.Option(help="dna, rna, protein, or the letters.", rich_help_panel=STRINGS)] = "dna"


@dataclass(frozen=True, kw_only=True)
class SequenceOptions:
    """What the features of tokens are."""

    template: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Feature template as of CRF++; windows of two tokens to each side unless given.",
            show_default=False,
            rich_help_panel=SEQUENCES,
        ),
    ] = None
