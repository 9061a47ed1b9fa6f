"""`cutplane info`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass

from cutplane.cli.declared import declared
from cutplane.cli.options import DebugOption, JsonOption, ModelArgument


@dataclass(frozen=True, kw_only=True)
class InfoOptions:
    """Which model, and how to show it."""

    model_path: ModelArgument
    as_json: JsonOption = False
    debug: DebugOption = False


info = declared(InfoOptions, "cutplane.cli.model_info:info", """Show a model's kind, parameters and certificate.""")
