"""Examples of one or two bytes a value, read where they lie, beside the same in float32.

    python benchmarks/dtypes.py [--quick] [--parts passes,fits] [--repeats 7] [--out FILE]

Passes: X @ w and X' @ coef over arrays that take 400 MB in float16 and bfloat16, 200 MB in int8 and uint8, 800 MB in
float32: none fits a cache. Types are timed in turns, with one thread and with --threads. Fits: the whole of `fit`, to a
proven gap of 1e-3. A ratio above 1 is faster than float32. Where passes wait for the processor and not for memory there
is less to gain: values are converted, and sums are in double precision.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import ml_dtypes
import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import harness, measure
from benchmarks.measure import fit_seconds
from benchmarks.tables.dtypes import NARROW, figures, tables
from cutplane import LinearSVC
from cutplane.sources import DenseSource

WIDTHS = (54, 256, 784)
VALUES, QUICK_VALUES = 200_000_000, 5_000_000
LOSSES = ("hinge", "squared_hinge")


def examples(rows: int, columns: int) -> dict[str, np.ndarray]:
    """The same small whole numbers in every type, so that fits are of one problem."""
    rng = np.random.default_rng(0)
    small = rng.integers(0, 100, size=(rows, columns), dtype=np.int8)
    kinds = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "uint8": np.uint8}
    return {"int8": small} | {name: small.astype(kind) for name, kind in kinds.items()}


def labels(X: np.ndarray) -> np.ndarray:
    """Two classes that a plane separates but for a tenth."""
    rng = np.random.default_rng(1)
    scores = DenseSource(X).scores(rng.standard_normal(X.shape[1]))
    y = np.where(scores > np.median(scores), 1, -1)
    return np.where(rng.random(len(y)) < 0.1, -y, y)


def _seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def _row(name: str, calls: dict[str, Callable[[], float]], repeats: int, budget: float) -> dict:
    found = measure.alternate(calls, repeats, budget)
    medians = {kind: measure.median(values) for kind, values in found.items()}
    ratios = {kind: medians["float32"] / medians[kind] for kind in NARROW}
    return {"data": name, "seconds": medians, "ratios": ratios}


def measure_passes(options) -> list[dict]:
    """Both passes, by one thread and by several."""
    rows = []
    for width in WIDTHS:
        n = (QUICK_VALUES if options.quick else VALUES) // width
        arrays = examples(n, width)
        rng = np.random.default_rng(2)
        given = {"scores": rng.standard_normal(width), "combine": rng.standard_normal(n)}
        for threads in sorted({1, options.threads}):
            sources = {kind: DenseSource(X, n_threads=threads) for kind, X in arrays.items()}
            for way, argument in given.items():
                calls = {
                    kind: partial(_seconds, partial(getattr(source, way), argument)) for kind, source in sources.items()
                }
                found = _row(f"{n:,} x {width}", calls, options.repeats, options.budget)
                values = {kind: 1e-9 * n * width / seconds for kind, seconds in found["seconds"].items()}
                rows.append({**found, "pass": way, "threads": threads, "billion_values_a_second": values})
                print(rows[-1], flush=True)
    return rows


def measure_fits(options) -> list[dict]:
    """The whole of `fit`."""
    width = WIDTHS[0]
    n = (QUICK_VALUES if options.quick else VALUES) // width
    arrays = examples(n, width)
    y = labels(arrays["int8"])
    rows = []
    for loss in LOSSES:
        for threads in sorted({1, options.threads}):
            models = {kind: LinearSVC(C=1e-6, loss=loss, n_jobs=threads) for kind in arrays}
            calls = {kind: partial(fit_seconds, models[kind], X, y) for kind, X in arrays.items()}
            found = _row(f"{n:,} x {width}", calls, options.repeats, options.budget)
            gaps = {kind: model.gap_ for kind, model in models.items()}
            rows.append({**found, "loss": loss, "threads": threads, "gaps": gaps})
            print(rows[-1], flush=True)
    return rows


PARTS = {"passes": measure_passes, "fits": measure_fits}


def main() -> None:
    """Measure what is asked for."""
    parser = harness.parser(__doc__, "dtypes", tuple(PARTS))
    parser.set_defaults(repeats=7)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds for a row (%(default)s)")
    harness.run(parser.parse_args(), PARTS, ("ml_dtypes",), tables, figures)


if __name__ == "__main__":
    main()
