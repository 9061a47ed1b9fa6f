"""`cutplane export`: the file is written by the model itself."""

from __future__ import annotations

import typer

from cutplane.cli import exit_codes
from cutplane.cli.data import read_fitted
from cutplane.cli.export import ExportOptions, Format
from cutplane.cli.output import print_facts
from cutplane.cli.outputs import check_text_output
from cutplane.cli.streams import as_given, hand_over, named


def export(options: ExportOptions, context: typer.Context) -> int:
    """Write the file, and say what it is."""
    check_text_output(options.output, inputs=[options.model_path])
    kind = options.format
    if kind is None:
        ending = options.output.suffix.lower().removeprefix(".")
        if ending not in ("onnx", "json"):
            raise typer.BadParameter(
                f"the name {as_given(str(options.output))} tells none: give {', '.join(Format)}.", param_hint="--format"
            )
        kind = Format(ending)
    model, file = read_fitted(options.model_path)
    write = getattr(model, f"to_{kind.value}", None)
    if write is None:
        raise ValueError(f"A {file.kind} cannot be written as {kind.value}.")
    try:
        write(options.output)
        hand_over(options.output)
    except ImportError as error:
        raise ValueError(str(error)) from None
    facts = [
        ("model", f"{file.kind} of {options.model_path}"),
        ("format", kind.value),
        ("written", str(options.output)),
    ]
    print_facts([(name, named(value)) for name, value in facts])
    return exit_codes.OK
