"""What everyone tries first: scikit-learn's bundled sets by fit, cross_val_score and GridSearchCV, beside scikit-learn.

    python benchmarks/first_try.py [--quick] [--sets iris,digits] [--models SVC,SVR] [--parts fit,folds,grid]

Both are called alike, with the same loss and everything else at its default, and timed alternately by the whole call.
A ratio is scikit-learn's seconds over ours. Every BLAS has --threads threads: idle ones of two spin, which the other
pays for where cores are few.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import harness, measure

SETS = ("iris", "wine", "breast_cancer", "digits", "diabetes")
SCALINGS = ("raw", "unit", "standardised")
# Names of estimators, the same in both libraries, and what is given.
MODELS = {
    "LinearSVC hinge": ("LinearSVC", {"loss": "hinge"}),
    "LinearSVC squared hinge": ("LinearSVC", {"loss": "squared_hinge"}),
    "LogisticRegression": ("LogisticRegression", {}),
    "LogisticRegressionCV": ("LogisticRegressionCV", {}),
    "SVC": ("SVC", {}),
    "SVR": ("SVR", {}),
}
GRID = {"C": [0.1, 1.0, 10.0]}


def load(name: str, scaling: str) -> tuple[np.ndarray, np.ndarray]:
    """Examples, as they come, divided by the largest number of the set, or standardised; and targets."""
    import sklearn.datasets
    from sklearn.preprocessing import StandardScaler

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    if scaling == "unit":
        X = X / np.abs(X).max()
    return (StandardScaler().fit_transform(X) if scaling == "standardised" else X), y


def _fit(model, X, y) -> None:
    model.fit(X, y)


def _folds(model, X, y) -> None:
    from sklearn.model_selection import cross_val_score

    cross_val_score(model, X, y, cv=5)


def _grid(model, X, y) -> None:
    from sklearn.model_selection import GridSearchCV

    GridSearchCV(model, GRID, cv=5).fit(X, y)


WAYS = {"fit": _fit, "folds": _folds, "grid": _grid}


def _seconds(way, made, X, y) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        way(made(), X, y)
        return perf_counter() - start


def _classes(name: str) -> dict[str, type]:
    import sklearn.linear_model
    import sklearn.svm

    import cutplane

    theirs = getattr(sklearn.svm, name, None) or getattr(sklearn.linear_model, name)
    return {"ours": getattr(cutplane, name), "scikit-learn": theirs}


def measure_way(way: str, options: argparse.Namespace) -> list[dict]:
    """A row for each data set, scaling and model."""
    rows = []
    for name, scaling, (shown, (model, given)) in product(options.sets or SETS, SCALINGS, MODELS.items()):
        searched = way != "fit" and model.endswith("CV")
        slow = options.quick and name == "digits" and (way == "grid" or model.endswith("CV"))
        if (model == "SVR") != (name == "diabetes") or searched or slow or shown not in (options.models or MODELS):
            continue
        X, y = load(name, scaling)
        seeds = {"scikit-learn": {"random_state": 0} if model == "LinearSVC" else {}, "ours": {}}
        calls = {
            who: partial(_seconds, WAYS[way], partial(made, **given, **seeds[who]), X, y)
            for who, made in _classes(model).items()
        }
        with threadpool_limits(options.threads, "blas"):
            for call in calls.values():
                call()
            found = measure.alternate(calls, options.repeats, options.budget)
        medians = {who: measure.median(seconds) for who, seconds in found.items()}
        ratio = medians["scikit-learn"] / medians["ours"]
        row = {"data": name, "scaling": scaling, "model": shown, "seconds": medians, "ratio": ratio}
        rows.append(row | {"repeats": len(found["ours"])})
        took = " ".join(f"{seconds:.4f}" for seconds in medians.values())
        print(f"{way:5} {name:13} {scaling:12} {shown:23} {took} {ratio:.2f}", flush=True)
    return rows


def tables(result: dict) -> dict[str, str]:
    """Geometric means and the worst cell of each model, for each way to call it."""
    found = {}
    for way, part in result.items():
        lines = []
        for model in [*dict.fromkeys(row["model"] for row in part["rows"]), "all"]:
            rows = [row for row in part["rows"] if model in ("all", row["model"])]
            worst = min(rows, key=lambda row: row["ratio"])
            mean = measure.geometric_mean(row["ratio"] for row in rows)
            below = sum(row["ratio"] < 0.8 for row in rows)
            lines.append([model, len(rows), mean, worst["ratio"], f"{worst['data']} {worst['scaling']}", below])
        found[way] = measure.table(["model", "cells", "mean", "worst", "where", "below 0.8"], lines)
    return found


def main() -> None:
    """Measure what is asked for."""
    parser = harness.parser(__doc__, "first_try", tuple(WAYS))
    parser.add_argument("--models", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for a cell (%(default)s)")
    parser.set_defaults(repeats=5, threads=1)
    options = parser.parse_args()
    parts = {way: partial(measure_way, way) for way in WAYS}
    harness.run(options, parts, (), tables, lambda result: {})


if __name__ == "__main__":
    main()
