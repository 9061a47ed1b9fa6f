"""Kernel SVMs: ours beside LIBSVM's own C library, same data, kernel, C, eps and cache, in the same run.

    python benchmarks/smo.py --data DIR [--sets mushrooms,mnist] [--selections second-order,ofs2] [--out FILE]
    python benchmarks/smo.py --data DIR --working-sets 512,1024,2048 --alone --out FILE     sizes of the working set

Both stop by the same sound rule, m - M <= eps. LIBSVM is timed in its C call alone, ours from the arrays to the
solution. Rows of sets measured before stay in the output file.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import kernel_datasets, libsvm_peer, measure
from cutplane import _core
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve
from cutplane.kernels.smo import DEFAULT_SELECTION

QUICK = ("--sets", "svmguide3,mushrooms", "--repeats", "1")
CACHE_BYTES = 4 << 30


@dataclass(frozen=True)
class Case:
    """Parameters of the OFS paper's Table 2 (RBF), or the usual ones where it has none."""

    C: float
    gamma: float
    rows: int | None = None


CASES = {
    "svmguide3": Case(64, 0.125),
    "mushrooms": Case(0.5, 0.25),
    "ijcnn1": Case(64, 1.0),
    "covtype": Case(64, 0.5, 20_000),
    "kddcup99": Case(64, 0.5, 50_000),
    "w8a": Case(8, 0.0625),
    "a9a": Case(1, 0.05),
    "skin": Case(8, 256.0, 100_000),
    "mnist": Case(2, 0.0625, 8_000),
}


@dataclass
class Fit:
    seconds: float
    iterations: int
    dual: float
    gap: float
    violation: float
    support: int
    machines: list  # (rows, labels, result)


def fit(X, y, kernel: Kernel, C: float, selection: str, eps: float, working_set: int | None) -> Fit:
    """Train ours: one machine, or one for each pair of classes in parallel on one kernel matrix."""
    start = perf_counter()
    matrix = KernelMatrix(X, kernel, cache_bytes=CACHE_BYTES)
    classes = np.unique(y)
    pairs = list(combinations(classes[::-1], 2))
    threads = 1 if len(pairs) > 1 else 0

    def machine(pair):
        rows = np.flatnonzero(np.isin(y, pair)) if len(pairs) > 1 else None
        labels = np.where(y[rows if rows is not None else slice(None)] == pair[0], 1, -1)
        problem = DualProblem.classification(labels, C)
        result = solve(
            problem,
            matrix,
            rows=rows,
            selection=selection,
            eps=eps,
            working_set=working_set,
            n_threads=threads,
        )
        return rows, labels, result

    with ThreadPoolExecutor(_core.thread_count(0)) as pool:
        machines = list(pool.map(machine, pairs))
    seconds = perf_counter() - start
    results = [result for *_, result in machines]
    support = set()
    for rows, _, result in machines:
        used = np.flatnonzero(result.alpha)
        support.update((used if rows is None else rows[used]).tolist())
    primal, dual = sum(r.primal for r in results), sum(r.dual for r in results)
    return Fit(
        seconds,
        sum(r.n_iter for r in results),
        dual,
        (primal - dual) / primal,
        max(r.violation for r in results),
        len(support),
        machines,
    )


def error_rate(X, y, fitted: Fit, kernel: Kernel, fresh, labels) -> float:
    """Share of fresh examples that our binary machine gets wrong."""
    _, signs, result = fitted.machines[0]
    used = np.flatnonzero(result.alpha)
    scores = kernel.product(fresh, X[used], (signs * result.alpha)[used]) - result.rho[0]
    return float(np.mean(np.where(scores > 0, 1, -1) != labels))


