"""Kernel SVMs: ours beside LIBSVM's own C library, same data, kernel, C, eps and cache, in the same run.

    python benchmarks/smo.py --data DIR [--sets mushrooms,mnist] [--selections second-order,ofs2] [--out FILE]
    python benchmarks/smo.py --data DIR --working-sets 512,1024,2048 --alone --out FILE     sizes of the working set
    python benchmarks/smo.py --merge smo-skin.json smo-mnist.json [--out FILE]              of sets measured apart

Both stop by the same sound rule, m - M <= eps, on as many threads. LIBSVM is timed in its C call alone, ours from the
arrays to the solution. A run of ours at a tight eps, once and not timed, tells how far the dual objective of either is
from the optimum; errors are those on 5,000 examples beyond the training set, or on the training set where there are
none. Rows of sets measured before stay in the output file.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import kernel_datasets, libsvm_peer, measure
from benchmarks.kernel_fits import Fit, fit
from cutplane import _core
from cutplane.kernels import Kernel
from cutplane.kernels.smo_settings import DEFAULT_SELECTION

QUICK = ("--sets", "svmguide3,mushrooms", "--repeats", "1")
CACHE_BYTES = 4 << 30
FRESH = 5_000


@dataclass(frozen=True)
class Case:
    """Parameters of the OFS paper's Table 2 (RBF), or the usual ones where it has none."""

    C: float
    gamma: float
    rows: int | None = None
    test: str | None = None  # a file of its own


CASES = {
    "svmguide3": Case(64, 0.125),
    "mushrooms": Case(0.5, 0.25),
    "ijcnn1": Case(64, 1.0, test="ijcnn1_test"),
    "covtype": Case(64, 0.5, 20_000),
    "kddcup99": Case(64, 0.5, 50_000),
    "w8a": Case(8, 0.0625),
    "a9a": Case(1, 0.05, test="a9a_test"),
    "skin": Case(8, 256.0, 100_000),
    "mnist": Case(2, 0.0625, 8_000),
}


@dataclass(frozen=True)
class Task:
    """A training set, what both are given with it, and the examples they are judged by."""

    X: Any
    y: np.ndarray
    kernel: Kernel
    C: float
    fresh: Any
    labels: np.ndarray
    beyond: bool  # whether those are none of the training set

    @classmethod
    def of(cls, name: str, data: str | None) -> "Task":
        case = CASES[name]
        X, y = kernel_datasets.load(name, data)
        others = kernel_datasets.load(case.test, data) if case.test else (X[case.rows or 0 :], y[case.rows or 0 :])
        X, y = X[: case.rows], y[: case.rows]
        if len(np.unique(y)) > 2:
            order = np.argsort(y, kind="stable")
            X, y = X[order], y[order]
        beyond = case.test is not None or case.rows is not None
        fresh, labels = others[0][:FRESH], others[1][:FRESH]
        return cls(X, y, Kernel("rbf", gamma=case.gamma), case.C, fresh, labels, beyond)

    def fit(self, selection: str, eps: float, working_set: int | None = None) -> Fit:
        about = {"selection": selection, "eps": eps, "working_set": working_set}
        return fit(self.X, self.y, self.kernel, self.C, cache_bytes=CACHE_BYTES, **about)

    def libsvm(self, eps: float) -> libsvm_peer.Trained:
        return libsvm_peer.train(self.X, self.y, self.kernel, self.C, eps, CACHE_BYTES / 2**20)

    def error(self, found: Fit | libsvm_peer.Trained) -> float:
        """The share of the examples beyond that it gets wrong."""
        ours = isinstance(found, Fit)
        predicted = found.predict(self.X, self.kernel, self.fresh) if ours else found.predict(self.fresh)
        return float(np.mean(predicted != self.labels))


