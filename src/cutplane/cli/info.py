"""`cutplane info`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cutplane.cli.declared import declared
from cutplane.cli.options import OUTPUT, DebugOption, JsonOption, ModelArgument


@dataclass(frozen=True, kw_only=True)
class InfoOptions:
    """Which model, and how to show it."""

    model_path: ModelArgument
    reproduce: Annotated[
        bool,
        typer.Option(
            "--reproduce",
            help="Print a TOML file that trains the same model: cutplane train --config FILE.",
            rich_help_panel=OUTPUT,
        ),
    ] = False
    as_json: JsonOption = False
    debug: DebugOption = False


info = declared(InfoOptions, "cutplane.cli.model_info:info", """Show a model's kind, parameters and certificate.""")
