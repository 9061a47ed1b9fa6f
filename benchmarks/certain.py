"""What a certificate buys: predictions proven to be the exact optimum's, examples proven not to matter.

    python benchmarks/certain.py --data DIR [--sets a9a,covtype] [--parts labels,until,...] [--out FILE]

Every fifth row, by a seeded draw, is held out. `labels`: models at several tolerances, with a free intercept and with
none; the share of held-out labels that are proven, the interval of the exact optimum's accuracy there, the share of
training examples proven to be redundant or at their bound, and what finding that out costs beside the fit. `until`:
`certain_on` with 99.9 % of the held-out rows. `together`: several classes as one problem, by Crammer and Singer's hinge
or a softmax, with the held-out rows of the published split. `tight`: what each digit costs, on all rows of the data
sets and values of C of benchmarks/binary.py: seconds to 1e-9 and 1e-11 beside those to 1e-3, in turns. `regression`:
the same of the losses of regression, with the targets of benchmarks/as_called.py. `loose`: what a loose tolerance
costs, in held-out labels that are other than those of a model to 1e-9.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import called_data, datasets, harness, multiclass_data
from benchmarks.tables import certain as tables
from cutplane import LinearSVC, LinearSVR, LogisticRegression

REPRODUCES = ""
# Data and C.
CELLS = (("a9a", 1.0), ("covtype", 1.0), ("mnist", 0.01), ("news20-one", 1.0))
QUICK_CELLS = (("a9a", 1.0),)
TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
SHARE = 0.999
# Of `together`: data, C, and the rows of training that are looked at.
TOGETHER = (("digits", 1.0, None), ("letter", 1.0, None), ("mnist", 0.01, 10_000))
TOGETHER_TOLERANCES = (1e-3, 1e-6, 1e-9)
# Of `tight`: the sets and values of C of benchmarks/binary.py, losses, and tolerances, the first to compare with.
TIGHT_SETS, TIGHT_CS = (
    ("covtype", "mnist", "a9a", "w8a", "news20", "news20-one", "rcv1"),
    (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0),
)
QUICK_TIGHT = (("a9a",), (0.1,))
LOSSES = ("hinge", "squared_hinge", "logistic")
DIGITS = (1e-3, 1e-9, 1e-11)
# Of `regression`: data and the rows of it that are drawn, losses with their settings, and values of C.
TARGETS: dict[str, int | None] = {"covtype": None, "mnist": 10_000, "a9a": None, "news20": None, "text": None}
QUICK_TARGETS = ("a9a",)
REGRESSION: dict[str, dict[str, float]] = {
    "epsilon_insensitive": {"epsilon": 0.1},
    "squared_epsilon_insensitive": {"epsilon": 0.1},
    "huber": {},
    "quantile": {},
}
REGRESSION_CS, QUICK_REGRESSION_CS = (1e-4, 1e-2, 1.0, 10.0), (0.01,)
# Of `loose`: data, values of C, and tolerances, the last to compare with.
LOOSE_SETS, LOOSE_CS = ("a9a", "w8a", "covtype", "mnist", "news20-one", "rcv1"), (0.01, 1.0, 10.0)
LOOSE_TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6, 1e-9)

Split = tuple[datasets.Matrix, np.ndarray, datasets.Matrix, np.ndarray]


def split(options: argparse.Namespace, name: str) -> Split:
    X, y = datasets.load(name, options.data, options.cache)
    held = np.random.default_rng(0).random(len(y)) < 0.2
    return X[~held], y[~held], X[held], y[held]


def splits(options: argparse.Namespace) -> Iterator[tuple[str, float, Split]]:
    for name, C in QUICK_CELLS if options.quick else CELLS:
        if not options.sets or name in options.sets:
            yield name, C, split(options, name)


def fitted(
    options: argparse.Namespace, data: tuple, repeats: int | None = None, kind: type = LinearSVC, **settings
) -> tuple[Any, float]:
    """The model, and the seconds of its fit: the least of the repeats, for neighbours come and go."""
    seconds = []
    for _ in range(repeats or options.repeats):
        model = kind(n_jobs=options.threads, time_limit=options.limit, **settings)
        begin = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the reason is in the table
            model.fit(*data[:2])
        seconds.append(perf_counter() - begin)
    return model, min(seconds)


def labels(options: argparse.Namespace) -> list[dict]:
    rows = []
    for name, C, data in splits(options):
        X, y, new, truth = data
        for intercept in (False, True):
            for tol in TOLERANCES:
                model, seconds = fitted(options, data, C=C, tol=tol, fit_intercept=intercept)
                begin = perf_counter()
                model.certify_intercept(X, y)
                certified = perf_counter() - begin
                certain = model.predict(new, return_certain=True)[1]
                figures = model.score_bounds(new, truth)
                rows.append(
                    {
                        "data": name,
                        "C": C,
                        "intercept": intercept,
                        "tol": tol,
                        "seconds": seconds,
                        "gap": model.gap_,
                        "stop": model.stop_reason_,
                        "certify_seconds": certified,
                        "certain": float(certain.mean()),
                        **{figure: list(bounds) for figure, bounds in figures.items()},
                        "redundant": float(model.redundant_examples(X, y).mean()),
                        "bound": float(model.bound_examples(X, y).mean()),
                    }
                )
                print(rows[-1], flush=True)
    return rows


def until(options: argparse.Namespace) -> list[dict]:
    rows = []
    for name, C, data in splits(options):
        for intercept in (False, True):
            model, seconds = fitted(options, data, C=C, fit_intercept=intercept, certain_on=(data[2], SHARE))
            certain = model.predict(data[2], return_certain=True)[1]
            rows.append(
                {
                    "data": name,
                    "C": C,
                    "intercept": intercept,
                    "seconds": seconds,
                    "gap": model.gap_,
                    "stop": model.stop_reason_,
                    "certain": float(certain.mean()),
                }
            )
            print(rows[-1], flush=True)
    return rows


def several(name: str, rows: int | None, options: argparse.Namespace) -> Split:
    """Data of several classes: rows of training, and held-out ones."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        held = np.random.default_rng(0).random(len(y)) < 0.2
        return X[~held] / 16.0, y[~held], X[held] / 16.0, y[held]
    X, y, new, truth = multiclass_data.load(name, options.data, options.cache)
    return X[:rows], y[:rows], new, truth


