"""Multi-class SVMs (Crammer and Singer): seconds to 1 % and to 1e-3 of the optimum, ours beside LIBLINEAR -s 4.

    python benchmarks/multiclass.py --data DIR [--sets mnist,news20] [--Cs 0.01,1] [--ways] [--ovr] [--out FILE]
    python benchmarks/multiclass.py --only-ways ...         the cutting planes of cells measured before, again
    python benchmarks/multiclass.py --only-ways --base FILE --out OTHER ...      writes the cells it measures alone
    python benchmarks/multiclass.py --report FILE...        prints the tables of earlier runs, together

Objective ½|W|² + C·Σ max_y [1(y ≠ yᵢ) + s_y - s_yᵢ], no intercept. Ours stops at its own PROVEN gap; LIBLINEAR runs at
the loosest of its tolerances whose objective, evaluated afresh, is as close to the best one known. LIBLINEAR caps
itself at 100,000 passes, so it runs in a process of its own, which is ended after --limit seconds.
A run on some sets replaces their cells in the JSON file and keeps the others; --report FILE... --out FILE writes one
file of several, with the last one's cell where more than one has it. "malware-shape" is a set of the size of Franc and
Sonnenburg's section 5.2, over eleven decades of C.
"""

import argparse
import ctypes
import functools
import json
import multiprocessing
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets, measure, multiclass_data
from benchmarks.tables import multiclass as tables
from cutplane import LinearSVC

QUICK = ("--sets", "news20", "--Cs", "0.1", "--repeats", "1", "--limit", "10")
CS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
# Eleven decades, as for malware in Franc and Sonnenburg's section 5.2.
WIDE_CS = tuple(10.0**k for k in range(-6, 5))
TOLERANCES = (1e-2, 1e-3)
LIBLINEAR_EPS = (30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3)
# Cutting planes alone: so many times at most, as long as all of them together have not taken so many seconds.
MOST_PLANES, SHORT_PLANES = 5, 4.0
# A BLAS that has evaluated what was trained before keeps a core busy for so many seconds.
SETTLED = 0.2
# Ours beside each other: how planes are found.
WAYS = {
    "auto": {"method": "auto"},
    "OCAM": {"method": "oca"},
    "OCAM exact": {"method": "oca", "line_search": "exact"},
    "OCAM three-point": {"method": "oca", "line_search": "three-point"},
    "CPA": {"method": "cpa"},
}


class Problem:
    """One data set, with the objective all are judged by, in float64."""

    def __init__(self, name: str, data: str | None, cache: str) -> None:
        self.name = name
        self.X, self.y, self.X_test, self.y_test = multiclass_data.load(name, data, cache)
        self.classes = int(self.y.max()) + 1
        if self.X.nnz > 0.5 * np.prod(self.X.shape):  # dense in truth
            self.X, self.X_test = self.X.toarray(), self.X_test.toarray()
        self._wide = self.X.astype(np.float64)
        self.apart = Apart(self)

    @functools.cached_property
    def converted(self):
        """As LIBLINEAR wants it: made once, inherited by the processes that train."""
        from liblinear import liblinear as lib

        return lib.problem(self.y.astype(float), sp.csr_matrix(self.X))

    def objective(self, C: float, W: np.ndarray) -> float:
        """W has a row for each class."""
        scores = self._wide @ W.T
        rows = np.arange(len(self.y))
        own = scores[rows, self.y].copy()
        scores += 1.0
        scores[rows, self.y] -= 1.0
        return float(0.5 * np.vdot(W, W) + C * (scores.max(axis=1) - own).sum())

    def error(self, W: np.ndarray) -> float:
        """Test error in per cent."""
        return 100.0 * float(np.mean((self.X_test @ W.T).argmax(axis=1) != self.y_test))


