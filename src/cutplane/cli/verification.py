"""`cutplane verify`: check the proof in a model file against the data."""

from __future__ import annotations

import numpy as np
import typer
from sklearn.base import BaseEstimator, is_regressor

from cutplane.cli import exit_codes
from cutplane.cli.data import read_data_for, read_fitted
from cutplane.cli.output import print_facts, print_json
from cutplane.cli.verify import VerifyOptions
from cutplane.estimators.common.proofs import verify as check
from cutplane.proof.checker import Bounds
from cutplane.report.trained import problem_name


def verify(options: VerifyOptions, context: typer.Context) -> int:
    """Print what the check has proven; it raises where the proof fails."""
    model_path, data = options.model_path, options.data
    model, file = read_fitted(model_path)
    if getattr(model, "proof_", None) is None:
        check(model, [])  # says so, before any data are read
    X, y, *_ = read_data_for(
        model, file, data, zero_based=options.zero_based, threads=options.threads, target=options.target
    )
    found = check(model, X, y.astype(float) if is_regressor(model) else y)
    names = _names(model, len(found))
    if options.as_json:
        problems = [_as_json(name, bounds) for name, bounds in zip(names, found, strict=True)]
        print_json({"model": model_path, "data": data, "verified": True, "problems": problems})
        return exit_codes.OK
    print_facts(
        [("verified", f"{len(y):,} examples, {model.proof_.size:,} bytes of dual variables"), *_facts(names, found)]
    )
    return exit_codes.OK


def _names(model: BaseEstimator, count: int) -> list[str | None]:
    """What the model's problems are about; nothing where there is one."""
    if count == 1:
        return [None]
    return [problem_name(each.problem) for each in model.certificates_]


def _as_json(name: str | None, bounds: Bounds) -> dict[str, object]:
    return {
        **({} if name is None else {"class": name}),
        **({"premise": bounds.premise} if bounds.premise else {}),
        "objective": bounds.objective,
        "lower_bound": bounds.lower_bound,
        "gap": bounds.gap,
    }


def _facts(names: list[str | None], found: list[Bounds]) -> list[tuple[str, str]]:
    worst = int(np.argmax([bounds.gap for bounds in found]))
    facts = [
        (
            "optimum" if name is None else f"optimum, {name}",
            f"{bounds.lower_bound:.8g} ≤ optimum ≤ {bounds.objective:.8g}",
        )
        for name, bounds in zip(names, found, strict=True)
    ]
    premises = [("given", bounds.premise) for bounds in found[:1] if bounds.premise]
    return [*facts, *premises, ("proven", f"within {100.0 * found[worst].gap:.2g} % of the optimum")]