def together(options: argparse.Namespace) -> list[dict]:
    rows = []
    kinds = {"hinge": (LinearSVC, {"multi_class": "crammer_singer"}), "softmax": (LogisticRegression, {})}
    cells = TOGETHER[:1] if options.quick else TOGETHER
    for (name, C, count), loss, intercept in product(cells, kinds, (False, True)):
        if options.sets and name not in options.sets:
            continue
        split, (kind, more) = several(name, count, options), kinds[loss]
        for tol in TOGETHER_TOLERANCES:
            model, seconds = fitted(options, split, kind=kind, C=C, tol=tol, fit_intercept=intercept, **more)
            begin = perf_counter()
            model.certify_intercept(*split[:2])
            certified = perf_counter() - begin
            rows.append(
                {
                    "data": name,
                    "loss": loss,
                    "C": C,
                    "intercept": intercept,
                    "tol": tol,
                    "seconds": seconds,
                    "gap": model.gap_,
                    "stop": model.stop_reason_,
                    "certify_seconds": certified,
                    "certain": float(model.predict(split[2], return_certain=True)[1].mean()),
                    "accuracy": list(model.score_bounds(*split[2:])["accuracy"]),
                }
            )
            print(rows[-1], flush=True)
    return rows


def digits(options: argparse.Namespace, data: tuple, kind: type, **settings) -> list[dict]:
    """What each digit costs: medians of fits that take turns."""
    seconds: dict[float, list[float]] = {tol: [] for tol in DIGITS}
    ends = {}
    for _ in range(options.repeats):
        for tol in DIGITS:
            model, spent = fitted(options, data, 1, kind, tol=tol, **settings)
            seconds[tol].append(spent)
            ends[tol] = {"gap": model.gap_, "stop": model.stop_reason_}
    return [{"tol": tol, "seconds": float(np.median(seconds[tol])), **ends[tol]} for tol in DIGITS]


def tight(options: argparse.Namespace) -> list[dict]:
    rows = []
    sets, Cs = QUICK_TIGHT if options.quick else (TIGHT_SETS, TIGHT_CS)
    for name in options.sets or sets:
        data = datasets.load(name, options.data, options.cache)
        for loss, intercept, C in product(LOSSES, (False, True), Cs):
            cell = {"data": name, "C": C, "loss": loss, "intercept": intercept}
            found = digits(options, data, LinearSVC, loss=loss, fit_intercept=intercept, C=C)
            rows.extend({**cell, **row} for row in found)
            print(*rows[-len(DIGITS) :], sep="\n", flush=True)
    return rows


def targets(name: str, options: argparse.Namespace) -> tuple[datasets.Matrix, np.ndarray]:
    """Examples and numbers to predict; of many rows, those of a seeded draw."""
    X, _, y = called_data.load(name, options.data, options.cache)
    if TARGETS[name] is None:
        return X, y
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[: TARGETS[name]])
    return X[rows], y[rows]


def regression(options: argparse.Namespace) -> list[dict]:
    rows = []
    Cs = QUICK_REGRESSION_CS if options.quick else REGRESSION_CS
    for name in options.sets or (QUICK_TARGETS if options.quick else TARGETS):
        data = targets(name, options)
        for (loss, settings), intercept, C in product(REGRESSION.items(), (False, True), Cs):
            cell = {"data": name, "C": C, "loss": loss, "intercept": intercept}
            found = digits(options, data, LinearSVR, loss=loss, fit_intercept=intercept, C=C, **settings)
            rows.extend({**cell, **row} for row in found)
            print(*rows[-len(DIGITS) :], sep="\n", flush=True)
    return rows


def loose(options: argparse.Namespace) -> list[dict]:
    rows = []
    for name in options.sets or (QUICK_TIGHT[0] if options.quick else LOOSE_SETS):
        data = split(options, name)
        new, truth = data[2:]
        for C, intercept in product(LOOSE_CS, (False, True)):
            models = {
                tol: fitted(options, data, 1, C=C, tol=tol, fit_intercept=intercept)[0] for tol in LOOSE_TOLERANCES
            }
            exact = models[LOOSE_TOLERANCES[-1]].predict(new)
            for tol, model in models.items():
                found = model.predict(new)
                rows.append(
                    {
                        "data": name,
                        "C": C,
                        "intercept": intercept,
                        "tol": tol,
                        "gap": model.gap_,
                        "other": float(np.mean(found != exact)),
                        "accuracy": float(np.mean(found == truth)),
                        "exact_accuracy": float(np.mean(exact == truth)),
                    }
                )
            print(*rows[-len(models) :], sep="\n", flush=True)
    return rows


def main() -> None:
    parts = {
        "labels": labels,
        "until": until,
        "together": together,
        "tight": tight,
        "regression": regression,
        "loose": loose,
    }
    options = harness.parser(__doc__, "certain", tuple(parts)).parse_args()
    harness.run(options, parts, (), tables.tables, tables.figures)


if __name__ == "__main__":
    main()
