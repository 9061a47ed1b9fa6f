"""The OFS paper's Tables 3 to 5 and Figures 2 and 3, with the true violation and duality gap beside them.

    python benchmarks/ofs.py --data DIR [--rows all] [--limit 20] [--kernels rbf,poly,sigmoid] [--sets ...] [--jobs 2]
    python benchmarks/ofs.py --data DIR --figures docs/results
    python benchmarks/ofs.py --gather ofs-covtype.json ofs-skin.json ... [--out FILE]

Every selector runs one pair at a time on the same examples and kernel, under each of three rules: the paper's (the
selected pair violates less than eps), the sound one (the maximal violation is at most eps), both with eps = 1e-3, and a
relative duality gap of 1e-3. All share one cache of kernel rows, which a run by working sets that is not timed fills
first: seconds are those of choosing pairs and taking steps, and of rows only where the cache is too small. A run that
the limit of seconds ends is marked with a +. Sets, sizes and kernels measured before stay in the output file, so they
may be measured side by side in several files and then gathered.
"""

import argparse
import json
import operator
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import harness, kernel_datasets, measure
from benchmarks.tables import ofs as pages
from benchmarks.tables.ofs import RULES, SELECTIONS
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve

REPRODUCES = "Peng et al., Tables 3, 4 and 5, Figures 2 and 3"
QUICK = ("--sets", "mushrooms,svmguide3", "--rows", "1000")
DENSE = 0.25  # share of values that are not zero from which rows are computed from dense arrays
# Table 1 of the paper, where it takes a part of a set.
MOST_ROWS = {"covtype": 100_000, "mnist": 8_000}
# Table 2 of the paper: (C, gamma, coef0). w8a for w7a; cod-rna is not to be had; MNIST has no sigmoid; a9a is ours.
PARAMETERS = {
    "mushrooms": {"rbf": (0.5, 0.25), "poly": (0.03125, 1, 0.25), "sigmoid": (16, 0.03125, 0.03125)},
    "ijcnn1": {"rbf": (64, 1.0), "poly": (1, 1, 4), "sigmoid": (1, 0.125, 0.03125)},
    "covtype": {"rbf": (64, 0.5), "poly": (1, 1, 0.25), "sigmoid": (16, 0.0625, 0.0)},
    "skin": {"rbf": (8, 256), "poly": (1, 4, 0.5), "sigmoid": (1, 0.125, 0.25)},
    "kddcup99": {"rbf": (64, 0.5), "poly": (1, 0.5, 4), "sigmoid": (16, 0.0625, 0.03125)},
    "svmguide3": {"rbf": (64, 0.125), "poly": (4, 1, 4), "sigmoid": (1, 0.0625, 0.03125)},
    "mnist": {"rbf": (2, 0.0625), "poly": (0.03125, 0.125, 4)},
    "w8a": {"rbf": (8, 0.0625), "poly": (8, 0.25, 0), "sigmoid": (8, 0.03125, 0.0)},
    "a9a": {"rbf": (1, 0.05), "poly": (0.03125, 0.25, 0.25), "sigmoid": (8, 0.03125, 0.0)},
}


@dataclass(frozen=True)
class Task:
    matrix: KernelMatrix
    problem: DualProblem

    @classmethod
    def of(cls, X: Any, y: np.ndarray, kernel: Kernel, C: float, options: argparse.Namespace) -> "Task":
        matrix = KernelMatrix(X, kernel, cache_bytes=int(options.cache * 2**30), n_threads=options.jobs)
        task = cls(matrix, DualProblem.classification(y, C))
        solve(task.problem, matrix, time_limit=options.fill or options.limit, n_threads=options.jobs)
        return task

    def measure(self, selection: str, rule: str, limit: float) -> dict:
        result = solve(
            self.problem,
            self.matrix,
            selection=selection,
            stopping=rule,
            working_set=2,
            time_limit=limit,
            n_threads=1,
        )
        return {
            "selection": selection, "rule": rule, "iterations": result.n_iter, "seconds": result.seconds,
            "violation": result.violation, "gap": result.gap, "dual": result.dual, "stop": result.stop_reason,
        }  # fmt: skip


def sample(name: str, options: argparse.Namespace) -> tuple[Any, np.ndarray]:
    X, y = kernel_datasets.load(name, options.data)
    if name == "mnist":
        y = np.where(y == 8, 1.0, -1.0)
    most = MOST_ROWS.get(name, X.shape[0]) if options.rows == "all" else int(options.rows)
    rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:most])
    X = X[rows]
    return X.toarray() if X.nnz > DENSE * X.shape[0] * X.shape[1] else X, y[rows]


def kernel_of(name: str, parameters: tuple) -> Kernel:
    gamma, coef0 = parameters[1], parameters[2] if len(parameters) > 2 else 0.0
    return Kernel(name, gamma=float(gamma), coef0=float(coef0), degree=3)


def cells(task: Task, options: argparse.Namespace) -> list[dict]:
    """Every selector under every rule, `jobs` at a time, each in one thread."""
    # The most violating pair violates less than eps exactly when every pair does: one run for both rules.
    wanted = [(rule, s) for rule in RULES for s in options.selections.split(",") if (rule, s) != ("pair", "mvp")]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda cell: task.measure(cell[1], cell[0], options.limit), wanted))
    return found + [
        {**cell, "rule": "pair", "stop": "pair" if cell["stop"] == "kkt" else cell["stop"]}
        for cell in found
        if (cell["rule"], cell["selection"]) == ("kkt", "mvp")
    ]


