"""A C that is proven best: how many values of C it takes to certify a choice.

    python benchmarks/certified_path.py --data DIR [--sets a9a,covtype] [--parts none,free,all_none] [--out FILE]

`LinearSVCCV((1e-3, 10), cv=3, certify=...)` with no intercept and with a free one, on a seeded draw of rows (`none`,
`free`) and on all of them (`all_none`, `all_free`): how many C were tried, the least error found, the lower bound for
every C of the range, seconds, and why it ended. A run that spends its C or its time says what is proven by then; then
nothing finer is asked for.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets, harness
from benchmarks.tables import certified_path as tables
from cutplane import LinearSVCCV

REPRODUCES = ""
SETS = ("a9a", "w8a", "covtype", "news20-one", "mnist")
ALL_OF = ("a9a", "covtype", "mnist", "news20-one")
ROWS, QUICK_ROWS = 2000, 500
ASKED = (0.1, 0.03, 0.01)
LEAST, MOST, FOLDS, MAX_FITS = 1e-3, 10.0, 3, 400


def drawn(options: argparse.Namespace, whole: bool) -> Iterator[tuple[str, datasets.Examples]]:
    sets = ALL_OF if whole else SETS
    for name in sets[:1] if options.quick else sets:
        if options.sets and name not in options.sets:
            continue
        X, y = datasets.load(name, options.data, options.cache)
        if whole and not options.quick:
            yield name, (X, y)
            continue
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[: QUICK_ROWS if options.quick else ROWS])
        yield name, (X[rows], y[rows])


def fits(options: argparse.Namespace, intercept: bool, whole: bool) -> list[dict]:
    rows = []
    for name, (X, y) in drawn(options, whole):
        for certify in ASKED:
            # Half of the time is for choosing.
            settings = {"fit_intercept": intercept, "n_jobs": options.threads, "time_limit": 2.0 * options.limit}
            model = LinearSVCCV((LEAST, MOST), cv=FOLDS, certify=certify, max_fits=MAX_FITS, **settings)
            begin = perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the reason is in the table
                found = model.fit(X, y).certified_
            rows.append(
                {
                    "data": name,
                    "rows": len(y),
                    "certify": certify,
                    "fits": found.n_fits,
                    "seconds": perf_counter() - begin,
                    "C": model.C_,
                    "error": found.error,
                    "lower_bound": found.lower_bound,
                    "stop": found.stop_reason,
                }
            )
            print(rows[-1], flush=True)
            if found.stop_reason != "certified":
                break
    return rows


def main() -> None:
    parts = {
        "none": partial(fits, intercept=False, whole=False),
        "free": partial(fits, intercept=True, whole=False),
        "all_none": partial(fits, intercept=False, whole=True),
        "all_free": partial(fits, intercept=True, whole=True),
    }
    options = harness.parser(__doc__, "certified_path", tuple(parts)).parse_args()
    harness.run(options, parts, (), tables.tables, tables.figures)


if __name__ == "__main__":
    main()
