"""Kernel machines by sampled cuts: time against examples, against the size of samples, and errors beside the paper's.

    python benchmarks/sampled_cuts.py --data DIR [--parts table1,scaling] [--sets adult] [--ways SMO,linear-400]
    python benchmarks/sampled_cuts.py --merge PART.json PART.json ...      puts runs measured apart into --out

Checkers is generated: a 4 x 4 board, noise 0.02. C is 1 per example (Adult in Table 1: 100, as in the paper). Kernels
are Gaussian: exp(-|x - z|² / 0.1) on Checkers, exp(-|x - z|² / 3.4) on Covertype, and on Adult exp(-|x - z|² / 20),
with which the training error of SMO is the paper's. The chain is that of benchmarks/sampled_chain.py.
"""

import argparse
import json
import sys
import warnings
from itertools import product
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets, harness, measure
from benchmarks.sampled_chain import chain
from benchmarks.tables import sampled_cuts as tables
from cutplane import SVC, CholeskyFeatures, LinearSVC, SampledCutSVC

REPRODUCES = "Yu and Joachims 2008, Table 1 and Figures 1 to 7"
QUICK = ("--quick", "--parts", "scaling")
GAMMA = {"checkers": 1 / 0.1, "adult": 1 / 20, "covtype": 1 / 3.4}
TRAIN = {"checkers": 1_000_000, "adult": 22_697, "covtype": 522_910}
TABLE_C = {"checkers": 1.0, "adult": 100.0, "covtype": 1.0}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
# Adult has but 22,697.
SMALL_SIZES = (1_000, 3_000, 10_000)
# As large as SMO goes in minutes.
SUBSETS = {"checkers": 100_000, "adult": 22_697, "covtype": 50_000}
# The algorithms as the paper has them: without OCA's line search, and without the mean of the last minimisers.
PAPERS = {"plain": "linear", "last": "constant"}
SCALING = (("constant", 400), ("constant", 1000), ("last", 1000), ("linear", 400))
# The sampled examples that SMO is given, where it is given no more.
SAMPLED = (10_000, 20_000)
# Parts whose times are compared from size to size.
SLOPES = ("scaling", "regularisation", "sampled_smo")
IDENTITY = ("data", "n", "way", "r", "C", "seed", "kernel", "gamma", "fold")
TEST_LIMIT, TRAIN_LIMIT = 100_000, 50_000


class SampleSVC(SVC):
    """SMO on some sampled examples, their mean loss weighted as that of all would be."""

    size = seed = 0

    def fit(self, X, y):
        """Train on `size` of these."""
        chosen = np.random.default_rng(self.seed).choice(len(y), min(self.size, len(y)), replace=False)
        self.C *= len(y) / len(chosen)
        return super().fit(X[chosen], y[chosen])


def checkers(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on a 4 x 4 board of alternating classes, moved a little after they were coloured."""
    rng = np.random.default_rng(seed)
    place = 4.0 * rng.random((n, 2))
    y = np.where(place.astype(int).sum(axis=1) % 2, 1, -1)
    return (place + 0.02 * rng.standard_normal((n, 2))).astype(np.float32), y


def load(name: str, options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test examples, dense."""
    if name == "checkers":
        return *checkers(TRAIN[name], 0), *checkers(TEST_LIMIT, 1)
    X, y = datasets.load("a9a" if name == "adult" else name, options.data, options.cache)[:2]
    X = X.toarray().astype(np.float32) if hasattr(X, "toarray") else X
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: TRAIN[name]], order[TRAIN[name] :]
    return X[train], y[train], X[test], y[test]


def make(name: str, way: str, r: int, C: float, seed: int, options: argparse.Namespace):
    """The machine that a row is about."""
    common = {"gamma": GAMMA[name], "n_jobs": options.threads}
    if way == "SMO":
        return SVC(C=C, time_limit=options.limit, **common)
    if way == "sample":
        model = SampleSVC(C=C, time_limit=options.limit, **common)
        model.size, model.seed = r, seed
        return model
    if way == "Cholesky":
        from sklearn.pipeline import make_pipeline

        linear = LinearSVC(C, n_jobs=options.threads, time_limit=options.limit)
        return make_pipeline(CholeskyFeatures(r, random_state=seed, **common), linear)
    return SampledCutSVC(
        C,
        method=PAPERS.get(way, way),
        stabilised=way not in PAPERS,
        n_samples_cut=r or None,
        random_state=seed,
        time_limit=options.limit,
        **common,
    )


