"""Plain cutting planes again: time and iterations against n, epsilon and C (Joachims 2006).

    python benchmarks/joachims.py --data DIR [--quick] [--parts table1,n,decomposition,epsilon,C] [--out FILE]

SVM-perf is played by our CPA, stopped by its epsilon = 1e-3: upper - lower <= epsilon·C. C is the paper's, the weight
of the mean loss. SVM-light is played by another decomposition method, LIBSVM's (`sklearn.svm.SVC(kernel="linear")`).
"""

import argparse
import sys
import warnings
from pathlib import Path
from time import perf_counter

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sklearn.svm import SVC

from benchmarks import cutting_planes, harness, measure, paper_datasets
from benchmarks.tables import joachims as tables
from cutplane import LinearSVC

REPRODUCES = "Joachims 2006, Table 1 and Figures 1, 2, 5, 6, 7, 8, 9 (classification)"
EPSILON = 1e-3
EPSILONS = (0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
CS = (1e2, 1e3, 1e4, 1e5, 1e6)
# The C of the paper for the data set, or for the one that it stands for.
PAPER_C = {
    "covtype": 1e6,
    "news20": 1e4,
    "news20-one": 5e4,
    "moneyfx": 2e4,
    "ijcnn1": 2e4,
    "a9a": 0.05 * 32_561,
    "w8a": 49_749.0,
}
QUICK_SETS = ("a9a", "moneyfx")
DECOMPOSITION_LIMIT = 15.0  # seconds; a sample twice as large would take about three times as long
QUICK_LIMIT = 3.0


def sets(options: argparse.Namespace) -> tuple[str, ...]:
    wanted = options.sets or (QUICK_SETS if options.quick else PAPER_C)
    return tuple(name for name in PAPER_C if name in wanted)


def train(X, y, C: float, method: str, options: argparse.Namespace, epsilon: float = EPSILON):
    return cutting_planes.train(
        X, y, C, cutting_planes.METHODS[method](), epsilon=epsilon, threads=options.threads, limit=options.limit
    )


def auto(X, y, C: float, options: argparse.Namespace, **until) -> LinearSVC:
    """The default method."""
    model = LinearSVC(
        C=C / len(y), fit_intercept=False, n_jobs=options.threads, time_limit=options.limit, max_iter=None, **until
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def auto_seconds(X, y, C: float, options: argparse.Namespace) -> float:
    """To the same epsilon: the objective is at most C, so that the relative gap is never the first to be reached."""
    return auto(X, y, C, options, tol=EPSILON, risk_tol=EPSILON).history_[-1].seconds


def optimum(X, y, C: float, options: argparse.Namespace) -> float:
    """The least objective, to six digits."""
    return auto(X, y, C, options, tol=1e-6).objective_


def table1(options: argparse.Namespace) -> list[dict]:
    """Seconds of each method to epsilon, in turns."""
    rows = []
    for name in sets(options):
        (X, y), C = paper_datasets.load(name, options), PAPER_C[name]
        runs: dict = {}

        def of(method, X=X, y=y, C=C, runs=runs):
            runs[method] = train(X, y, C, method, options)
            return runs[method].history[-1].seconds

        contestants = {method: lambda method=method: of(method) for method in ("CPA", "OCA-E")}
        contestants["auto"] = lambda X=X, y=y, C=C: auto_seconds(X, y, C, options)
        seconds = measure.alternate(contestants, options.repeats, budget=options.limit)
        rows.append(
            {
                "data": name,
                "n": X.shape[0],
                "features": X.shape[1],
                "density": X.nnz / (X.shape[0] * X.shape[1]),
                "C": C,
                "seconds": seconds,
                "iterations": {method: len(run.history) for method, run in runs.items()},
                "stopped": {method: run.stop_reason for method, run in runs.items()},
            }
        )
        print(f"{name}: {rows[-1]['iterations']}", flush=True)
    return rows


def sizes(n: int) -> list[int]:
    found = [1000]
    while 2 * found[-1] < n:
        found.append(2 * found[-1])
    return [*found, n]


def scaling_in_n(options: argparse.Namespace) -> list[dict]:
    """CPA on nested samples: Figures 1 (left) and 2."""
    rows = []
    for name in sets(options):
        (X, y), C = paper_datasets.load(name, options), PAPER_C[name]
        for n in sizes(len(y)):
            run = train(*paper_datasets.sample(X, y, n), C, "CPA", options)
            last = run.history[-1]
            rows.append(
                {
                    "data": name,
                    "n": n,
                    "iterations": last.iteration,
                    "seconds": last.seconds,
                    "stopped": run.stop_reason,
                }
            )
        print(f"{name}: {[row['iterations'] for row in rows if row['data'] == name]}", flush=True)
    return rows


def decomposition(options: argparse.Namespace) -> list[dict]:
    """LIBSVM with a linear kernel on the same samples, until one takes too long: Figure 1 (left-middle)."""
    rows = []
    for name in sets(options):
        (X, y), C = paper_datasets.load(name, options), PAPER_C[name]
        for n in sizes(len(y)):
            part, labels = paper_datasets.sample(X, y, n)
            start = perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                SVC(kernel="linear", C=C / n, tol=1e-3, cache_size=500, max_iter=10_000_000).fit(part, labels)
            rows.append({"data": name, "n": n, "seconds": perf_counter() - start})
            if rows[-1]["seconds"] > (QUICK_LIMIT if options.quick else DECOMPOSITION_LIMIT) / 3:
                break
        print(f"{name}: {[round(row['seconds'], 2) for row in rows if row['data'] == name]}", flush=True)
    return rows


def scaling_in_epsilon(options: argparse.Namespace) -> list[dict]:
    """One run to the smallest epsilon, read off at all others: Figures 5, 6 and 7 (right)."""
    rows = []
    for name in sets(options):
        (X, y), C = paper_datasets.load(name, options), PAPER_C[name]
        run = train(X, y, C, "CPA", options, epsilon=EPSILONS[-1])
        best = min(run.upper, optimum(X, y, C, options))
        for epsilon in EPSILONS:
            at = cutting_planes.reached(run.history, C, epsilon=epsilon)
            if at is not None:
                rows.append({"data": name, "epsilon": epsilon, **at._asdict(), "optimum": best})
        print(f"{name}: {[row['iterations'] for row in rows if row['data'] == name]}", flush=True)
    return rows


def scaling_in_C(options: argparse.Namespace) -> list[dict]:
    """CPA to epsilon for each C: Figures 7 (left), 8 and 9."""
    rows = []
    for name in sets(options):
        X, y = paper_datasets.load(name, options)
        for C in CS[:4] if options.quick else CS:
            run = train(X, y, C, "CPA", options)
            best = min(run.upper, optimum(X, y, C, options))
            last = run.history[-1]
            rows.append(
                {
                    "data": name,
                    "C": C,
                    "iterations": last.iteration,
                    "seconds": last.seconds,
                    "lower": run.lower,
                    "optimum": best,
                    "stopped": run.stop_reason,
                }
            )
        print(f"{name}: {[row['iterations'] for row in rows if row['data'] == name]}", flush=True)
    return rows


PARTS = {
    "table1": table1,
    "n": scaling_in_n,
    "decomposition": decomposition,
    "epsilon": scaling_in_epsilon,
    "C": scaling_in_C,
}


def main() -> None:
    options = harness.parser(__doc__, "joachims", tuple(PARTS)).parse_args()
    harness.run(options, PARTS, (), tables.tables, tables.figures)


if __name__ == "__main__":
    main()