def ours(problem: Problem, C: float, tol: float, threads: int, limit: float, **way: str) -> dict:
    model = LinearSVC(
        C, multi_class="crammer_singer", fit_intercept=False, tol=tol, n_jobs=threads, time_limit=limit, **way
    )
    sleep(SETTLED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that ended early shows in stop_reason and gap
        model.fit(problem.X, problem.y)
    phases: dict[str, float] = {}
    for step in model.history_:
        for name, seconds in step.phases.items():
            phases[name] = phases.get(name, 0.0) + seconds
    return {
        "seconds": model.history_[-1].seconds,
        "iterations": model.n_iter_,
        "objective": problem.objective(C, model.coef_) if problem.classes > 2 else model.objective_,
        "lower": model.lower_bound_,
        "gap": model.gap_,
        "stop_reason": model.stop_reason_,
        "error": problem.error(model.coef_),
        "phases": phases,
    }


class Apart:
    """A process of its own in which peers train on a problem; one that takes longer than the limit is ended.

    It is started once for many runs: after a fork, memory is copied where it is touched, and fits of ours that come
    after one would take up to twice as long.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._process: multiprocessing.process.BaseProcess | None = None

    def run(self, train: Callable[..., tuple[float, np.ndarray]], limit: float, *of: float) -> tuple | None:
        """What `train(problem, *of)` returns: seconds and weights; None where it took longer than the limit."""
        if self._process is None:
            self._start()
        sleep(SETTLED)
        self._near.send((train, of))
        found = self._near.recv() if self._near.poll(limit) else None
        if found is None and not self._process.is_alive():
            raise SystemExit("A peer's process ended without a result.")
        if found is None:
            self.end()
        return found

    def _start(self) -> None:
        self._near, far = multiprocessing.Pipe()

        def child() -> None:
            far.send("ready")
            while True:
                train, of = far.recv()
                far.send(train(self._problem, *of))

        self._process = multiprocessing.get_context("fork").Process(target=child, daemon=True)
        self._process.start()
        self._near.recv()  # it has started

    def end(self) -> None:
        """End the process; the next run starts another."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self._process = None


def train_liblinear(problem: Problem, C: float, eps: float) -> tuple[float, np.ndarray]:
    """Seconds and weights of LIBLINEAR -s 4."""
    from liblinear import liblinear as lib

    converted = problem.converted
    param = lib.parameter(f"-s 4 -B -1 -c {C:.17g} -e {eps:.17g} -q")
    lib.liblinear.set_print_string_function(lib.ctypes_print_null)
    ctypes.CDLL(None).srand(1)  # it shuffles by rand(): every run as in a fresh process of its command line
    start = perf_counter()
    trained = lib.liblinear.train(ctypes.byref(converted), ctypes.byref(param))
    seconds = perf_counter() - start
    model = lib.toPyModel(trained)
    rows = 1 if model.nr_class == 2 else model.nr_class
    flat = np.ctypeslib.as_array(model.w, (model.nr_feature * rows,)).copy()
    W = np.zeros((problem.classes, problem.X.shape[1]))
    W[np.array(model.get_labels())] = flat.reshape(model.nr_feature, rows).T
    return seconds, W


def liblinear(problem: Problem, C: float, eps: float, limit: float) -> dict | None:
    """One training; None where it took longer than the limit."""
    found = problem.apart.run(train_liblinear, limit, C, eps)
    if found is None:
        return None
    seconds, W = found
    return {"seconds": seconds, "objective": problem.objective(C, W), "eps": eps, "error": problem.error(W)}


def liblinear_to(problem: Problem, C: float, optimum: float, limit: float) -> dict[str, dict | None]:
    """The first run, loosest tolerance first, that is within each of TOLERANCES of the optimum; None: none in time."""
    arrived: dict[str, dict | None] = {f"{tol:g}": None for tol in TOLERANCES}
    for eps in LIBLINEAR_EPS:
        run = liblinear(problem, C, eps, limit)
        if run is None:
            break
        for tol in TOLERANCES:
            if arrived[f"{tol:g}"] is None and run["objective"] <= optimum * (1 + tol):
                arrived[f"{tol:g}"] = run
        if all(arrived.values()):
            break
    return arrived


def train_ovr(problem: Problem, C: float) -> tuple[float, np.ndarray]:
    """Seconds and weights of scikit-learn's one class against the rest."""
    from sklearn.svm import LinearSVC as Peer

    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Peer(C=C, loss="hinge", fit_intercept=False, tol=1e-3, random_state=0).fit(problem.X, problem.y)
    return perf_counter() - start, model.coef_


def sklearn_ovr(problem: Problem, C: float, limit: float) -> dict | None:
    """scikit-learn's LinearSVC, one class against the rest, hinge: another objective, shown for its error."""
    found = problem.apart.run(train_ovr, limit, C)
    return None if found is None else {"seconds": found[0], "error": problem.error(found[1])}


def _timed(seconds: list[float]) -> dict:
    """The median, and all it is the median of."""
    return {"seconds": measure.median(seconds), "runs": len(seconds), "all_seconds": seconds}


def planes(problem: Problem, C: float, options: argparse.Namespace) -> dict[str, list[dict]]:
    """Cutting planes alone, alternating; short runs several times, for the first in a process is slower."""
    tol = TOLERANCES[0]
    fits: dict[str, list[dict]] = {f"{name} {tol:g}": [] for name in WAYS if name != "auto"}
    start = perf_counter()
    for _ in range(MOST_PLANES):
        for name, runs in fits.items():
            way = WAYS[name.removesuffix(f" {tol:g}")]
            runs.append(ours(problem, C, tol, options.threads, options.limit, **way))
        if perf_counter() - start > SHORT_PLANES:
            break
    return fits


def _median_run(runs: list[dict]) -> dict:
    """The run closest to the median, with the seconds of all."""
    timed = _timed([run["seconds"] for run in runs])
    return {**min(runs, key=lambda run: abs(run["seconds"] - timed["seconds"])), **timed}


def with_planes(cell: dict, problem: Problem, options: argparse.Namespace) -> dict:
    """A cell measured before, its cutting planes measured again."""
    fits = {name: _median_run(runs) for name, runs in planes(problem, cell["C"], options).items()}
    return {**cell, "ours": {**cell["ours"], **fits}, "planes_limit": options.limit}


def measure_cell(problem: Problem, C: float, options: argparse.Namespace) -> dict:
    """Everything measured on one data set at one C."""
    fits: dict[str, list[dict]] = {}

    def run(name: str, tol: float, way: dict[str, str]) -> float:
        fit = ours(problem, C, tol, options.threads, options.limit, **way)
        fits.setdefault(name, []).append(fit)
        return fit["seconds"]

    for tol in TOLERANCES:
        run(f"auto {tol:g}", tol, WAYS["auto"])
    fits.update(planes(problem, C, options) if options.ways else {})
    optimum = min(fit["objective"] for runs in fits.values() for fit in runs)
    arrived = liblinear_to(problem, C, optimum, options.limit) if options.peers else {}
    again = {f"auto {tol:g}": (lambda tol=tol: run(f"auto {tol:g}", tol, WAYS["auto"])) for tol in TOLERANCES}
    for tol, found in arrived.items():
        if found is not None:
            again[f"LIBLINEAR {tol}"] = lambda eps=found["eps"]: liblinear(problem, C, eps, 10 * options.limit)[
                "seconds"
            ]
    seconds = measure.alternate(again, options.repeats, options.budget)
    return {
        "data": problem.name,
        "C": C,
        "best_objective": optimum,
        "best_lower": max(fit["lower"] for runs in fits.values() for fit in runs),
        "limit": options.limit,
        "ours": {name: _median_run(runs) for name, runs in fits.items()},
        "liblinear": {
            tol: found and {**found, **_timed([found["seconds"], *seconds[f"LIBLINEAR {tol}"]])}
            for tol, found in arrived.items()
        },
        "ovr": sklearn_ovr(problem, C, options.limit) if options.peers and options.ovr else None,
    }


def text(result: dict) -> str:
    """The tables."""
    return "\n\n".join(f"## {title}\n\n{table}" for title, table in tables.tables(result).items())


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    parser.add_argument("--cache", default=datasets.DEFAULT_CACHE, help="folder of the parsed data (%(default)s)")
    parser.add_argument("--sets", default=",".join(multiclass_data.PUBLISHED), help="%(default)s")
    parser.add_argument("--Cs", help=f"C per example ({', '.join(f'{C:g}' for C in CS)})")
    parser.add_argument("--ways", action="store_true", help="OCAM with both line searches and CPA, too")
    parser.add_argument("--only-ways", action="store_true", help="these alone, in cells measured before")
    parser.add_argument("--base", type=Path, metavar="FILE", help="JSON file of the cells measured before (--out's)")
    parser.add_argument("--ovr", action="store_true", help="scikit-learn's one class against the rest, too")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="ours alone")
    parser.add_argument("--repeats", type=int, default=2, help="further alternating timings (%(default)s)")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of these per cell (%(default)s)")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds a run may take (%(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="ours; LIBLINEAR -s 4 has one (%(default)s)")
    parser.add_argument("--out", type=Path, default=measure.RESULTS / "multiclass.json", help="JSON file (%(default)s)")
    parser.add_argument("--report", type=Path, nargs="+", metavar="FILE", help="print the tables of these JSON files")
    return parser.parse_args()