def fit(model, X, y, Xt, yt) -> dict:
    """One run: seconds, errors in per cent, and what the model knows of itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that ended early shows in stop_reason
        start, processor = perf_counter(), process_time()
        model.fit(X, y)
        found = {"seconds": perf_counter() - start, "cpu_seconds": process_time() - processor}
    sample = np.random.default_rng(0).permutation(len(y))[:TRAIN_LIMIT]
    found["test_error"] = 100 * (1 - model.score(Xt, yt))
    found["train_error"] = 100 * (1 - model.score(X[sample], y[sample]))
    last = model[-1] if hasattr(model, "steps") else model
    for name in ("n_iter_", "stop_reason_", "violation_", "objective_", "bound_", "gap_"):
        if hasattr(last, name):
            value = getattr(last, name)
            value = value if isinstance(value, str) else float(np.max(value))
            if value != np.inf:  # the gap of sampled cuts
                found[name.rstrip("_")] = value
    if hasattr(last, "support_"):
        found["support"] = len(last.support_)
    return found


def measured(name: str, sizes, ways, options: argparse.Namespace) -> list[dict]:
    """A row for each size and each (way, r, C, seed) that was asked for."""
    X, y, Xt, yt = load(name, options)
    rows = []
    for n, (way, r, C, seed) in product(sizes, ways):
        if options.sizes and n not in options.sizes:
            continue
        if options.ways and way not in options.ways and f"{way}-{r}" not in options.ways:
            continue
        if (options.seeds and str(seed) not in options.seeds) or (options.Cs and C not in options.Cs):
            continue
        run = fit(make(name, way, r, C, seed, options), X[:n], y[:n], Xt, yt)
        rows.append({"data": name, "n": n, "way": way, "r": r, "C": C, "seed": seed, **run})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def table1(options: argparse.Namespace) -> list[dict]:
    """Table 1: the paper's sizes."""
    rows = []
    for name in options.sets or list(GAMMA):
        C = TABLE_C[name]
        ways = [(way, r, C, seed) for way in ("constant", "last", "linear") for r in (400, 1000) for seed in range(3)]
        ways += [("Cholesky", r, C, 0) for r in (250, 500, 5000) if r * TRAIN[name] < 6e8]
        ways += [("SMO", 0, C, 0)] if name == "adult" else []
        rows += measured(name, [TRAIN[name]], ways, options)
    return rows


def subsets(options: argparse.Namespace) -> list[dict]:
    """Where SMO finishes: the same examples by sampled cuts, Cholesky features and SMO."""
    rows = []
    for name in options.sets or list(GAMMA):
        ways = [(way, r, 1.0, seed) for way in ("constant", "last", "linear") for r in (400, 1000) for seed in range(3)]
        ways += [("Cholesky", r, 1.0, 0) for r in (250, 500, 5000) if r * SUBSETS[name] < 6e8]
        rows += measured(name, [SUBSETS[name]], [*ways, ("SMO", 0, 1.0, 0)], options)
    return rows


def scaling(options: argparse.Namespace) -> list[dict]:
    """Figures 1 to 3: subsets of growing size at C = 1 per example.

    Seconds of "constant" are those of "last", too: only what is returned in the end differs.
    """
    rows = []
    for name in options.sets or (["checkers"] if options.quick else list(GAMMA)):
        sizes = [n for n in (SMALL_SIZES if name == "adult" else SIZES) if n < TRAIN[name]] + [TRAIN[name]]
        seeds = 3
        if options.quick:
            sizes, seeds = sizes[:2], 1
        ways = [
            (way, r, 1.0, seed) for way, r in SCALING for seed in range(seeds) if name != "covtype" or way != "last"
        ]
        # These take minutes each, and so do SMO and cuts that are not stabilised beyond the sizes below.
        slow = [way for way in ways if name == "covtype" and way[:2] != ("constant", 400) and way[3] > 0]
        rows += measured(name, sizes[:-2], ways, options)
        rows += measured(name, sizes[-2:], [way for way in ways if way not in slow], options)
        rows += measured(name, sizes[:3], [("plain", 400, 1.0, 0)], options)
        rows += measured(name, sizes[:2] if name == "covtype" else sizes[:3], [("SMO", 0, 1.0, 0)], options)
    return rows


