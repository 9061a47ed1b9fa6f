"""`cutplane path`: what was asked for is checked, the grid is trained, the best model is kept."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from sklearn.base import BaseEstimator

from cutplane.cli import exit_codes
from cutplane.cli.certified_path import certified_path
from cutplane.cli.divided import Read
from cutplane.cli.grid import choose
from cutplane.cli.kernel_options import gamma_or_word
from cutplane.cli.loading_code import loading_code
from cutplane.cli.output import print_facts, print_json, print_table
from cutplane.cli.outputs import check_model_output, check_plot_output, check_report_output
from cutplane.cli.path import PathOptions
from cutplane.cli.reporting import write
from cutplane.cli.scopes import check_scopes
from cutplane.cli.settings import Settings
from cutplane.cli.tasks import divided, module_for
from cutplane.cli.training import Run, keep
from cutplane.cli.values import several, spaced
from cutplane.report.path_plot import save_path_plot
from cutplane.report.searched import Searched


@dataclass(frozen=True, kw_only=True)
class _Request(PathOptions, Settings):
    """The options of the command, and what they say of an estimator."""


@dataclass(frozen=True)
class _Path:
    """The best model on all examples, the grid that it is of, and whether all models are proven as asked for."""

    chosen: BaseEstimator
    searched: Searched
    proven: bool

    @property
    def seconds(self) -> float:
        """How long all of it took."""
        return self.searched.seconds

    def save_plot(self, path: Path) -> None:
        """Scores over the grid."""
        save_path_plot(self.searched, path)

    def as_json(self) -> dict[str, object]:
        """The summary for machines."""
        found, means = self.searched, self.searched.means()
        gamma = found.gamma(found.best)
        return {
            "best_C": found.C(found.best),
            **({} if gamma is None else {"best_gamma": gamma}),
            "scoring": found.scoring,
            "best_score": means[found.best],
            "seconds": found.seconds,
            "path": [self._point(point) for point in range(len(means))],
        }

    def _point(self, point: int) -> dict[str, object]:
        found = self.searched
        gamma = found.gamma(point)
        figures = {name: values[point] for name, values in found.figures.items()}
        return {
            "C": found.C(point),
            **({} if gamma is None else {"gamma": gamma}),
            "scores": found.scores[point],
            **({"figures": figures} if len(figures) > 1 else {}),
            **({} if found.lengths is None else {"length": found.lengths[point]}),
            "gap": found.gaps[point],
        }

    def print(self) -> None:
        """The summary for people: of a grid the matrix, and the best point."""
        found = self.searched
        took = f"in {found.seconds:.2f} s"
        head, rows = found.table()
        if not found.is_grid:
            print_table(f"{len(found.Cs)} values of C {took}", head, rows)
            return
        title = f"mean {found.scoring} at {len(found.Cs)} values of C and {len(found.gammas)} of gamma {took}"
        print_table(title, *found.matrix())
        print_facts(list(zip(head[:-1], rows[found.best], strict=False)))


def path(options: PathOptions, context: typer.Context) -> int:
    """Train the grid, save what is wanted, and print a table."""
    request = _Request(**vars(options))
    check_scopes(request, context)
    Cs, gammas = _values(request)
    task, make = divided(request), module_for(request).model_for
    _check_files(request)
    read = task.read(request)
    found: Any
    if request.certify is None:
        found = _Path(*choose(request, task, make, read.examples, Cs, gammas))
    else:
        how = {name: getattr(request, name) for name in ("scoring", "certify", "max_fits")}
        found = certified_path(make(request, read.examples.y), read.examples, Cs, cv=request.folds, **how)
    _keep(request, found, read, context)
    files = {"model": request.model_path, "plot": request.picture, "report": request.report_path}
    if request.as_json:
        print_json({**found.as_json(), **files})
    elif not request.quiet:
        found.print()
    return exit_codes.OK if found.proven else exit_codes.NOT_PROVEN


def _values(request: _Request) -> tuple[list[float], list[float | str]]:
    """The values of C, and of gamma where there is a kernel."""
    if request.Cs is not None:
        Cs = several(request.Cs, "--C")
    elif request.smallest >= request.largest:
        raise typer.BadParameter(
            f"{request.smallest:g} is not below --largest {request.largest:g}.", param_hint="--smallest"
        )
    else:
        Cs = spaced(request.smallest, request.largest, request.steps)
    if request.kernel is None:
        return Cs, []
    one = request.gammas in ("scale", "auto")
    return Cs, [gamma_or_word(request.gammas)] if one else [*several(request.gammas, "--gamma")]


def _check_files(request: _Request) -> None:
    """Refuse files that cannot be written, or that the command would overwrite."""
    used = [request.data]
    checks = (
        (request.model_path, check_model_output),
        (request.picture, check_plot_output),
        (request.report_path, check_report_output),
    )
    for path, check in checks:
        if path is not None:
            check(path, inputs=used)
            used.append(path)


def _keep(request: _Request, found: Any, read: Read, context: typer.Context) -> None:
    """Save the model, the plot and the report, where they are wanted."""
    if request.model_path is not None:
        keep(found.chosen, request.model_path, {"data": request.data.name, **read.notes})
    if request.picture is not None:
        found.save_plot(request.picture)
    if request.report_path is not None:
        examples = read.examples
        write(
            request.report_path,
            Run(found.chosen, len(examples.y), found.seconds),
            examples,
            None,
            getattr(examples, "names", None),
            command=shlex.join(["cutplane", *(context.find_root().obj or [])]),
            files=[each for each in (request.data, request.template) if each is not None],
            loading=loading_code(request.data, examples, request.template, request.alphabet),
            searched=found.searched,
        )
