"""`cutplane cross-validate`: models of parts of the examples, each asked for the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import typer

from cutplane.cli import exit_codes
from cutplane.cli.cross_validate import CrossValidateOptions
from cutplane.cli.data import Examples, Sentences
from cutplane.cli.folds import Fitted, fit_and_measure
from cutplane.cli.judgement import Found
from cutplane.cli.output import print_facts, print_json, print_table, warn
from cutplane.cli.scopes import check_scopes
from cutplane.cli.settings import Settings
from cutplane.cli.tasks import divided, module_for


@dataclass(frozen=True, kw_only=True)
class _Request(CrossValidateOptions, Settings):
    """The options of the command, and what they say of an estimator."""


def cross_validate(options: CrossValidateOptions, context: typer.Context) -> int:
    """Print what the models of all parts make of the rest."""
    request = _Request(**vars(options))
    check_scopes(request, context)
    task = divided(request)
    examples, _ = task.read(request)
    folds, found = _run(request, examples)
    figures = {name: np.array([fold.measured.figures[name] for fold in folds]) for name in folds[0].measured.figures}
    if request.as_json:
        print_json(_as_json(figures, folds, found))
        return exit_codes.OK
    if found is not None and found.is_useless:
        warn(found.sentence())
    if not request.quiet:
        print_table(
            f"{len(folds)} parts of {len(examples.y):,} examples",
            ["part", "examples", *figures, "proven gap", "seconds"],
            [_row(k, fold) for k, fold in enumerate(folds, 1)],
        )
    common = [] if found is None else [("commonest class", f"{found.commonest:.4f}")]
    means = [
        (f"mean {name}", f"{each.mean():.4f} (standard deviation {each.std():.4f})") for name, each in figures.items()
    ]
    print_facts([*means, *common])
    return exit_codes.OK


def _run(request: _Request, examples: Examples | Sentences) -> tuple[list[Fitted], Found | None]:
    """Each part's figures, and what all labels that were said of classes are worth."""
    task, make = divided(request), module_for(request).model_for
    folds, truth, said = [], [], []
    for rest, part in task.folds(request, examples, request.folds, request.seed):
        left_out, model = examples.taken(part), make(request, examples.y)
        folds.append(fit_and_measure(model, examples.taken(rest), left_out, task))
        if folds[-1].measured.labels is not None:
            truth.append(np.asarray(left_out.y))
            said.append(folds[-1].measured.labels)
    return folds, Found.counted("left-out", np.concatenate(truth), np.concatenate(said), model) if said else None


def _as_json(figures: dict[str, np.ndarray], folds: list[Fitted], found: Found | None) -> dict[str, object]:
    name, scores = next(iter(figures.items()))
    rows = [
        {
            "score": fold.measured.figures[name],
            "figures": fold.measured.figures,
            "gap": fold.gap,
            "seconds": fold.seconds,
        }
        for fold in folds
    ]
    useless = {} if found is None else {"commonest_share": found.commonest, "useless": found.is_useless}
    return {"scoring": name, "mean": scores.mean(), "deviation": scores.std(), "folds": rows, **useless}


def _row(number: int, fold: Fitted) -> list[str]:
    figures = [f"{value:.4f}" for value in fold.measured.figures.values()]
    gap = f"{fold.gap:.1e}" if np.isfinite(fold.gap) else "none"
    return [str(number), f"{fold.n_examples:,}", *figures, gap, f"{fold.seconds:.2f}"]
