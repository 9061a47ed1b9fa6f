"""Checks of output files before any work is done, so that hours of training are never lost to a typo."""

from __future__ import annotations

from pathlib import Path

import typer

from cutplane.io.atomic import OutputError, check_writable
from cutplane.io.model_file import is_model_file


def check_model_output(path: Path, *, inputs: list[Path]) -> None:
    """Refuse a place where no model can be written, or where something else than a model would be lost.

    `cutplane train MODEL DATA` is an easy slip; it must not replace the data with a model.
    """
    _refuse_same(path, inputs)
    if path.is_file() and path.stat().st_size > 0 and not is_model_file(path):
        raise OutputError(f"{path} exists and is not a Cutplane model, so it is left alone; give another name.")
    check_writable(path)


def check_plot_output(path: Path, *, inputs: list[Path]) -> None:
    """Refuse a plot file of an unknown format or in a place that cannot be written."""
    from cutplane.report.plots import plot_format

    try:
        plot_format(path)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--plot") from error
    check_text_output(path, inputs=inputs)


def check_report_output(path: Path, *, inputs: list[Path]) -> None:
    """Refuse a report that no browser would open, or in a place that cannot be written."""
    from cutplane.report.build import check_report_name

    try:
        check_report_name(path)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--report") from error
    check_text_output(path, inputs=inputs)


def check_text_output(path: Path, *, inputs: list[Path]) -> None:
    """Refuse a place that cannot be written, or one of the files being read."""
    _refuse_same(path, inputs)
    check_writable(path)


def _refuse_same(path: Path, inputs: list[Path]) -> None:
    for other in inputs:
        if path.resolve() == other.resolve():
            raise OutputError(f"{path} is named for reading and for writing; give another name for the output.")