def run(name: str, options: argparse.Namespace) -> list[dict]:
    task = Task.of(name, options.data)
    found: dict[str, Fit | libsvm_peer.Trained] = {}

    def contestant(solver, train):
        def call():
            found[solver] = train()
            return found[solver].seconds

        return call

    sizes = [int(size) for size in options.working_sets.split(",")] if options.working_sets else [None]
    contestants = {
        solver: contestant(solver, lambda s=selection, size=size: task.fit(s, options.eps, size))
        for selection in options.selections.split(",")
        for size in sizes
        for solver in [selection if size is None else f"{selection}, {size}"]
    }
    if libsvm_peer.MISSING is None and not options.alone:
        contestants["LIBSVM"] = contestant("LIBSVM", lambda: task.libsvm(options.eps))
    seconds = measure.alternate(contestants, options.repeats, options.budget)
    tight = None if options.alone else task.fit(DEFAULT_SELECTION, options.tight).dual
    entries = []
    for solver, times in seconds.items():
        result = found[solver]
        entry = {
            "set": name, "rows": task.X.shape[0], "features": task.X.shape[1], "C": task.C,
            "gamma": task.kernel.gamma, "solver": solver, "seconds": times, "iterations": result.iterations,
            "dual": result.dual, "support": result.support, "error": task.error(result), "error_beyond": task.beyond,
            "threads": _core.thread_count(0),
        }  # fmt: skip
        if tight is not None:
            entry |= {"tight_dual": tight, "short_of_optimum": (tight - result.dual) / abs(tight)}
        if isinstance(result, Fit):
            entry |= {"gap": result.gap, "violation": result.violation, "machines": len(result.machines)}
            if "LIBSVM" in found:
                entry["dual_over_libsvm"] = result.dual / found["LIBSVM"].dual - 1
                entry["ratio"] = measure.median(seconds["LIBSVM"]) / measure.median(times)
        entries.append(entry)
    return entries


def report(entries: list[dict]) -> None:
    header = {
        "rows": "rows", "solver": "solver", "seconds": "seconds", "runs": "runs", "iterations": "iterations",
        "violation": "violation", "gap": "gap", "dual": "dual", "short_of_optimum": "short of optimum",
        "dual_over_libsvm": "dual/LIBSVM-1", "error": "error", "ratio": "ratio",
    }  # fmt: skip
    rows = []
    for e in entries:
        shown = {
            **e, "seconds": measure.median(e["seconds"]), "runs": len(e["seconds"]), "dual": f"{e['dual']:.9g}",
        }  # fmt: skip
        rows.append([e["set"], *(shown.get(key) for key in header)])
    print(measure.table(["set", *header.values()], rows))
    for solver in sorted({e["solver"] for e in entries} - {"LIBSVM"}):
        ratios = [e["ratio"] for e in entries if e["solver"] == solver and "ratio" in e]
        if ratios:
            mean = measure.geometric_mean(ratios)
            print(f"{solver}: {mean:.1f} times as fast as LIBSVM in the geometric mean, at least {min(ratios):.1f}")


def contents(path: str) -> dict:
    file = Path(path)
    return json.loads(file.read_text()) if file.exists() else {"results": []}


def write(options: argparse.Namespace, entries: list[dict], about: dict) -> list[dict]:
    """Into the output file, in place of what it has of the same sets."""
    entries = [{"commit": about["machine"]["commit"]} | entry for entry in entries]
    new = {entry["set"] for entry in entries}
    kept = [entry for entry in contents(options.out)["results"] if entry["set"] not in new]
    everything = sorted([*kept, *entries], key=lambda entry: list(CASES).index(entry["set"]))
    measure.write_json(options.out, {**about, "results": everything})
    return everything


def merge(options: argparse.Namespace) -> list[dict]:
    files = [contents(path) for path in options.merge]
    different = {file["eps"] for file in files}
    if len(different) > 1:
        raise SystemExit(f"The files are of different eps, {', '.join(map(str, sorted(different)))}: not one table.")
    about = {key: files[0][key] for key in ("machine", "eps")}
    entries = [{"commit": file["machine"]["commit"]} | entry for file in files for entry in file["results"]]
    return write(options, entries, about)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the published files (default: $CUTPLANE_DATA)")
    parser.add_argument("--sets", default=",".join(CASES), help="comma-separated names")
    parser.add_argument("--selections", default=DEFAULT_SELECTION, help="comma-separated (%(default)s)")
    parser.add_argument("--eps", type=float, default=1e-3, help="of the stopping rule of both (%(default)s)")
    parser.add_argument("--tight", type=float, default=1e-6, help="eps of the run that stands for the optimum")
    parser.add_argument("--working-sets", help="comma-separated sizes, in place of the one that is chosen")
    parser.add_argument("--alone", action="store_true", help="without LIBSVM")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds a set after which no round is begun")
    parser.add_argument("--merge", nargs="+", metavar="FILE", help="measure nothing; put these files together")
    parser.add_argument("--out", default=str(measure.RESULTS / "smo.json"))
    options = parser.parse_args()
    if options.merge:
        report(merge(options))
        return
    if libsvm_peer.MISSING and not options.alone:
        print(f"LIBSVM is missing: {libsvm_peer.MISSING}")
    packages = ("cutplane", "numpy", "scipy", "libsvm-official")
    for name in options.sets.split(","):
        entries = run(name, options)
        everything = write(options, entries, {"machine": measure.machine(packages), "eps": options.eps})
    report(everything)


if __name__ == "__main__":
    main()
