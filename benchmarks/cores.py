"""What every solver gains from more threads: seconds, speed-ups, and how much of it the machine allows.

    python benchmarks/cores.py --data DIR [--quick] [--parts rows,passes,...] [--threads 1,2,4,8,16] [--out FILE]

A row is the whole of `fit` to its tolerance (1e-3, sequences 1e-2) with each number of threads, in turns; a fit that
--limit ends says so. Beside it is what the machine gains: a copy of memory, or sgemm where kernels are evaluated.
--sets takes names of data. Rows: covtype 35 times with noise, 20 million rows; beside it scikit-learn's SGDClassifier
and LIBLINEAR (inside of scikit-learn's LinearSVC) on a tenth of the rows at the same C, their seconds times ten, which
flatters them. Passes: dense and CSR, in share of a copy. Classes: one against the rest. Joint: Crammer and Singer.
Kernels: SVC, and its predictions; 500,000 rows with --sets covtype-500000 only. Sequences: chunks of CoNLL-2000, or
made ones. Strings: 15 million splice sites, made. Text: two classes; 20news-mixed has 290 entries a row.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import called_data, cores_data, datasets, harness, kernel_datasets, measure, multiclass_data, splice
from benchmarks.cores_peers import measure_peers
from benchmarks.cores_rates import copies, measure_passes, products, seconds
from benchmarks.measure import fit_seconds
from benchmarks.tables.cores import figures, tables
from cutplane import SVC, LinearSVC, SequenceSVM

THREADS = [1, 2, 4, 8, 16]
JOINT = (("mnist", (0.01, 0.1, 10.0)), ("covtype", (0.01,)))
MACHINES = (
    ("mnist", "mnist", 60_000, 10.0, 0.02),
    ("covtype", "covtype", 100_000, 64.0, 8.0),
    ("covtype-500000", "covtype", 500_000, 64.0, 8.0),
)
#: What takes minutes is measured only where --sets names it.
MINUTES = ("covtype-500000",)
SPLICE, QUICK_SPLICE = 15_000_000, 4000
#: Examples and seconds of a first fit, which loads libraries and is not timed.
FEW, SHORT = 300, 2.0
#: Seconds of a quick fit, and of its repeats.
QUICK_LIMIT = 8.0


class Scaling:
    """Fits with each number of threads, beside what the machine gains: a `floor` by its name and rates."""

    def __init__(self, options: argparse.Namespace, floor: str, rates: dict[str, float]) -> None:
        self._options = options
        self._floor = {"floor": floor, "floor_rate": rates}

    def fits(self, data: str, what: str, model: Callable[..., Any], examples: tuple, few: Any = None) -> list[dict]:
        """The whole of `fit`; `model` makes an estimator from `n_jobs` and `time_limit`."""
        options = self._options
        if options.sets and data not in options.sets:
            return []
        models = {str(threads): model(n_jobs=threads, time_limit=options.limit) for threads in options.threads}
        first = few or tuple(part[:FEW] for part in examples)
        fit_seconds(model(n_jobs=max(options.threads), time_limit=SHORT), *first)
        calls = {threads: partial(fit_seconds, each, *examples) for threads, each in models.items()}
        row = self._row(data, what, calls) | {
            "gap": {threads: _gap(each) for threads, each in models.items()},
            "limited": [threads for threads, each in models.items() if _late(each)],
            "phases": {threads: _phases(each) for threads, each in models.items()},
        }
        print({key: row[key] for key in ("data", "what", "seconds", "limited")}, flush=True)
        return [row]

    def calls(self, data: str, what: str, calls: dict[str, Callable[[], object]], work: float) -> list[dict]:
        """Calls of so many bytes or operations."""
        timed = {threads: partial(seconds, call) for threads, call in calls.items()}
        row = self._row(data, what, timed) | {"work": work}
        print(row, flush=True)
        return [row]

    def _row(self, data: str, what: str, calls: dict[str, Callable[[], float]]) -> dict:
        found = measure.alternate(calls, self._options.repeats, self._options.budget)
        medians = {threads: measure.median(each) for threads, each in found.items()}
        spread = {threads: [min(each), max(each)] for threads, each in found.items()}
        runs = {threads: len(each) for threads, each in found.items()}
        return {"data": data, "what": what, "seconds": medians, "spread": spread, "runs": runs, **self._floor}


def _late(model: Any) -> bool:
    return any(each.stop_reason == "time_limit" for each in model.certificates_)


def _gap(model: Any) -> float:
    return float(np.max(model.gap_))


def _phases(model: Any) -> dict[str, float]:
    """Seconds by phase, of all machines of a model."""
    sums: dict[str, float] = {}
    for step in [step for each in model.certificates_ for step in each.history]:
        for phase, spent in step.phases.items():
            sums[phase] = sums.get(phase, 0.0) + spent
    return sums


def measure_rows(options: argparse.Namespace) -> list[dict]:
    """Rows by the million, with every loss."""
    X, y = cores_data.covtype_copies(options)
    C, size = 1.0 / cores_data.COPIES, f"{len(y):,} x {X.shape[1]}"
    scaling = Scaling(options, "copy", copies(options))
    kinds = {
        "hinge": partial(LinearSVC, C=C, fit_intercept=False),
        "hinge, intercept": partial(LinearSVC, C=C),
        "squared hinge": partial(LinearSVC, C=C, loss="squared_hinge", fit_intercept=False),
        "logistic": partial(LinearSVC, C=C, loss="logistic", fit_intercept=False),
    }
    few = X[:: max(1, len(X) // 2000)], y[:: max(1, len(X) // 2000)]
    rows = [
        row for what, kind in kinds.items() for row in scaling.fits("covtype", f"{size}, {what}", kind, (X, y), few)
    ]
    return rows + measure_peers(X, y, C, options)


def measure_classes(options: argparse.Namespace) -> list[dict]:
    """Ten and twenty classes, each against the rest."""
    scaling, model = Scaling(options, "copy", copies(options)), partial(LinearSVC, C=0.01)
    X, y, _, _ = multiclass_data.load("mnist", options.data, options.cache)
    few = 2000 if options.quick else len(y)
    rows = scaling.fits("mnist", "10 classes, C = 0.01", model, (X[:few], y[:few]))
    made = cores_data.text(2000 if options.quick else 50_000, 60_000, 80, 20)
    rows += scaling.fits("made text", "20 classes, C = 1", LinearSVC, made)
    if not options.quick and cores_data.has_file(options, "news20/news20.bz2"):
        found = called_data.load_classes("news20-raw", options.data, options.cache)
        rows += scaling.fits("news20-raw", "20 classes, C = 1", LinearSVC, found)
    return rows


def measure_joint(options: argparse.Namespace) -> list[dict]:
    """Several classes as one problem."""
    scaling, rows = Scaling(options, "copy", copies(options)), []
    for name, Cs in JOINT:
        X, y, _, _ = multiclass_data.load(name, options.data, options.cache)
        few = 2000 if options.quick else len(y)
        for C in Cs:
            model = partial(LinearSVC, C=C, multi_class="crammer_singer", fit_intercept=False)
            rows += scaling.fits(name, f"C = {C:g}", model, (X[:few], y[:few]))
    return rows


def measure_kernels(options: argparse.Namespace) -> list[dict]:
    """SVC with an RBF kernel, and what it predicts in a second."""
    scaling, rows = Scaling(options, "sgemm", products(options)), []
    for data, name, count, C, gamma in MACHINES:
        if data in MINUTES and data not in (options.sets or []):
            continue
        X, y = kernel_datasets.load(name, options.data, options.cache)
        few = 1000 if options.quick else count
        examples = X[:few].toarray(), y[:few]
        rows += scaling.fits(
            data, f"{few:,} rows, C = {C:g}, gamma = {gamma:g}", partial(SVC, C, gamma=gamma), examples
        )
        if rows and data == "mnist":
            rows += _predictions(scaling, examples, options)
    return rows


def _predictions(scaling: Scaling, digits: tuple, options: argparse.Namespace) -> list[dict]:
    """Of the first 10,000 digits: two operations for each support vector, example and pixel."""
    model = SVC(C=10.0, gamma=0.02, n_jobs=max(options.threads), time_limit=options.limit)
    fit_seconds(model, *digits)
    fresh = digits[0][:10_000]
    work = 2.0 * len(fresh) * len(model.support_) * fresh.shape[1]

    def predict(threads: int) -> object:
        return model.set_params(n_jobs=threads).predict(fresh)

    calls = {str(threads): partial(predict, threads) for threads in options.threads}
    return scaling.calls("mnist", f"prediction of {len(fresh):,}, {len(model.support_):,} vectors", calls, work)


def measure_sequences(options: argparse.Namespace) -> list[dict]:
    """Chunks of sentences, to a gap of 1 %."""
    name, X, Y = cores_data.sentences(options)
    scaling = Scaling(options, "copy", copies(options))
    return scaling.fits(name, f"{len(X):,} sentences, C = 0.1", partial(SequenceSVM, C=0.1), (X, Y))


def measure_strings(options: argparse.Namespace) -> list[dict]:
    """Splice sites planted in random DNA."""
    n = QUICK_SPLICE if options.quick else SPLICE
    strings, y = splice.synthetic(n, Path(options.cache))
    scaling = Scaling(options, "copy", copies(options))
    few = splice.synthetic(2000, Path(options.cache))
    return [
        row
        for what, rule in splice.RULES.items()
        for row in scaling.fits(
            "splice sites", f"{n:,} strings, {what}", partial(splice.paper_model, **rule), (strings, y), few
        )
    ]


def measure_text(options: argparse.Namespace) -> list[dict]:
    """Two classes of wide sparse rows."""
    scaling, rows = Scaling(options, "copy", copies(options)), []
    n, d = (4000, 20_000) if options.quick else (100_000, 100_000)
    sets = {"made text": cores_data.text(n, d, 75, 2)}
    if not options.quick and cores_data.has_file(options, "news20/news20.bz2"):
        sets["news20"] = datasets.load("news20", options.data, options.cache)
    for name, (X, y) in sets.items():
        for C in (0.1, 1.0, 10.0):
            model = partial(LinearSVC, C=C, fit_intercept=False)
            rows += scaling.fits(name, f"{X.shape[0]:,} x {X.shape[1]:,}, C = {C:g}", model, (X, y))
    if not options.quick and cores_data.has_file(options, "20news"):
        rows += _measure_long_rows(scaling, cores_data.mixed_messages(options))
    return rows


def _measure_long_rows(scaling: Scaling, examples: tuple) -> list[dict]:
    """Rows of hundreds of entries: from eight threads on, dual ascent goes over them in batches."""
    rows = []
    for loss in ("hinge", "squared_hinge", "logistic"):
        for C in (1.0, 10.0):
            model = partial(LinearSVC, loss=loss, C=C, fit_intercept=False)
            rows += scaling.fits("20news-mixed", f"{loss}, C = {C:g}", model, examples)
    return rows


PARTS = {
    "rows": measure_rows,
    "passes": measure_passes,
    "classes": measure_classes,
    "joint": measure_joint,
    "kernels": measure_kernels,
    "sequences": measure_sequences,
    "strings": measure_strings,
    "text": measure_text,
}


def main() -> None:
    """Measure what is asked for."""
    parser = harness.parser(__doc__, "cores", tuple(PARTS), THREADS)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds after which a row is not repeated")
    options = parser.parse_args()
    if options.quick:
        options.limit, options.budget = min(options.limit, QUICK_LIMIT), min(options.budget, QUICK_LIMIT)
    harness.run(options, PARTS, ("numba", "threadpoolctl"), tables, figures)


if __name__ == "__main__":
    main()
