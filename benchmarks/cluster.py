"""The same fit on a cluster of this machine and in one process: seconds, rounds, bytes.

    python benchmarks/cluster.py --rows 64_000_000 --workers 16         13.8 GB, on 16 cores
    python benchmarks/cluster.py --quick                                2 workers, a few seconds

Rows are made on the workers and kept there; what is timed is `fit`, checks and checksums included. A cluster of W
workers with one thread each is held against one process with W threads on the same rows, in turns. Strong scaling has
the same rows for each number of workers, weak scaling as many for each worker.
"""

import argparse
import pickle
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from dask import delayed
from dask.distributed import Client, LocalCluster, wait

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measure
from cutplane import LinearSVC
from cutplane.cluster.post import Post

REPRODUCES = ""
COLUMNS = 54
PARTS = 64  # the same for every number of workers, so that all find the same model
SETTINGS = {"no intercept": {"fit_intercept": False}, "intercept": {}, "squared hinge": {"loss": "squared_hinge"}}


def rows_of(number: int, rows: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal((rows, COLUMNS), dtype=np.float32)


def labels_of(X: np.ndarray, number: int) -> np.ndarray:
    noise = np.random.default_rng(10_000 + number).standard_normal(len(X), dtype=np.float32)
    return (X @ np.linspace(-1.0, 1.0, COLUMNS, dtype=np.float32) + 2.0 * noise > 0.2).astype(np.int8)


class Watched:
    """Rounds of a fit: how many, how long they took, what was sent."""

    def __init__(self) -> None:
        self.rounds, self.seconds, self.out, self.back = 0, 0.0, 0, 0

    def __enter__(self) -> "Watched":
        self._plain = Post.__call__
        watched = self

        def counted(post: Post, errands: dict) -> dict:
            began = time.perf_counter()
            found = watched._plain(post, errands)
            watched.seconds += time.perf_counter() - began
            watched.rounds += 1
            watched.out += len(pickle.dumps(errands))
            watched.back += len(pickle.dumps(found))
            return found

        Post.__call__ = counted
        return self

    def __exit__(self, *error: object) -> None:
        Post.__call__ = self._plain


def on_cluster(workers: int, rows: int, options: argparse.Namespace) -> dict:
    """Fits on so many workers, and one more of each setting that is watched."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        each = rows // PARTS
        X = client.compute([delayed(rows_of)(k, each) for k in range(PARTS)])
        y = client.compute([delayed(labels_of)(part, k) for k, part in enumerate(X)])
        wait(X + y)
        cells = {}
        for name in options.settings:
            model = LinearSVC(C=options.C, **SETTINGS[name])
            seconds = [measure.fit_seconds(model, X, y) for _ in range(options.repeats)]
            with Watched() as watched:
                model.fit(X, y)
            cells[name] = {
                "seconds": seconds,
                "rounds": watched.rounds,
                "milliseconds a round": 1e3 * watched.seconds / watched.rounds,
                "kB out a round": watched.out / watched.rounds / 1e3,
                "kB back a round": watched.back / watched.rounds / 1e3,
                "gap": model.gap_,
                "objective": model.objective_,
            }
        return cells


def in_process(threads: int, rows: int, options: argparse.Namespace) -> dict:
    """The same fits here."""
    each = rows // PARTS
    X = np.empty((PARTS * each, COLUMNS), np.float32)
    y = np.empty(len(X), np.int8)

    def fill(k: int) -> None:
        part = slice(k * each, (k + 1) * each)
        X[part] = rows_of(k, each)
        y[part] = labels_of(X[part], k)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(PARTS)))
    cells = {}
    for name in options.settings:
        model = LinearSVC(C=options.C, n_jobs=threads, **SETTINGS[name])
        cells[name] = {"seconds": [measure.fit_seconds(model, X, y) for _ in range(options.repeats)]}
        cells[name] |= {"gap": model.gap_, "objective": model.objective_}
    return cells


def measured(workers: int, rows: int, options: argparse.Namespace) -> dict:
    there = on_cluster(workers, rows, options)
    here = in_process(workers, rows, options)
    for name, cell in there.items():
        cell["one process"] = here[name]
        cell["ratio"] = measure.median(cell["seconds"]) / measure.median(here[name]["seconds"])
        print(
            f"{workers:3d} workers, {rows:11,d} rows, {name}: {measure.median(cell['seconds']):.2f} s, "
            f"{cell['ratio']:.2f} times one process; {cell['rounds']} rounds of {cell['milliseconds a round']:.1f} ms",
            flush=True,
        )
    return {"workers": workers, "rows": rows, "settings": there}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="not needed: the rows are made")
    parser.add_argument("--rows", type=int, default=64_000_000, help="of the largest fit (%(default)s)")
    parser.add_argument("--workers", type=int, nargs="+", default=[16], help="of it (%(default)s)")
    parser.add_argument("--strong", type=int, default=16_000_000, help="rows for every number of workers; 0: none")
    parser.add_argument("--weak", type=int, default=1_000_000, help="rows for each worker; 0: none")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4, 8, 16], help="of workers, for scaling")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--C", type=float, default=1e-4)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, help="JSON file (default: among the results)")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.workers, options.strong, options.weak = 640_000, [2], 0, 0
    plan = [("runs", count, options.rows) for count in options.workers]
    plan += [("strong", count, options.strong) for count in options.counts if options.strong]
    plan += [("weak", count, options.weak * count) for count in options.counts if options.weak]
    content: dict = {"runs": [], "strong": [], "weak": [], "machine": measure.machine()}
    for group, count, rows in plan:
        content[group].append(measured(count, rows, options))
        measure.write_json(
            options.out or measure.RESULTS / "cluster.json", content
        )  # what there is, if it is cut short


if __name__ == "__main__":
    main()