def regularisation(options: argparse.Namespace) -> list[dict]:
    """Sampled cuts on Checkers where n and C vary apart: C here is that of the mean loss, C / n per example."""
    rows = []
    for C in (1e4, 1e5, 1e6):
        for n in SIZES:
            ways = [("constant", 400, C / n, seed) for seed in range(3)]
            ways += [("linear", 400, C / n, seed) for seed in range(3)] if C < 1e5 else []
            rows += [{**row, "total": C} for row in measured("checkers", [n], ways, options)]
    return rows


def sampled_smo(options: argparse.Namespace) -> list[dict]:
    """SMO on a sample of fixed size beside constant-time cuts, at C = 1 for each of all examples."""
    rows = []
    for name in options.sets or ["checkers", "covtype"]:
        sizes = [n for n in SIZES if n < TRAIN[name]] + [TRAIN[name]]
        rows += measured(name, sizes, [("constant", 400, 1.0, seed) for seed in range(3)], options)
        for r, seed in product(SAMPLED, range(3)):
            rows += measured(name, [n for n in sizes if n >= r], [("sample", r, 1.0, seed)], options)
    return rows


def samples(options: argparse.Namespace) -> list[dict]:
    """Figures 4 to 7: the size of samples on Adult."""
    ways = [
        (way, r, C, seed)
        for way in ("constant", "linear")
        for r in (100, 400, 1000, 4000)
        for C in (0.01, 0.1, 1.0, 10.0)
        for seed in range(3 if C == 1.0 else 1)
    ]
    return measured("adult", [TRAIN["adult"]], ways, options)


def merge(options: argparse.Namespace) -> None:
    """Rows of other files into --out; a run that is there already is replaced.

    A part with slopes is of one machine. In the others, a row from another machine says so.
    """
    result = json.loads(options.out.read_text()) if options.out.exists() else {}
    commit = measure.machine(())["commit"]
    for path in options.merge:
        for name, part in json.loads(path.read_text()).items():
            part["machine"]["commit"] = part["machine"]["commit"] or commit
            known = result.get(name, part)
            rows = part["rows"]
            if _measured_on(known) != _measured_on(part):
                if name in SLOPES:
                    raise SystemExit(
                        f"{path} has {name} of {_measured_on(part)}, {options.out} of {_measured_on(known)}; slopes "
                        "are of one machine, so measure all of this part again, or take the old one out first."
                    )
                rows = [{**row, "measured_on": f"{_measured_on(part)}, {part['machine']['date']}"} for row in rows]
            all_rows = {tuple(row.get(key) for key in IDENTITY): row for row in (*known["rows"], *rows)}
            result[name] = {**known, "rows": list(all_rows.values())}
    measure.write_json(options.out, result)


def _measured_on(part: dict) -> str:
    machine = part["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores, {part['threads']} threads, Python {machine['python']}"


PARTS = {
    "table1": table1,
    "subsets": subsets,
    "scaling": scaling,
    "regularisation": regularisation,
    "sampled_smo": sampled_smo,
    "samples": samples,
    "chain": chain,
}


def main() -> None:
    parser = harness.parser(__doc__, "sampled_cuts", tuple(PARTS))
    words = {"type": lambda text: text.split(","), "default": []}
    parser.add_argument("--ways", **words, help="only these: constant, linear-400, SMO ...")
    parser.add_argument("--seeds", **words, help="only these of 0,1,2")
    parser.add_argument("--Cs", type=lambda text: [float(C) for C in text.split(",")], help="only these of samples")
    parser.add_argument(
        "--sizes", type=lambda text: [int(n) for n in text.split(",")], help="only these of scaling and regularisation"
    )
    parser.add_argument("--gammas", type=lambda text: [float(g) for g in text.split(",")], help="only these of chain")
    parser.add_argument("--merge", nargs="+", type=Path, help="measure nothing: put the runs of these files into --out")
    options = parser.parse_args()
    if options.merge:
        merge(options)
        options.report = True
    harness.run(options, PARTS, (), tables.tables, tables.figures)


if __name__ == "__main__":
    main()
