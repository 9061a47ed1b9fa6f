"""Kernel machines by sampled cuts: time against examples, against the size of samples, and errors beside the paper's.

    python benchmarks/sampled_cuts.py --data DIR [--parts scaling,samples,errors] [--sets checkers,adult,covtype]

Checkers is generated: a 4 x 4 board, noise 0.02. C is 1 per example (Adult in the table: 100, as in the paper), the
kernel Gaussian, exp(-|x - z|² / (2 s2)).
"""

import argparse
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets, figures, harness, measure
from cutplane import SVC, CholeskyFeatures, LinearSVC, SampledCutSVC

REPRODUCES = "Yu and Joachims 2008, Table 1 and Figures 1 to 7"
QUICK = ("--quick", "--parts", "scaling")
WIDTH = {"checkers": 0.05, "adult": 20.0, "covtype": 1.7}
TRAIN = {"checkers": 1_000_000, "adult": 22_697, "covtype": 522_910}
TABLE_C = {"checkers": 1.0, "adult": 100.0, "covtype": 1.0}
# Test errors in per cent and seconds, the paper's Table 1.
PAPER = {
    ("checkers", "constant", 400): (3.23, 1411),
    ("checkers", "constant", 1000): (3.14, 1854),
    ("checkers", "linear", 400): (2.99, 60101),
    ("checkers", "linear", 1000): (2.95, 151759),
    ("checkers", "Cholesky", 250): (3.32, 2447),
    ("checkers", "SVM-light", 0): (2.94, 36533),
    ("adult", "constant", 400): (10.45, 17487),
    ("adult", "constant", 1000): (10.29, 38617),
    ("adult", "linear", 400): (10.19, 11136),
    ("adult", "linear", 1000): (10.19, 15191),
    ("adult", "Cholesky", 250): (15.09, 604),
    ("adult", "Cholesky", 500): (14.50, 537),
    ("adult", "Cholesky", 5000): (12.43, 3386),
    ("adult", "SVM-light", 0): (10.37, 11630),
    ("covtype", "constant", 400): (18.61, 3496),
    ("covtype", "constant", 1000): (18.55, 12946),
    ("covtype", "linear", 400): (18.28, 62184),
    ("covtype", "linear", 1000): (18.22, 155196),
    ("covtype", "Cholesky", 250): (21.85, 1937),
    ("covtype", "Cholesky", 500): (20.35, 3093),
    ("covtype", "SVM-light", 0): (18.09, 273021),
}


def checkers(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on a 4 x 4 board of alternating classes, moved a little after they were coloured."""
    rng = np.random.default_rng(seed)
    place = 4.0 * rng.random((n, 2))
    y = np.where(place.astype(int).sum(axis=1) % 2, 1, -1)
    return (place + 0.02 * rng.standard_normal((n, 2))).astype(np.float32), y


def load(name: str, options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test examples, dense."""
    if name == "checkers":
        return *checkers(TRAIN[name], 0), *checkers(100_000, 1)
    X, y = datasets.load("a9a" if name == "adult" else name, options.data, options.cache)[:2]
    X = X.toarray().astype(np.float32) if hasattr(X, "toarray") else X
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: TRAIN[name]], order[TRAIN[name] :]
    return X[train], y[train], X[test], y[test]


def gamma(name: str) -> float:
    return 1.0 / (2.0 * WIDTH[name])