def merged(results: list[dict]) -> dict:
    """One result of several; of a cell measured twice, the last."""
    cells = {(cell["data"], cell["C"]): cell for result in results for cell in result["cells"]}
    return {**results[-1], "cells": [cells[key] for key in sorted(cells)]}


def main() -> None:
    options = parse()
    if options.report:
        result = merged([json.loads(path.read_text()) for path in options.report])
        if len(options.report) > 1:
            measure.write_json(options.out, result)
        print(text(result))
        return
    machine = measure.machine(("cutplane", "numpy", "scipy", "scikit-learn", "liblinear-official"))
    result = json.loads(options.out.read_text()) if options.out.exists() else {"machine": machine, "cells": []}
    known = result["cells"]
    if options.base:
        base = json.loads(options.base.read_text())
        known, result = base["cells"], {**base, "cells": result["cells"]}
    result |= {"planes_machine" if options.only_ways else "machine": machine, "threads": options.threads}
    if options.peers and find_spec("liblinear") is None:
        print("LIBLINEAR is missing: pip install liblinear-official. Ours alone.")
        options.peers = False
    for name in options.sets.split(","):
        problem = Problem(name, options.data, options.cache)
        usual = WIDE_CS if name == "malware-shape" else CS
        for C in map(float, options.Cs.split(",")) if options.Cs else usual:
            others = [each for each in result["cells"] if (each["data"], each["C"]) != (name, C)]
            before = [each for each in known if (each["data"], each["C"]) == (name, C)]
            if options.only_ways and not before:
                raise SystemExit(
                    f"{options.base or options.out} has no cell of {name} at C={C:g}: run it without --only-ways first."
                )
            cell = with_planes(before[0], problem, options) if before and options.only_ways else None
            cell = cell or measure_cell(problem, C, options)
            result["cells"] = sorted([*others, cell], key=lambda each: (each["data"], each["C"]))
            measure.write_json(options.out, result)
            mine = ", ".join(f"{way} {run['seconds']:.3g}" for way, run in cell["ours"].items())
            peers = ", ".join(
                f"{tol} {run['seconds']:.3g}" if run else f"{tol} > {options.limit:g}"
                for tol, run in cell["liblinear"].items()
            )
            print(f"{name} C={C:g}: {mine}; LIBLINEAR {peers}", flush=True)
        problem.apart.end()
    print(text(result))


if __name__ == "__main__":
    main()
