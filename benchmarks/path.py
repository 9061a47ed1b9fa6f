"""A grid of 13 values of C: our path against our single fits and against LIBLINEAR over the same grid.

    python benchmarks/path.py --data DIR [--sets covtype,mnist,a9a,news20] [--out FILE]

Objective ½|w|² + C·Σ loss, no intercept, C from 1e-4 to 1e2. Two losses: the hinge, where LIBLINEAR (``-s 3``) starts
anew at every C, and the squared hinge, where it also warm-starts each C from the last one's weights, as its own ``-C``
does (``-s 2``). Ours is proven within 1e-3 of the optimum at every C. LIBLINEAR runs at ten times its default tolerance
and, where that does not arrive within 1e-3 of our objective, at the default; only the last run counts. "worst" is how
far it ends above our objective at the worst C. Seconds are of whole calls: `path`, `fit`, and the C function ``train``.
"""

import argparse
import ctypes
import json
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets, measure, peers
from cutplane import LinearSVC

REPRODUCES = "Franc and Sonnenburg 2009, model selection (Table 4, Figure 7 right)"
QUICK = ("--sets", "a9a", "--repeats", "1")
SETS = ("covtype", "mnist", "a9a", "news20")
CS = np.logspace(-4, 2, 13)
RETRY_LIMIT = 10.0  # seconds; a run of LIBLINEAR that took longer is not repeated at a tighter tolerance
SOLVERS = {"hinge": (3, 0.1), "squared_hinge": (2, 0.01)}  # LIBLINEAR's number and its default tolerance


def objective(problem: peers.Problem, loss: str, C: float, w: np.ndarray) -> float:
    each = np.maximum(0.0, 1.0 - problem.y * (problem._wide @ w))
    return float(0.5 * w @ w + C * (each if loss == "hinge" else each**2).sum())


class Liblinear:
    """LIBLINEAR over the grid; only its C function ``train`` is timed."""

    def __init__(self, problem: peers.Problem, loss: str) -> None:
        self._peer = peers.Liblinear()
        self.missing = self._peer.missing
        if self.missing is None:
            self._peer.prepare(problem)
        self._problem, self._loss = problem, loss

    def train(self, C: float, tolerance: float, start: np.ndarray | None) -> tuple[float, np.ndarray, np.ndarray]:
        lib = self._peer._module
        param = lib.parameter(f"-s {SOLVERS[self._loss][0]} -B -1 -c {C:.17g} -e {tolerance:.17g} -q")
        if start is not None:
            param.init_sol = start.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        lib.liblinear.set_print_string_function(lib.ctypes_print_null)
        ctypes.CDLL(None).srand(1)
        begin = perf_counter()
        trained = lib.liblinear.train(ctypes.byref(self._peer._converted), ctypes.byref(param))
        seconds = perf_counter() - begin
        model = lib.toPyModel(trained)
        raw = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
        return seconds, raw, -raw if model.label[0] < 0 else raw

    def grid(self, optima: list[float], *, warm: bool = False) -> dict:
        """Seconds and distances above the optimum, one for each C."""
        seconds, above, start = [], [], None
        default = SOLVERS[self._loss][1]
        for C, optimum in zip(CS, optima, strict=True):
            for tolerance in (10.0 * default, default):
                spent, raw, w = self.train(C, tolerance, start if warm else None)
                distance = objective(self._problem, self._loss, C, w) / optimum - 1.0
                if distance <= peers.ARRIVED or spent > RETRY_LIMIT:
                    break
            start = raw
            seconds.append(spent)
            above.append(distance)
        return {"seconds": seconds, "above": above}


def ours(problem: peers.Problem, loss: str, threads: int, repeats: int) -> dict:
    model = LinearSVC(loss=loss, fit_intercept=False, n_jobs=threads)
    paths, singles = [], {float(C): [] for C in CS}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a model that is not proven would warn
        for _ in range(repeats):
            begin = perf_counter()
            models = model.path(problem.X, problem.y, CS)
            paths.append(perf_counter() - begin)
            for C, seconds in singles.items():
                begin = perf_counter()
                LinearSVC(C, loss=loss, fit_intercept=False, n_jobs=threads).fit(problem.X, problem.y)
                seconds.append(perf_counter() - begin)
    return {
        "path": paths,
        "singles": singles,
        "gaps": [each.gap_ for each in models],
        "objectives": [each.objective_ for each in models],
        "lower": [each.lower_bound_ for each in models],
        "iterations": [each.n_iter_ for each in models],
    }


def measure_cell(problem: peers.Problem, loss: str, options: argparse.Namespace) -> dict:
    found = ours(problem, loss, options.threads, options.repeats)
    # Our objectives are proven within 1e-3 of the optimum, so that a distance from them flatters LIBLINEAR if anyone.
    optima = found["objectives"]
    liblinear = Liblinear(problem, loss)
    rivals = {}
    if liblinear.missing is None:
        rivals["LIBLINEAR"] = liblinear.grid(optima)
        if loss == "squared_hinge":
            rivals["LIBLINEAR, warm"] = liblinear.grid(optima, warm=True)
    return {"data": problem.name, "loss": loss, "ours": found, "peers": rivals}


def row(cell: dict) -> list:
    path = measure.median(cell["ours"]["path"])
    singles = [measure.median(seconds) for seconds in cell["ours"]["singles"].values()]
    values = [cell["data"], cell["loss"], path, max(singles), path / max(singles), sum(singles)]
    for name in ("LIBLINEAR", "LIBLINEAR, warm"):
        rival = cell["peers"].get(name)
        if rival is None:
            values += [None, None, None]
        else:
            total = sum(rival["seconds"])
            values += [total, total / path, f"{max(rival['above']):.1%}"]
    return values


def text(result: dict) -> str:
    header = ["data", "loss", "path s", "dearest fit s", "path / dearest", "all fits s"]
    header += ["LIBLINEAR s", "/ path", "worst", "LIBLINEAR warm s", "/ path", "worst"]
    return measure.table(header, [row(cell) for cell in result["cells"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    parser.add_argument("--cache", default=datasets.DEFAULT_CACHE, help="folder of the parsed data (%(default)s)")
    parser.add_argument("--sets", type=lambda text: tuple(text.split(",")), default=SETS, help=",".join(SETS))
    parser.add_argument("--losses", type=lambda text: tuple(text.split(",")), default=tuple(SOLVERS))
    parser.add_argument("--repeats", type=int, default=3, help="paths and single fits, alternating (%(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="ours (%(default)s)")
    parser.add_argument("--out", type=Path, default=measure.RESULTS / "path.json", help="JSON file (%(default)s)")
    parser.add_argument("--add", action="store_true", help="keep the other cells of an earlier run in the JSON file")
    options = parser.parse_args()
    cells: dict = {}
    if options.add and options.out.exists():
        cells = {(cell["data"], cell["loss"]): cell for cell in json.loads(options.out.read_text())["cells"]}
    result = {"machine": measure.machine(), "threads": options.threads, "Cs": CS.tolist(), "cells": []}
    for name in options.sets:
        problem = peers.Problem(name, *datasets.load(name, options.data, options.cache))
        for loss in options.losses:
            cells[name, loss] = measure_cell(problem, loss, options)
            result["cells"] = list(cells.values())
            measure.write_json(options.out, result)
            print(measure.table(["", *map(str, range(12))], [["", *row(cells[name, loss])]]), flush=True)
    print(text(result))


if __name__ == "__main__":
    main()