def fit(model, X, y, Xt, yt) -> dict:
    """One run: seconds, errors in per cent, and what the model knows of itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that ended early shows in stop_reason
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
    sample = np.random.default_rng(0).permutation(len(y))[:50_000]
    found = {"seconds": seconds, "test_error": 100 * (1 - model.score(Xt, yt))}
    found["train_error"] = 100 * (1 - model.score(X[sample], y[sample]))
    last = model[-1] if hasattr(model, "steps") else model
    for name in ("n_iter_", "stop_reason_", "violation_", "objective_", "bound_"):
        if hasattr(last, name):
            value = getattr(last, name)
            found[name.rstrip("_")] = value if isinstance(value, str) else float(np.max(value))
    if hasattr(last, "support_"):
        found["support"] = len(last.support_)
    return found


def sampled(name: str, algorithm: str, r: int, seed: int, options, C: float = 1.0, stabilised: bool = True):
    return SampledCutSVC(
        C,
        gamma=gamma(name),
        algorithm=algorithm,
        r=r,
        random_state=seed,
        stabilised=stabilised,
        time_limit=options.limit,
        n_jobs=options.threads,
    )


def scaling(options: argparse.Namespace) -> list[dict]:
    """Figures 1 to 3: subsets of growing size."""
    rows = []
    sizes = [10_000, 30_000] if options.quick else [10_000, 30_000, 100_000, 300_000, 1_000_000]
    for name in options.sets or ["checkers"]:
        X, y, Xt, yt = load(name, options)
        for n in [size for size in sizes if size <= len(y)]:
            for algorithm, r, stabilised in (("constant", 400, False), ("linear", 400, True), ("linear", 400, False)):
                if algorithm == "linear" and not stabilised and n > 100_000:
                    continue
                for seed in range(options.repeats if algorithm == "constant" else 1):
                    model = sampled(name, algorithm, r, seed, options, stabilised=stabilised)
                    run = fit(model, X[:n], y[:n], Xt, yt)
                    row = {"data": name, "n": n, "algorithm": algorithm, "r": r, "stabilised": stabilised, "seed": seed}
                    rows.append({**row, **run})
                    print(rows[-1], file=sys.stderr, flush=True)
    return rows


def samples(options: argparse.Namespace) -> list[dict]:
    """Figures 4 to 7: the size of samples, on Adult at C = 1."""
    X, y, Xt, yt = load("adult", options)
    rows = []
    for r in (100, 400, 1000, 4000):
        for algorithm in ("constant", "linear"):
            for seed in range(options.repeats):
                run = fit(sampled("adult", algorithm, r, seed, options), X, y, Xt, yt)
                rows.append({"data": "adult", "r": r, "algorithm": algorithm, "seed": seed, **run})
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def errors(options: argparse.Namespace) -> list[dict]:
    """Table 1."""
    from sklearn.pipeline import make_pipeline

    rows = []
    for name in options.sets or list(WIDTH):
        X, y, Xt, yt = load(name, options)
        C = TABLE_C[name]
        ways = [
            (algorithm, r, sampled(name, algorithm, r, seed, options, C))
            for algorithm in ("constant", "linear")
            for r in (400, 1000)
            for seed in range(options.repeats if algorithm == "constant" else 1)
        ]
        for r in (250, 500) if name != "adult" else (250, 500, 5000):
            maps = CholeskyFeatures(r, gamma=gamma(name), n_jobs=options.threads)
            ways.append(
                ("Cholesky", r, make_pipeline(maps, LinearSVC(C, n_jobs=options.threads, time_limit=options.limit)))
            )
        if name == "adult":
            machine = SVC(C=C, gamma=gamma(name), n_jobs=options.threads, time_limit=options.limit)
            ways.append(("SMO", 0, machine))
        for way, r, model in ways:
            if way == "Cholesky" and r * len(y) > 3e8:
                continue  # the projections would not fit into memory
            rows.append({"data": name, "way": way, "r": r, "C": C, **fit(model, X, y, Xt, yt)})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def slope(points: list[tuple[float, float]]) -> float:
    """Of the line through the logarithms."""
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def tables(result: dict) -> dict[str, str]:
    found = {}
    if "scaling" in result:
        rows = result["scaling"]["rows"]
        groups = sorted({(row["data"], row["algorithm"], row["stabilised"]) for row in rows})
        lines = []
        for data, algorithm, stabilised in groups:
            mine = [r for r in rows if (r["data"], r["algorithm"], r["stabilised"]) == (data, algorithm, stabilised)]
            sizes = sorted({row["n"] for row in mine})
            seconds = {n: measure.median([row["seconds"] for row in mine if row["n"] == n]) for n in sizes}
            each = {n: measure.median([r["seconds"] / r["n_iter"] for r in mine if r["n"] == n]) for n in sizes}
            name = algorithm + (", stabilised" if stabilised else "")
            for n in sizes:
                cuts = measure.median([row["n_iter"] for row in mine if row["n"] == n])
                error = measure.median([row["test_error"] for row in mine if row["n"] == n])
                lines.append([data, name, n, seconds[n], cuts, 1e3 * each[n], error])
            if len(sizes) > 1:
                lines.append([data, name, "slope", slope(list(seconds.items())), "", slope(list(each.items())), ""])
        header = ["data", "cuts", "n", "seconds", "iterations", "ms an iteration", "test error %"]
        found["Time against examples (r = 400, C = 1)"] = measure.table(header, lines)
    if "samples" in result:
        rows = result["samples"]["rows"]
        lines = []
        for algorithm, r in sorted({(row["algorithm"], row["r"]) for row in rows}):
            mine = [row for row in rows if (row["algorithm"], row["r"]) == (algorithm, r)]
            middle = [measure.median([row[key] for row in mine]) for key in ("seconds", "n_iter", "test_error")]
            lines.append([algorithm, r, *middle, float(np.std([row["test_error"] for row in mine]))])
        found["The size of samples (Adult, C = 1)"] = measure.table(
            ["cuts", "r", "seconds", "iterations", "test error %", "deviation"], lines
        )
    if "errors" in result:
        rows = result["errors"]["rows"]
        lines = []
        for data, way, r in dict.fromkeys((row["data"], row["way"], row["r"]) for row in rows):
            mine = [row for row in rows if (row["data"], row["way"], row["r"]) == (data, way, r)]
            paper = PAPER.get((data, "SVM-light" if way == "SMO" else way, r), ("", ""))
            test = [row["test_error"] for row in mine]
            middle = measure.median([row["train_error"] for row in mine])
            seconds = measure.median([row["seconds"] for row in mine])
            stop = mine[0].get("stop_reason", "")
            lines.append([data, way, r, middle, measure.median(test), float(np.std(test)), seconds, stop, *paper])
        header = ["data", "way", "r", "train error %", "test error %", "deviation", "seconds", "ended by"]
        found["Errors (the paper's Table 1)"] = measure.table([*header, "paper: test error %", "paper: seconds"], lines)
    return found


def plots(result: dict) -> dict:
    if "scaling" not in result:
        return {}
    rows = result["scaling"]["rows"]
    lines = {}
    for algorithm, stabilised in (("constant", False), ("linear", True), ("linear", False)):
        mine = [row for row in rows if (row["algorithm"], row["stabilised"]) == (algorithm, stabilised)]
        sizes = sorted({row["n"] for row in mine})
        seconds = [measure.median([row["seconds"] for row in mine if row["n"] == n]) for n in sizes]
        if sizes:
            lines[algorithm + (", stabilised" if stabilised else "")] = (sizes, seconds)
    title = "Checkers, C = 1 per example, r = 400"
    return {"scaling": figures.draw([figures.Panel(title, "examples", "seconds", lines, log_x=True, log_y=True)])}


if __name__ == "__main__":
    parts = {"scaling": scaling, "samples": samples, "errors": errors}
    harness.run(harness.parser(__doc__, "sampled_cuts", list(parts)).parse_args(), parts, (), tables, plots)
