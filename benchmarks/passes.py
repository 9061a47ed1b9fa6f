"""Passes over the data against the machine's copy bandwidth, what else an iteration costs, and peak memory.

    python benchmarks/passes.py --data DIR [--repeats 9] [--out FILE]

Bandwidth: bytes of the matrix over seconds of a pass, two kinds, and the bytes read and written over the seconds of a
threaded copy of 512 MB, in turns: all of them find in the caches what the others left there.
Share: of the time of pure OCA, what is neither of its two passes. Memory: the peak of a process that trains, above what
it held once the data were read, over the bytes of the data; planes apart.
"""

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path
from time import perf_counter

if __package__ in (None, ""):  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets, measure
from cutplane import LinearSVC
from cutplane.sources import as_source

SETS = ("covtype-dense", "mnist-dense", "covtype", "mnist")
QUICK_SETS = ("a9a-dense", "a9a")
METHODS = ("oca", "auto")


def nbytes(X) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes


def timed(call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def measure_bandwidth(name: str, X, threads: int, repeats: int) -> dict:
    """Medians of passes and of copies, taken in turns."""
    source = as_source(X, n_threads=threads)
    rng = np.random.default_rng(0)
    w, coef = rng.standard_normal(X.shape[1]), rng.standard_normal(X.shape[0])
    copy = measure.Copy(threads)
    seconds = measure.alternate(
        {
            "scores": lambda: timed(lambda: source.scores(w)),
            "combine": lambda: timed(lambda: source.combine(coef)),
            "copy": copy,
        },
        repeats,
    )
    size = nbytes(X)
    rate = {way: 1e-9 / measure.median(values) for way, values in seconds.items()}
    result = {
        "data": name,
        "megabytes": size / 1e6,
        "copy_gb_s": copy.nbytes * rate["copy"],
        "scores_gb_s": size * rate["scores"],
        "combine_gb_s": size * rate["combine"],
    }
    return result | {f"{way}_of_copy": result[f"{way}_gb_s"] / result["copy_gb_s"] for way in ("scores", "combine")}


def measure_share(name: str, X, y, C: float, threads: int) -> dict:
    """Where the time of pure OCA goes."""
    model = LinearSVC(C=C, method="oca", fit_intercept=False, n_jobs=threads).fit(X, y)
    phases: dict[str, float] = {}
    for step in model.history_:
        for phase, seconds in step.phases.items():
            phases[phase] = phases.get(phase, 0.0) + seconds
    total = model.history_[-1].seconds
    return {
        "data": name,
        "C": C,
        "iterations": model.n_iter_,
        "seconds": total,
        **{phase: phases.get(phase, 0.0) / total for phase in ("scores", "cut", "line_search", "qp")},
        "other_than_passes": 1.0 - (phases.get("scores", 0.0) + phases.get("cut", 0.0)) / total,
    }


def measure_memory(name: str, method: str, options: argparse.Namespace) -> dict:
    """In a process of its own: a peak cannot be taken back."""
    words = [sys.executable, __file__, "--one", f"{name},{method}", "--cache", options.cache]
    words += [] if options.data is None else ["--data", options.data]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def resident(field: str) -> int:
    """Bytes of this process in memory: VmRSS now, VmHWM at most since `forget_peak`."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def train_alone(name: str, method: str, options: argparse.Namespace) -> None:
    X, y = datasets.load(name, options.data, options.cache)
    X = sp.csr_matrix(X) if sp.issparse(X) else np.ascontiguousarray(X)
    LinearSVC().fit(X[:1000], y[:1000])  # libraries loaded, pools made
    before = resident("VmRSS")
    forget_peak()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(C=0.1, method=method, fit_intercept=False, n_jobs=options.threads).fit(X, y)
    planes = max(step.planes for step in model.history_) * X.shape[1] * 8
    grown = resident("VmHWM") - before
    print(
        json.dumps(
            {
                "data": name,
                "method": method,
                "data_mb": nbytes(X) / 1e6,
                "planes_mb": planes / 1e6,
                "grown_mb": grown / 1e6,
                "ratio": 1.0 + max(0, grown - planes) / nbytes(X),
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    parser.add_argument("--cache", default=datasets.DEFAULT_CACHE, help="folder of the parsed data (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="a small data set")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=measure.RESULTS / "passes.json")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        train_alone(*options.one.split(","), options)
        return
    result = {"machine": measure.machine(), "bandwidth": [], "shares": [], "memory": []}
    for name in QUICK_SETS if options.quick else SETS:
        X, y = datasets.load(name, options.data, options.cache)
        result["bandwidth"].append(measure_bandwidth(name, X, options.threads, options.repeats))
        result["shares"] += [measure_share(name, X, y, C, options.threads) for C in (0.01, 1.0)]
        result["memory"] += [measure_memory(name, method, options) for method in METHODS]
        measure.write_json(options.out, result)
    for part in ("bandwidth", "shares", "memory"):
        rows = result[part]
        print(measure.table(list(rows[0]), [list(row.values()) for row in rows]), end="\n\n")


if __name__ == "__main__":
    main()
