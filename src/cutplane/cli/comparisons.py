"""Runs side by side: what `cutplane compare` does."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from cutplane.cli import exit_codes
from cutplane.cli.compare import CompareOptions
from cutplane.cli.data import read_data_for, read_fitted
from cutplane.cli.output import print_json, stdout
from cutplane.cli.outputs import check_report_output
from cutplane.io.model_file import is_model_file
from cutplane.report.comparison import (
    ComparedRun,
    compared_table,
    run_of_json,
    run_of_model,
    same_problem,
    write_comparison,
)


def compare(options: CompareOptions, context: typer.Context) -> int:
    """Read the runs, write the page if it is wanted, print the table."""
    runs, report, test = options.runs, options.report, options.test
    if len(runs) < 2:
        raise typer.BadParameter("takes two runs or more.", param_hint="RUN")
    if report is not None:
        check_report_output(report, inputs=[*runs, *([] if test is None else [test])])
    names = _names(runs)
    found = [_read(path, name, options) for path, name in zip(runs, names, strict=True)]
    if report is not None:
        write_comparison(found, report)
    if options.as_json:
        print_json({"runs": [_as_json(run) for run in found], "note": same_problem(found), "report": report})
        return exit_codes.OK
    head, rows = compared_table(found)
    # A column for each run: there are more things to say of a run than there are runs.
    table = Table()
    for index, column in enumerate([head[0], *(row[0] for row in rows)]):
        table.add_column(column, justify="right" if index else "left")
    for name, *values in list(zip(head, *rows, strict=True))[1:]:
        table.add_row(name, *values)
    console = stdout()
    console.print(table)
    console.print(same_problem(found), soft_wrap=True)
    return exit_codes.OK


def _names(runs: list[Path]) -> list[str]:
    """The files' names; whole paths where two have the same."""
    short = [path.name for path in runs]
    return short if len(set(short)) == len(short) else [str(path) for path in runs]


def _read(path: Path, name: str, options: CompareOptions) -> ComparedRun:
    if not is_model_file(path):
        return run_of_json(name, path.read_text(encoding="utf-8", errors="replace"))
    model, file = read_fitted(path)
    if options.test is None:
        return run_of_model(name, model)
    examples = read_data_for(model, file, options.test, zero_based=options.zero_based, threads=options.threads)
    return run_of_model(name, model, float(model.score(examples.X, examples.y)))


def _as_json(run: ComparedRun) -> dict[str, object]:
    return {
        "run": run.name,
        "kind": run.kind or None,
        "params": {name: value for name, value in run.params.items() if isinstance(value, (str, int, float, bool))},
        "objective": run.objective,
        "lower_bound": run.lower_bound,
        "gap": run.gap,
        "proven": run.proven,
        "stop_reason": run.stop_reason,
        "n_iter": run.n_iter,
        "seconds": run.seconds,
        "score": run.score,
    }
