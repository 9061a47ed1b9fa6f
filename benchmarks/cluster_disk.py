"""Rows that do not fit the memory of the workers: seconds and peak memory of a fit, beside one that has the memory.

    python benchmarks/cluster_disk.py --gigabytes 4 --limit 1GB --folder DIR

Rows lie in files, a partition each, that workers read. Where their share does not fit, they keep it in files of their
own and read these in every pass. Peak memory is that of the processes as Dask sees it.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
from dask import delayed
from dask.distributed import Client, LocalCluster

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measure
from cutplane import LinearSVC

REPRODUCES = ""
COLUMNS, ROWS = 200, 50_000


def write(path: Path, number: int) -> None:
    rows = np.random.default_rng(number).standard_normal((ROWS, COLUMNS), dtype=np.float32)
    np.save(path / f"{number}.npy", rows)


def read(path: Path, number: int) -> np.ndarray:
    return np.load(path / f"{number}.npy")


def labels_of(number: int, X: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(10_000 + number).standard_normal(len(X), dtype=np.float32)
    return (X @ np.linspace(-1.0, 1.0, COLUMNS, dtype=np.float32) + 4.0 * noise > 0.2).astype(np.int8)


class Peak:
    """The largest memory of any worker while it lasts."""

    def __init__(self, client: Client) -> None:
        self._processes = [psutil.Process(number) for number in client.run(os.getpid).values()]
        self._ended = threading.Event()
        self.bytes = 0

    def __enter__(self) -> "Peak":
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            self.bytes = max([self.bytes, *(process.memory_info().rss for process in self._processes)])


def measured(limit: str | int, folder: Path, parts: int, options: argparse.Namespace) -> dict:
    found = {}
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, memory_limit=limit, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        X = [delayed(read)(folder, k) for k in range(parts)]
        y = [delayed(labels_of)(k, part) for k, part in enumerate(X)]
        for name, params in (("no intercept", {"fit_intercept": False}), ("intercept", {})):
            with Peak(client) as peak:
                model = LinearSVC(C=1e-4, **params)
                began = time.perf_counter()
                model.fit(X, y)
                seconds = time.perf_counter() - began
            found[name] = {"seconds": seconds, "gap": model.gap_, "peak": peak.bytes}
            print(f"{limit}: {name}: {seconds:.1f} s, gap {model.gap_:.1e}, {peak.bytes / 1e6:.0f} MB", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="not needed: the rows are made")
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--limit", default="1GB", help="memory of each worker (%(default)s)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where there is room twice (default: that of temporary files)")
    parser.add_argument("--out", type=Path, help="JSON file (default: among the results)")
    options = parser.parse_args()
    parts = int(options.gigabytes * 1e9 / (4 * COLUMNS * ROWS))
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        for number in range(parts):
            write(folder, number)
        result = {
            "gigabytes": parts * 4 * COLUMNS * ROWS / 1e9,
            "workers": options.workers,
            "limit": options.limit,
            "limited": measured(options.limit, folder, parts, options),
            "unlimited": measured(0, folder, parts, options),
            "machine": measure.machine(),
        }
    measure.write_json(options.out or measure.RESULTS / "cluster_disk.json", result)


if __name__ == "__main__":
    main()
