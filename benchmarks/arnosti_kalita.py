"""The exact line search against the three-point one, in iterations, seconds and stalls (Arnosti and Kalita 2013).

    python benchmarks/arnosti_kalita.py --data DIR [--quick] [--parts searches,errors,features,stall] [--out FILE]

OCA-E and OCA-T to a relative gap epsilon; C is per example, as LIBOCAS has it. The paper trains multi-class models;
here each data set is one binary problem.
"""

import argparse
import sys
from pathlib import Path

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks import cutting_planes, harness, measure, paper_datasets
from benchmarks.tables import arnosti_kalita as tables

REPRODUCES = "Arnosti and Kalita 2013, Figures 4, 5, 6, 7 and the POKER stall (binary)"
SETS = ("covtype", "mnist", "moneyfx", "news20")
QUICK_SETS = ("a9a", "moneyfx")
EPSILONS = (0.5, 0.1, 0.05, 0.01, 5e-3, 1e-3, 5e-4)
CS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
SEARCHES = ("OCA-E", "OCA-T")
MNIST_FEATURES = (717, 473, 337, 139)  # all that are ever inked, then the paper's
TEXT_FEATURES = (8315, 4373, 676, 186)  # all, then the paper's for RCV1
STALLS = (("poker", 1.0), ("poker-scaled", 1.0), ("covtype", 100.0))


def sets(options: argparse.Namespace, names: tuple[str, ...] = SETS) -> list[str]:
    wanted = options.sets or (QUICK_SETS if options.quick else names)
    return [name for name in dict.fromkeys((*names, *QUICK_SETS)) if name in wanted]


def train(X, y, C: float, method: str, tol: float, options: argparse.Namespace, max_iter: int | None = None):
    solver = cutting_planes.METHODS[method]()
    limit = options.limit
    return cutting_planes.train(
        X, y, C * len(y), solver, tol=tol, threads=options.threads, limit=limit, max_iter=max_iter
    )


def at(run, C: float, tol: float) -> dict | None:
    """Iterations, seconds and seconds of searching when the gap fell to tol."""
    found = cutting_planes.reached(run.history, C, tol=tol)
    if found is None:
        return None
    spent = cutting_planes.phases(run.history[: found.iterations])
    return {"iterations": found.iterations, "seconds": found.seconds, "search": spent["line_search"]}


def searches(options: argparse.Namespace) -> list[dict]:
    """Figures 4 and 5: over epsilon at C = 1, and over C at epsilon = 0.01."""
    rows = []
    for name in sets(options):
        X, y = paper_datasets.load(name, options)
        for C in CS[:5] if options.quick else CS:
            levels = EPSILONS if C == 1.0 else (0.01,)
            for method in SEARCHES:
                # The median by total seconds of the repeats; iterations are the same in each.
                runs = [train(X, y, C, method, min(levels), options) for _ in range(options.repeats)]
                run = sorted(runs, key=lambda each: each.history[-1].seconds)[len(runs) // 2]
                for tol in levels:
                    found = at(run, C * len(y), tol)
                    if found is not None:
                        rows.append({"data": name, "C": C, "epsilon": tol, "method": method, **found})
        print(f"{name}: done", flush=True)
    return rows


def errors(options: argparse.Namespace) -> list[dict]:
    """Figure 6: per cent of wrong predictions on a fifth of the data that was held out."""
    rows = []
    for name in sets(options):
        X, y = paper_datasets.load(name, options)
        order = np.random.default_rng(0).permutation(len(y))
        train_rows, test_rows = np.sort(order[len(y) // 5 :]), np.sort(order[: len(y) // 5])
        part, labels, held, truth = X[train_rows], y[train_rows], X[test_rows], y[test_rows]
        settings = [(1.0, epsilon) for epsilon in EPSILONS] + [(C, 0.01) for C in CS if C != 1.0]
        for C, epsilon in settings:
            for method in SEARCHES:
                run = train(part, labels, C, method, epsilon, options)
                wrong = float(np.mean(np.where(held @ run.w > 0, 1, -1) != truth))
                rows.append({"data": name, "C": C, "epsilon": epsilon, "method": method, "error": 100 * wrong})
        print(f"{name}: done", flush=True)
    return rows


def features(options: argparse.Namespace) -> list[dict]:
    """Figure 7: fewer features, all examples. The share of the search in OCA-E, and what OCA-T gains."""
    rows = []
    for name, counts in (("mnist", MNIST_FEATURES), ("moneyfx", TEXT_FEATURES)):
        if options.quick and name == "mnist":
            continue
        X, y = paper_datasets.load(name, options)
        # The features that occur most, as feature selection would leave them.
        common = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
        for count in counts:
            part = X[:, np.sort(common[:count])].tocsr()
            part.indices, part.indptr = part.indices.astype(np.int32), part.indptr.astype(np.int32)
            found: dict = {}

            def of(method, part=part, y=y, found=found):
                found[method] = train(part, y, 1.0, method, 0.01, options)
                return found[method].history[-1].seconds

            contestants = {method: lambda method=method: of(method) for method in SEARCHES}
            seconds = measure.alternate(contestants, options.repeats, budget=options.limit)
            spent = cutting_planes.phases(found["OCA-E"].history)
            rows.append(
                {
                    "data": name,
                    "features": count,
                    "search": spent["line_search"] / sum(spent.values()),
                    "seconds": seconds,
                    "iterations": {method: len(run.history) for method, run in found.items()},
                }
            )
    return rows


def stall(options: argparse.Namespace) -> list[dict]:
    """Section 4.2: how often the exact search stays where it is."""
    rows = []
    for name, C in STALLS:
        if (options.quick and name == "covtype") or (options.sets and name not in options.sets):
            continue
        X, y = paper_datasets.load(name, options)
        for method in ("CPA", *SEARCHES):
            run = train(X, y, C, method, 0.01, options)
            steps = [step.step for step in run.history]
            moved = next((index for index, step in enumerate(steps) if step != 0.0), len(steps))
            rows.append(
                {
                    "data": name,
                    "C": C,
                    "method": method,
                    "iterations": len(steps),
                    "seconds": run.history[-1].seconds,
                    "stayed": sum(step == 0.0 for step in steps),
                    "stayed_at_first": moved,
                    "gap": run.gap,
                    "stopped": run.stop_reason,
                }
            )
            print(rows[-1], flush=True)
    return rows


PARTS = {"searches": searches, "errors": errors, "features": features, "stall": stall}


def main() -> None:
    options = harness.parser(__doc__, "arnosti_kalita", tuple(PARTS)).parse_args()
    harness.run(options, PARTS, (), tables.tables, tables.figures)


if __name__ == "__main__":
    main()
