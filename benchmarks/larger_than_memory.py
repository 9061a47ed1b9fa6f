"""Training on a file larger than the memory the process may have, against the disk that delivers it.

    python benchmarks/larger_than_memory.py                                  6 GB in 1.5 GB
    python benchmarks/larger_than_memory.py --gigabytes 1 --limit 0.75       a smaller one

The file is made first (rows of 100 numbers in single precision). Then a process that may have so many bytes of
addresses (RLIMIT_AS: all it could ever touch, libraries and stacks of threads included, so that no more can be
resident) reads it through, trains on it, and reads it through again. What was read leaves the page cache at once, in
both: every byte of every pass comes from the disk.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

REPRODUCES = ""
QUICK = ("--gigabytes", "1", "--limit", "0.75")
COLUMNS = 100
BLOCK = 1 << 24


def make(folder: Path, gigabytes: float) -> tuple[Path, Path]:
    """Rows and labels, made once."""
    folder.mkdir(parents=True, exist_ok=True)
    n = int(gigabytes * 1e9) // (4 * COLUMNS)
    rows, labels = folder / f"rows-{n}.npy", folder / f"labels-{n}.npy"
    if not labels.exists():
        rng = np.random.default_rng(0)
        y = np.empty(n, np.int8)
        with open(rows, "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, COLUMNS)})
            for begin in range(0, n, 250_000):
                X = rng.standard_normal((min(250_000, n - begin), COLUMNS), dtype=np.float32)
                y[begin : begin + len(X)] = np.where(X[:, 0] - X[:, 1] > 0.5 * rng.standard_normal(len(X)), 1, -1)
                file.write(X.tobytes())
            file.flush()
            os.fsync(file.fileno())  # pages not yet written cannot be dropped
        np.save(labels, y)
    return rows, labels


def limited(rows: Path, labels: Path, options: argparse.Namespace) -> dict:
    """What the limited process measured."""
    words = [__file__, "--inside", str(rows), str(labels), "--limit", str(options.limit), "--jobs", str(options.jobs)]
    words += ["--tol", str(options.tol), "--C", str(options.C)]
    # A library that reserves addresses for threads it does not start would count against the limit.
    few = {"OMP_NUM_THREADS": str(options.jobs), "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    done = subprocess.run([sys.executable, *words], env={**os.environ, **few}, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"The process with {options.limit} GB of addresses ended with status {done.returncode}.")
    return json.loads(done.stdout)


def inside(rows: Path, labels: Path, options: argparse.Namespace) -> dict:
    """Read, train, read; in a process that may not have more."""
    resource.setrlimit(resource.RLIMIT_AS, (int(options.limit * 1e9),) * 2)
    from cutplane import LinearSVC
    from cutplane.sources import MappedSource
    from cutplane.sources.mapped import NpyRows

    descriptor = os.open(rows, os.O_RDONLY)

    class FromDisk(NpyRows):
        """Rows that are read from the disk every time, and counted."""

        loaded = 0

        def load(self, block: int) -> np.ndarray:
            found = super().load(block)
            begin = self.bounds[block] * 4 * COLUMNS
            os.posix_fadvise(descriptor, begin, found.nbytes, os.POSIX_FADV_DONTNEED)
            FromDisk.loaded += found.nbytes
            return found

    blocks = FromDisk(rows)
    libraries = status("VmSize")
    y = np.load(labels)
    reading = [read_through(descriptor) for _ in range(2)]
    start = time.perf_counter()
    model = LinearSVC(C=options.C, tol=options.tol, n_jobs=options.jobs)
    model.fit(MappedSource(blocks, n_threads=options.jobs), y)
    seconds = time.perf_counter() - start
    reading += [read_through(descriptor) for _ in range(2)]
    passes, read = FromDisk.loaded / blocks.size, float(np.median(reading))
    phases = {name: sum(step.phases.get(name, 0.0) for step in model.history_) for name in model.history_[-1].phases}
    return {
        "gigabytes": blocks.size / 1e9,
        "rows": blocks.shape[0],
        "limit_gb": options.limit,
        "threads": options.jobs,
        "read_seconds": read,
        "gb_per_second": blocks.size / 1e9 / read,
        "fit_seconds": seconds,
        "passes": passes,
        "ratio": seconds / (passes * read),
        "iterations": model.n_iter_,
        "gap": model.gap_,
        "stop": model.stop_reason_,
        "phases": phases,
        "addresses_of_libraries_gb": libraries,
        "most_addresses_gb": status("VmPeak"),
        "most_resident_gb": status("VmHWM"),
    }


def read_through(descriptor: int) -> float:
    """Seconds in which the disk delivers the file to one that only asks for it."""
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    start, at, block = time.perf_counter(), 0, bytearray(BLOCK)
    while got := os.preadv(descriptor, [block], at):
        os.posix_fadvise(descriptor, at, got, os.POSIX_FADV_DONTNEED)
        at += got
    return time.perf_counter() - start


def status(name: str) -> float:
    """Gigabytes, as the kernel counts them for this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024 / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="not needed: the rows are made")
    parser.add_argument("--gigabytes", type=float, default=6.0, help="of the file (%(default)s)")
    parser.add_argument("--limit", type=float, default=1.5, help="GB of addresses (%(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="threads (%(default)s)")
    parser.add_argument("--C", type=float, default=1e-5, help="per example (%(default)s)")
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--scratch", type=Path, default=Path("scratch"), help="folder on the disk (%(default)s)")
    parser.add_argument("--out", type=Path, help="JSON file (default: among the results)")
    parser.add_argument("--inside", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(inside(*options.inside, options)))
        return
    from benchmarks import measure

    rows, labels = make(options.scratch, options.gigabytes)
    part = limited(rows, labels, options)
    content = {"run": part, "machine": measure.machine()}
    measure.write_json(options.out or measure.RESULTS / "larger_than_memory.json", content)
    shown = {name: value for name, value in part.items() if name != "phases"}
    print(measure.table(["what", "value"], [*shown.items(), *part["phases"].items()]))


if __name__ == "__main__":
    main()