def run(name: str, options: argparse.Namespace) -> list[dict]:
    case = CASES[name]
    X, y = kernel_datasets.load(name, options.data)
    fresh, labels = X[case.rows or 0 :][:5000], y[case.rows or 0 :][:5000]
    X, y = X[: case.rows], y[: case.rows]
    order = np.argsort(y, kind="stable") if len(np.unique(y)) > 2 else slice(None)
    X, y = X[order], y[order]
    kernel = Kernel("rbf", gamma=case.gamma)
    found: dict[str, object] = {}

    def ours(selection, size):
        name = selection if size is None else f"{selection}, {size}"

        def call():
            found[name] = fit(X, y, kernel, case.C, selection, options.eps, size)
            return found[name].seconds

        return name, call

    def libsvm():
        found["LIBSVM"] = libsvm_peer.train(X, y, kernel, case.C, options.eps, CACHE_BYTES / 2**20)
        return found["LIBSVM"].seconds

    sizes = [int(size) for size in options.working_sets.split(",")] if options.working_sets else [None]
    contestants = dict(ours(selection, size) for selection in options.selections.split(",") for size in sizes)
    if libsvm_peer.MISSING is None and not options.alone:
        contestants["LIBSVM"] = libsvm
    seconds = measure.alternate(contestants, options.repeats, options.budget)
    peer = found.get("LIBSVM")
    entries = []
    for solver, times in seconds.items():
        result = found[solver]
        entry = {
            "set": name, "rows": X.shape[0], "features": X.shape[1], "C": case.C, "gamma": case.gamma,
            "solver": solver, "seconds": times, "iterations": result.iterations, "dual": result.dual,
            "support": result.support,
        }  # fmt: skip
        if isinstance(result, Fit):
            entry |= {"gap": result.gap, "violation": result.violation}
            entry["rows_computed_for"] = len(result.machines)
            if len(result.machines) == 1:
                entry["error"] = error_rate(X, y, result, kernel, fresh, labels)
            if peer is not None:
                entry["dual_over_libsvm"] = result.dual / peer.dual - 1
                entry["ratio"] = measure.median(seconds["LIBSVM"]) / measure.median(times)
        elif len(np.unique(y)) == 2:
            entry["error"] = libsvm_error(peer, kernel, X, fresh, labels)
        entries.append(entry)
    return entries


def libsvm_error(trained, kernel, X, fresh, labels) -> float:
    """Share of fresh examples that LIBSVM's machine gets wrong; its kernel values by our product."""
    model = trained.model
    used = np.array(model.get_sv_indices()) - 1
    coef = np.array([model.sv_coef[0][k] for k in range(len(used))])
    first = model.get_labels()[0]
    scores = kernel.product(fresh, X[used], coef) - model.rho[0]
    return float(np.mean(np.where(scores > 0, first, -first) != labels))


def report(entries: list[dict]) -> None:
    header = [
        "set",
        "rows",
        "solver",
        "seconds",
        "runs",
        "iterations",
        "violation",
        "gap",
        "dual/LIBSVM-1",
        "error",
        "ratio",
    ]
    rows = [
        [
            e["set"], e["rows"], e["solver"], measure.median(e["seconds"]), len(e["seconds"]), e["iterations"],
            e.get("violation"), e.get("gap"), e.get("dual_over_libsvm"), e.get("error"), e.get("ratio"),
        ]
        for e in entries
    ]  # fmt: skip
    print(measure.table(header, rows))
    for solver in sorted({e["solver"] for e in entries} - {"LIBSVM"}):
        ratios = [e["ratio"] for e in entries if e["solver"] == solver and "ratio" in e]
        if ratios:
            mean = measure.geometric_mean(ratios)
            print(f"{solver}: {mean:.1f} times as fast as LIBSVM in the geometric mean, at least {min(ratios):.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the published files (default: $CUTPLANE_DATA)")
    parser.add_argument("--sets", default=",".join(CASES), help="comma-separated names")
    parser.add_argument("--selections", default=DEFAULT_SELECTION, help="comma-separated (%(default)s)")
    parser.add_argument("--eps", type=float, default=1e-3, help="of the stopping rule of both (%(default)s)")
    parser.add_argument("--working-sets", help="comma-separated sizes, in place of the one that is chosen")
    parser.add_argument("--alone", action="store_true", help="without LIBSVM")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds a set after which no round is begun")
    parser.add_argument("--out", default=str(measure.RESULTS / "smo.json"))
    options = parser.parse_args()
    if libsvm_peer.MISSING and not options.alone:
        print(f"LIBSVM is missing: {libsvm_peer.MISSING}")
    path = Path(options.out)
    kept = json.loads(path.read_text())["results"] if path.exists() else []
    entries: list[dict] = []
    names = options.sets.split(",")
    for name in names:
        entries += run(name, options)
        others = [e for e in kept if e["set"] not in names]
        everything = sorted([*others, *entries], key=lambda e: list(CASES).index(e["set"]))
        packages = ("cutplane", "numpy", "scipy", "libsvm-official")
        measure.write_json(path, {"machine": measure.machine(packages), "eps": options.eps, "results": everything})
    report(everything)


if __name__ == "__main__":
    main()
