"""Multi-class cutting planes again, counted: OCAM against CPAM, and the three-point search where the exact one stalls.

    python benchmarks/multiclass_cuts.py --data DIR [--quick] [--parts ocam,time,n,stall] [--out FILE]

Crammer and Singer's machine without intercept, each run to a relative gap of 1 %, C per example. CPAM is our CPA, OCAM
our OCA with the exact search as published, OCA-T the three-point search. Iterations need no quiet machine.
"""

import argparse
import sys
import warnings
from pathlib import Path

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks import datasets, harness, multiclass_data
from benchmarks.tables import multiclass_cuts as tables
from cutplane import LinearSVC

REPRODUCES = (
    "Franc and Sonnenburg 2009, Table 8, Figure 8 (all columns); Arnosti and Kalita 2013, the POKER stall (ten classes)"
)
SETS = ("letter", "mnist", "news20")
QUICK_SETS = ("letter",)
ROWS = 10_000  # of MNIST, so that CPAM comes to an end
CS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
# The C with the least error on the test part, of those at which CPAM ends (the left and middle columns of Figure 8).
BEST_C = {"letter": 1.0, "mnist": 0.1, "news20": 0.1}
STALLS = (("poker-raw", 1.0), ("poker", 1.0), ("letter", 10.0))
QUICK_STALLS = ("poker",)
WAYS = {
    "CPAM": {"method": "cpa"},
    "OCAM": {"method": "oca", "line_search": "exact"},
    "OCA-T": {"method": "oca", "line_search": "three-point"},
}


def load(name: str, options: argparse.Namespace):
    if name == "poker-raw":  # suits and ranks as they are published, as in the paper
        file = datasets.data_folder(options.data) / "poker" / "poker-hand-training-true.data.gz"
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
        return table[:, :-1], table[:, -1].astype(int), None, None
    X, y, X_test, y_test = multiclass_data.load(name, options.data, options.cache)
    return X[:ROWS] if name == "mnist" else X, y[:ROWS] if name == "mnist" else y, X_test, y_test


def chosen(options: argparse.Namespace) -> list[str]:
    return [name for name in SETS if name in (options.sets or (QUICK_SETS if options.quick else SETS))]


def train(X, y, C: float, way: str, options: argparse.Namespace) -> LinearSVC:
    model = LinearSVC(
        C,
        multi_class="crammer_singer",
        fit_intercept=False,
        tol=0.01,
        n_jobs=options.threads,
        time_limit=options.limit,
        max_iter=5_000,
        **WAYS[way],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that ended early shows in `stopped`
        return model.fit(X, y)


def row(name: str, C: float, way: str, model: LinearSVC) -> dict:
    steps = [step.step for step in model.history_]
    return {
        "data": name,
        "C": C,
        "way": way,
        "iterations": len(steps),
        "stayed": sum(step == 0.0 for step in steps),
        "seconds": model.history_[-1].seconds,
        "gap": model.gap_,
        "stopped": model.stop_reason_,
    }


def ocam(options: argparse.Namespace) -> list[dict]:
    """Table 8 and the right column of Figure 8: every C, and the least error on the test part."""
    rows = []
    for name in chosen(options):
        X, y, X_test, y_test = load(name, options)
        for C in CS[:3] if options.quick else CS:
            for way in WAYS:
                model = train(X, y, C, way, options)
                wrong = 100.0 * float(np.mean(model.predict(X_test) != y_test))
                rows.append(row(name, C, way, model) | {"error": wrong})
                print(rows[-1], flush=True)
    return rows


def over_time(options: argparse.Namespace) -> list[dict]:
    """The left column of Figure 8: the objective after so many seconds and iterations."""
    rows = []
    for name in chosen(options):
        X, y, *_ = load(name, options)
        models = {way: train(X, y, BEST_C[name], way, options) for way in WAYS}
        best = max(model.lower_bound_ for model in models.values())
        for way, model in models.items():
            steps = model.history_
            kept = np.unique(np.geomspace(1, len(steps), min(150, len(steps))).astype(int) - 1)
            curve = {what: [getattr(steps[k], what) for k in kept] for what in ("iteration", "seconds", "upper")}
            rows.append(row(name, BEST_C[name], way, model) | {"lower_bound": best, "curve": curve})
        print(f"{name}: { {way: len(model.history_) for way, model in models.items()} }", flush=True)
    return rows


def scaling(options: argparse.Namespace) -> list[dict]:
    """The middle column of Figure 8: the same C per example on nested samples."""
    rows = []
    for name in chosen(options):
        X, y, *_ = load(name, options)
        order = np.random.default_rng(0).permutation(len(y))
        sizes = [n for n in (500, 1000, 2000, 4000, 8000) if n < len(y)] + [len(y)]
        for n in sizes[:3] if options.quick else sizes:
            part = np.sort(order[:n])
            for way in WAYS:
                model = train(X[part], y[part], BEST_C[name], way, options)
                rows.append(row(name, BEST_C[name], way, model) | {"n": n})
        print(f"{name}: {[(r['n'], r['way'], round(r['seconds'], 3)) for r in rows if r['data'] == name]}", flush=True)
    return rows


def stall(options: argparse.Namespace) -> list[dict]:
    """How often the exact search stays where it is, on data that no linear rule separates."""
    rows = []
    for name, C in STALLS:
        if name not in (options.sets or (QUICK_STALLS if options.quick else [each for each, _ in STALLS])):
            continue
        X, y, *_ = load(name, options)
        for way in WAYS:
            rows.append(row(name, C, way, train(X, y, C, way, options)))
            print(rows[-1], flush=True)
    return rows


PARTS = {"ocam": ocam, "time": over_time, "n": scaling, "stall": stall}


def main() -> None:
    options = harness.parser(__doc__, "multiclass_cuts", tuple(PARTS)).parse_args()
    harness.run(options, PARTS, (), tables.tables, tables.figures)


if __name__ == "__main__":
    main()
