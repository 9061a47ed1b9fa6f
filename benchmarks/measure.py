"""What benchmarks share: the machine in words, alternating timings, geometric means, tables, JSON."""

import json
import math
import os
import platform
import statistics
import subprocess
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from time import perf_counter, strftime

import numpy as np

RESULTS = Path(__file__).parent / "results"


def machine(packages: Iterable[str] = ("cutplane", "numpy", "scipy", "scikit-learn")) -> dict:
    """Where and with what a table was measured; part of every JSON file."""
    return {
        "date": strftime("%Y-%m-%d"),
        "cpu": _cpu_model(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in packages},
        "commit": _commit(),
        "load_average": os.getloadavg()[0],  # over the number of cores, the seconds below are not to be trusted
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _commit() -> str:
    """The commit measured, with a + where the working tree differs from it."""

    def git(*words: str) -> str:
        found = subprocess.run(["git", *words], cwd=RESULTS.parent, capture_output=True, text=True)
        return found.stdout.strip()

    try:
        return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if git("status", "--porcelain") else "")
    except OSError:
        return "unknown"


class Copy:
    """A threaded copy of a large array, to time other passes against. Calling it returns its seconds."""

    def __init__(self, threads: int = 2, megabytes: int = 512) -> None:
        source = np.ones(megabytes * 2**20 // 8)
        target = np.zeros_like(source)  # its pages are mapped
        self.nbytes = 2 * source.nbytes  # read and written
        self._pieces = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
        self._pool = ThreadPoolExecutor(threads)
        self()

    def __call__(self) -> float:
        start = perf_counter()
        list(self._pool.map(lambda piece: np.copyto(*piece), self._pieces))
        return perf_counter() - start


def copy_bandwidth(threads: int = 2, repeats: int = 5) -> float:
    """GB read plus written per second by the best of `repeats` copies."""
    copy = Copy(threads)
    return copy.nbytes / min(copy() for _ in range(repeats)) / 1e9


# Contestants of milliseconds are called until they have had so many seconds, or so many times as often.
_LEAST_SECONDS, _AS_OFTEN = 0.5, 5


def alternate(
    contestants: Mapping[str, Callable[[], float]], repeats: int = 5, budget: float = 120.0
) -> dict[str, list[float]]:
    """Seconds of each contestant, A B A B ..., so that a busy spell of the machine falls on all of them.

    Each contestant is called `repeats` times and says itself how long it took; after `budget` seconds in all
    no new round is begun, so the slowest cells have fewer repeats: count them in what is returned. Those of
    milliseconds have more.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    start = perf_counter()
    for done in range(1, _AS_OFTEN * repeats + 1):
        for name, call in contestants.items():
            seconds[name].append(call())
        spent = perf_counter() - start
        if spent > budget or (done >= repeats and spent > _LEAST_SECONDS):
            break
    return seconds


def fit_seconds(model, *data) -> float:
    """Of `fit`, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        model.fit(*data)
        return perf_counter() - start


def median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else math.nan


def geometric_mean(values: Iterable[float]) -> float:
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table that also reads well in a terminal; numbers in three digits, None as a blank."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = [
        "| " + " | ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join([lines[0], rule, *lines[1:]])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.3g}"
    return str(value)


def write_json(path: str | os.PathLike, content: object) -> None:
    """Write aside and rename: an interrupted benchmark leaves the last complete file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".partial")
    aside.write_text(json.dumps(content, indent=1, default=_plain) + "\n")
    aside.replace(path)


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} does not go into JSON")