def tables(options: argparse.Namespace) -> None:
    for kernel in options.kernels.split(","):
        for name in options.sets.split(","):
            parameters = PARAMETERS[name].get(kernel)
            if parameters is None:
                continue
            X, y = sample(name, options)
            task = Task.of(X, y, kernel_of(kernel, parameters), float(parameters[0]), options)
            said = {"kernel": kernel, "set": name, "rows": len(y), "commit": measure.machine()["commit"]}
            said |= {name: getattr(options, name) for name in ("limit", "jobs", "cache")}
            add(options.out, [{**said, **cell} for cell in cells(task, options)])
            print(f"{kernel} {name} done", file=sys.stderr, flush=True)


def add(path: str, entries: list[dict], machine: dict | None = None) -> None:
    """Into the file, in place of what it has of the same sets, sizes and kernels."""
    keys = operator.itemgetter("kernel", "set", "rows")
    new = set(map(keys, entries))
    kept = [entry for entry in contents(path).get("tables", []) if keys(entry) not in new]
    order = list(PARAMETERS)
    everything = sorted([*kept, *entries], key=lambda entry: (order.index(entry["set"]), entry["rows"]))
    write(path, "tables", everything, machine)


def contents(path: str) -> dict:
    file = Path(path)
    return json.loads(file.read_text()) if file.exists() else {}


def write(path: str, part: str, content: object, machine: dict | None = None) -> None:
    measure.write_json(path, contents(path) | {"machine": machine or measure.machine(), part: content})


def gather(options: argparse.Namespace) -> None:
    """The tables of several files, each with the commit it was measured at, into the output."""
    for path in options.gather:
        found = contents(path)
        commit = {"commit": found["machine"]["commit"]}
        add(options.out, [commit | entry for entry in found["tables"]], found["machine"])


def figures(options: argparse.Namespace) -> None:
    """Iterations over C (gamma = 256) and over gamma (C = 8) on skin: Figures 2 and 3."""
    X, y = sample("skin", options)
    sweeps = {
        "C": [(2.0**k, 256.0) for k in range(-5, 11, 2)],
        "gamma": [(8.0, 2.0**k) for k in range(-4, 11, 2)],
    }
    shown, rules = ("second-order", "ofs1", "ofs2"), ("pair", "kkt")
    found = {
        name: [
            {"C": C, "gamma": gamma, **task.measure(s, rule, options.limit)}
            for C, gamma in points
            for task in [Task.of(X, y, Kernel("rbf", gamma=gamma), C, options)]
            for rule in rules
            for s in shown
        ]
        for name, points in sweeps.items()
    }
    write(options.out, "figures", found)
    draw(found, Path(options.figures))


def draw(found: dict, folder: Path) -> None:
    """Figures 2 and 3, each with a panel for either rule, as PNG and SVG."""
    from matplotlib.figure import Figure

    titles = {"pair": "stops on the selected pair (paper)", "kkt": "stops on the maximal violation"}
    for number, (name, entries) in zip((2, 3), found.items(), strict=True):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        for axis, (rule, title) in zip(axes, titles.items(), strict=True):
            for selection in dict.fromkeys(e["selection"] for e in entries):
                line = [e for e in entries if e["rule"] == rule and e["selection"] == selection]
                axis.loglog([e[name] for e in line], [max(e["iterations"], 1) for e in line], "o-", label=selection)
            axis.set_xlabel(name)
            axis.set_title(title)
        for part in (axes[0].yaxis.set_major_formatter, axes[0].yaxis.set_minor_formatter):
            part("{x:,.0f}")
        axes[0].tick_params(which="minor", labelsize="x-small")
        axes[0].set_ylabel("iterations")
        axes[0].legend()
        harness.save_plot(figure, folder / f"ofs-figure-{number}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the published files (default: $CUTPLANE_DATA)")
    parser.add_argument("--sets", default=",".join(PARAMETERS), help="comma-separated names")
    parser.add_argument("--kernels", default="rbf,poly,sigmoid")
    parser.add_argument("--selections", default=",".join(SELECTIONS))
    parser.add_argument("--rows", default="4000", help="size of each sample, or all: the paper's sizes (%(default)s)")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one run (%(default)s)")
    parser.add_argument("--fill", type=float, help="seconds for filling the cache first (default: as --limit)")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side, one thread each (%(default)s)")
    parser.add_argument("--cache", type=float, default=4.0, help="GB for kernel rows (%(default)s)")
    parser.add_argument("--figures", help="draw Figures 2 and 3 into this folder instead of the tables")
    parser.add_argument("--gather", nargs="+", metavar="FILE", help="measure nothing; put these files together")
    parser.add_argument("--out", default=str(measure.RESULTS / "ofs.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.figures:
        figures(options)
        return
    if options.gather:
        gather(options)
    else:
        tables(options)
    for name, table in pages.tables(contents(options.out)).items():
        print(f"\n{name}:\n\n{table}")


if __name__ == "__main__":
    main()
