"""Reading svmlight files: ours against scikit-learn's, in turns, on covtype.

    python benchmarks/reading.py --data DIR [--repeats 5] [--out FILE]

DIR holds covtype/covtype.csv.xz. The features are scaled to [0, 1] and written with our writer, once with
every digit of float64 and once rounded to six, as the files that LIBSVM distributes are.
"""

from __future__ import annotations

import argparse
import gc
import lzma
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measure
from cutplane.io.svmlight import load_svmlight, save_svmlight

QUICK_ROWS = 50_000
READERS: dict[str, Callable[[str], Any]] = {
    "cutplane": lambda path: load_svmlight(path, n_jobs=-1),
    "cutplane, 1 thread": lambda path: load_svmlight(path, n_jobs=1),
    "scikit-learn": load_svmlight_file,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CUTPLANE_DATA"))
    parser.add_argument("--quick", action="store_true", help="the first 50,000 rows")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the data is with --data DIR or CUTPLANE_DATA")

    machine = measure.machine()
    most = QUICK_ROWS if arguments.quick else None
    X, y = read_covtype(Path(arguments.data) / "covtype" / "covtype.csv.xz", most)
    files = []
    with tempfile.TemporaryDirectory() as folder:
        for name, values in [
            ("covtype.svm", X),
            ("covtype-6-digits.svm", np.round(X, 6)),
            ("covtype.svm.gz", X),
        ]:
            path = os.path.join(folder, name)
            start = time.perf_counter()
            save_svmlight(path, values, y)
            written = time.perf_counter() - start
            files.append({**compare(path, arguments.repeats), "write_seconds": written})
            print_table(files[-1])
    if arguments.out is not None:
        measure.write_json(arguments.out, {"date": machine["date"], "machine": machine, "files": files})


def read_covtype(path: Path, most: int | None) -> tuple[np.ndarray, np.ndarray]:
    with lzma.open(path, "rt") as lines:
        first = lines.readline()
        skip = 0 if first.split(",")[0].lstrip("-").isdigit() else 1
    with lzma.open(path, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float64, skiprows=skip, max_rows=most)
    X, y = table[:, :-1], table[:, -1]
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0), np.where(y == 2, 1.0, -1.0)


def compare(path: str, repeats: int) -> dict[str, Any]:
    """Time all readers in turns, so that a busy machine slows each alike, and check that they agree."""
    expected_X, expected_y = load_svmlight_file(path)  # and warm the page cache
    found = load_svmlight(path, n_jobs=-1)
    assert (found.X.data == expected_X.data).all()
    assert (found.X.indices == expected_X.indices).all()
    assert (found.X.indptr == expected_X.indptr).all()
    assert (found.y == expected_y).all()
    rows, stored = found.X.shape[0], found.X.nnz
    del expected_X, expected_y, found

    seconds: dict[str, list[float]] = {name: [] for name in READERS}
    for _ in range(repeats):
        for name, read in READERS.items():
            gc.collect()
            start = time.perf_counter()
            data = read(path)
            seconds[name].append(time.perf_counter() - start)
            del data
    medians = {name: statistics.median(runs) for name, runs in seconds.items()}
    size = os.path.getsize(path)
    return {
        "file": os.path.basename(path),
        "bytes": size,
        "rows": rows,
        "stored_values": stored,
        "seconds": seconds,
        "median_seconds": medians,
        "megabytes_per_second": {name: size / 1e6 / median for name, median in medians.items()},
        "times_scikit_learn": {name: medians["scikit-learn"] / median for name, median in medians.items()},
    }


def print_table(result: dict[str, Any]) -> None:
    print(f"{result['file']}: {result['bytes'] / 1e6:.1f} MB, {result['rows']} rows")
    print(f"  {'':20} {'median s':>9} {'MB/s':>8} {'ratio':>7}")
    for name in READERS:
        median, speed = result["median_seconds"][name], result["megabytes_per_second"][name]
        print(f"  {name:20} {median:9.3f} {speed:8.1f} {result['times_scikit_learn'][name]:7.1f}")


if __name__ == "__main__":
    main()
