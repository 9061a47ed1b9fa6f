"""`cutplane export`: a model for other programs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.declared import declared
from cutplane.cli.options import OUTPUT, DebugOption, ModelArgument
from cutplane.cli.streams import to_stdout


class Format(StrEnum):
    """What a model can be written as."""

    onnx = "onnx"
    json = "json"
    liblinear = "liblinear"
    libsvm = "libsvm"


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Which model, and as what."""

    model_path: ModelArgument
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            callback=to_stdout,
            help="The file to write, whose ending says the format; - for stdout, with --format.",
            show_default=False,
        ),
    ]
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Unless OUT ends in .onnx or .json: liblinear and libsvm write their model files.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    debug: DebugOption = False


export = declared(
    ExportOptions,
    "cutplane.cli.exporting:export",
    """Write MODEL for other programs: as ONNX, as JSON, or as LIBLINEAR's or LIBSVM's model file.

    ONNX and JSON predict as the model does; JSON has the certificate, too.
    """,
)
