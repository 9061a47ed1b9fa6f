"""A grid of 13 values of C: our path against our single fits and against LIBLINEAR over the same grid.

    python benchmarks/path.py --data DIR [--sets covtype,mnist,a9a,news20] [--losses hinge] [--out FILE]

Objective ½|w|² + C·Σ loss, no intercept, C from 1e-4 to 1e2. Ours is proven within 1e-3 of the optimum at every C.
LIBLINEAR (hinge: ``-s 3``, squared hinge: ``-s 2``) is shown in several ways:

- at each C with the loosest tolerance that arrives within 1e-3 of our objective, which nobody knows beforehand; where
  none does (its cap of passes, or the limit of seconds), its nearest attempt counts and "arrived" says so;
- with one tolerance for the whole grid, the loosest that arrives wherever one of them does (where all of the above
  takes at most --short seconds);
- at each C with its default tolerance;
- for the squared hinge also warm, each C from the last one's weights, as its own ``-C`` does, at its default tolerance.

"worst" is how far it ends above our objective at the worst C. Seconds are of whole calls: `path`, `fit`, and the C
function ``train``; medians of alternating repeats, except that a run of LIBLINEAR over --once seconds is not repeated.
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
SOLVERS = {"hinge": (3, 0.1), "squared_hinge": (2, 0.01)}  # LIBLINEAR's number and its default tolerance


def objective(problem: peers.Problem, loss: str, C: float, w: np.ndarray) -> float:
    each = np.maximum(0.0, 1.0 - problem.y * (problem._wide @ w))
    return float(0.5 * w @ w + C * (each if loss == "hinge" else each**2).sum())


class Liblinear:
    """LIBLINEAR on one loss, as a peer whose settings are tolerances; only its C function ``train`` is timed."""

    name = "LIBLINEAR"
    settings = peers.Liblinear.settings

    def __init__(self, problem: peers.Problem, loss: str) -> None:
        self._peer = peers.Liblinear()
        self.missing = self._peer.missing
        if self.missing is None:
            self._peer.prepare(problem)
        self._problem, self._loss = problem, loss
        self._solver, self.default = SOLVERS[loss]

    def train(self, C: float, setting: float) -> peers.Run:
        return self._train(C, setting, None)[0]

    def _train(self, C: float, setting: float, start: np.ndarray | None) -> tuple[peers.Run, np.ndarray]:
        lib = self._peer._module
        param = lib.parameter(f"-s {self._solver} -B -1 -c {C:.17g} -e {setting:.17g} -q")
        if start is not None:
            param.init_sol = start.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        printed: list[str] = []
        sink = lib.PRINT_STRING_FUN(lambda text: printed.append(text.decode()))
        lib.liblinear.set_print_string_function(sink)
        ctypes.CDLL(None).srand(1)
        begin = perf_counter()
        trained = lib.liblinear.train(ctypes.byref(self._peer._converted), ctypes.byref(param))
        seconds = perf_counter() - begin
        lib.liblinear.set_print_string_function(lib.ctypes_print_null)
        model = lib.toPyModel(trained)
        raw = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
        w = -raw if model.label[0] < 0 else raw
        capped = "max number of iterations" in "".join(printed)
        return peers.Run(setting, seconds, objective(self._problem, self._loss, C, w), capped=capped), raw

    def chosen(self, optima: list[float], limit: float) -> list[peers.Run]:
        """At each C the loosest setting that arrives, or the one that comes nearest."""
        swept = [peers.sweep(self, C, optimum, limit=limit) for C, optimum in zip(CS, optima, strict=True)]
        return [each.arrived or each.best() for each in swept]

    def grid(self, settings: list[float], *, warm: bool = False) -> list[peers.Run]:
        """One run for each C."""
        runs, start = [], None
        for C, setting in zip(CS, settings, strict=True):
            run, start = self._train(C, setting, start if warm else None)
            runs.append(run)
        return runs


class Rival:
    """One way of using LIBLINEAR over the grid: the runs at each C, repeated where they are short."""

    def __init__(self, liblinear: Liblinear, settings: list[float], *, warm: bool = False) -> None:
        self._liblinear, self._settings, self._warm = liblinear, settings, warm
        self.runs: list[list[peers.Run]] = []

    def repeat(self, once: float) -> None:
        if not self.runs or max(run.seconds for run in self.runs[-1]) <= once:
            self.runs.append(self._liblinear.grid(self._settings, warm=self._warm))

    def summary(self, optima: list[float]) -> dict:
        above = [run.objective / optimum - 1.0 for run, optimum in zip(self.runs[-1], optima, strict=True)]
        return {
            "seconds": [measure.median([runs[k].seconds for runs in self.runs]) for k in range(len(CS))],
            "repeats": len(self.runs),
            "settings": self._settings,
            "above": above,
            "arrived": [distance <= peers.ARRIVED for distance in above],
        }


class Ours:
    """Our path and our single fits."""

    def __init__(self, problem: peers.Problem, loss: str, threads: int) -> None:
        self._problem, self._settings = problem, {"loss": loss, "fit_intercept": False, "n_jobs": threads}
        self.paths: list[float] = []
        self.singles: dict[float, list[float]] = {float(C): [] for C in CS}

    def repeat(self) -> None:
        X, y = self._problem.X, self._problem.y
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a model that is not proven would warn
            begin = perf_counter()
            self.models = LinearSVC(**self._settings).path(X, y, CS)
            self.paths.append(perf_counter() - begin)
            for C, seconds in self.singles.items():
                begin = perf_counter()
                LinearSVC(C, **self._settings).fit(X, y)
                seconds.append(perf_counter() - begin)

    def summary(self) -> dict:
        return {
            "path": self.paths,
            "singles": self.singles,
            "gaps": [each.gap_ for each in self.models],
            "objectives": [each.objective_ for each in self.models],
            "lower": [each.lower_bound_ for each in self.models],
            "iterations": [each.n_iter_ for each in self.models],
            "seconds": [each.history_[-1].seconds for each in self.models],
        }


def measure_cell(problem: peers.Problem, loss: str, options: argparse.Namespace) -> dict:
    ours = Ours(problem, loss, options.threads)
    ours.repeat()
    # Our objectives are proven within 1e-3 of the optimum, so that a distance from them flatters LIBLINEAR if anyone.
    optima = ours.summary()["objectives"]
    liblinear = Liblinear(problem, loss)
    rivals: dict[str, Rival] = {}
    if liblinear.missing is None:
        chosen = liblinear.chosen(optima, options.limit)
        rivals["LIBLINEAR"] = Rival(liblinear, [run.setting for run in chosen])
        if sum(run.seconds for run in chosen) <= options.short:
            near = [run.objective <= (1.0 + peers.ARRIVED) * best for run, best in zip(chosen, optima, strict=True)]
            least = min((run.setting for run, arrived in zip(chosen, near, strict=True) if arrived), default=None)
            if least is not None:
                rivals["LIBLINEAR, one tolerance"] = Rival(liblinear, [least] * len(CS))
        rivals["LIBLINEAR, default"] = Rival(liblinear, [liblinear.default] * len(CS))
        if loss == "squared_hinge":
            rivals["LIBLINEAR, warm"] = Rival(liblinear, [liblinear.default] * len(CS), warm=True)
    for repeat in range(options.repeats):
        if repeat:
            ours.repeat()
        for rival in rivals.values():
            rival.repeat(options.once)
    found = {name: rival.summary(optima) for name, rival in rivals.items()}
    return {"data": problem.name, "loss": loss, "ours": ours.summary(), "missing": liblinear.missing, "peers": found}


WAYS = ("LIBLINEAR", "LIBLINEAR, one tolerance", "LIBLINEAR, default", "LIBLINEAR, warm")


def row(cell: dict) -> list:
    path = measure.median(cell["ours"]["path"])
    singles = [measure.median(seconds) for seconds in cell["ours"]["singles"].values()]
    values = [cell["data"], cell["loss"], path, max(singles), path / max(singles), sum(singles)]
    for name in WAYS:
        rival = cell["peers"].get(name)
        if rival is None:
            values += [None] * (4 if name == "LIBLINEAR" else 3)
            continue
        total = sum(rival["seconds"])
        values += [total, total / path, f"{max(rival['above']):.1%}"]
        if name == "LIBLINEAR":
            values.append(f"{sum(rival['arrived'])} of {len(CS)}")
    return values


def text(result: dict) -> str:
    header = ["data", "loss", "path s", "dearest fit s", "path / dearest", "all fits s"]
    header += ["LIBLINEAR s", "/ path", "worst", "arrived", "one tolerance s", "/ path", "worst"]
    header += ["its default s", "/ path", "worst"]
    header += ["its warm start s", "/ path", "worst"]
    absent = dict.fromkeys(cell["missing"] for cell in result["cells"] if cell.get("missing"))
    return "\n".join(
        [measure.table(header, [row(cell) for cell in result["cells"]]), *(f"LIBLINEAR is {why}" for why in absent)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    parser.add_argument("--cache", default=datasets.DEFAULT_CACHE, help="folder of the parsed data (%(default)s)")
    parser.add_argument("--sets", type=lambda text: tuple(text.split(",")), default=SETS, help=",".join(SETS))
    parser.add_argument("--losses", type=lambda text: tuple(text.split(",")), default=tuple(SOLVERS))
    parser.add_argument("--repeats", type=int, default=3, help="paths and single fits, alternating (%(default)s)")
    parser.add_argument("--limit", type=float, default=10.0, help="no tighter setting after so long (%(default)s s)")
    parser.add_argument("--short", type=float, default=10.0, help="for one tolerance at most (%(default)s s)")
    parser.add_argument("--once", type=float, default=3.0, help="longer runs are not repeated (%(default)s s)")
    parser.add_argument("--threads", type=int, default=2, help="ours (%(default)s)")
    parser.add_argument("--out", type=Path, default=measure.RESULTS / "path.json", help="JSON file (%(default)s)")
    parser.add_argument("--add", action="store_true", help="keep the other cells of an earlier run in the JSON file")
    options = parser.parse_args()
    cells: dict = {}
    if options.add and options.out.exists():
        cells = {(cell["data"], cell["loss"]): cell for cell in json.loads(options.out.read_text())["cells"]}
    packages = ("cutplane", "numpy", "scipy", "scikit-learn", "liblinear-official")
    result = {"machine": measure.machine(packages), "threads": options.threads, "Cs": CS.tolist(), "cells": []}
    for name in options.sets:
        problem = peers.Problem(name, *datasets.load(name, options.data, options.cache))
        for loss in options.losses:
            cells[name, loss] = measure_cell(problem, loss, options)
            result["cells"] = list(cells.values())
            measure.write_json(options.out, result)
            print(text({"cells": [cells[name, loss]]}), flush=True)
    print(text(result))


if __name__ == "__main__":
    main()
