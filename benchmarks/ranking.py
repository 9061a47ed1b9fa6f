"""Ranking, ordinal regression and ROC area: seconds to a proven gap of 1e-3, growth with n, and test measures.

    python benchmarks/ranking.py --data DIR [--parts two,growth,queries,ordinal,dlib] [--out FILE]

Two ranks: ½|w|² + C·R, R the mean over all pairs, C = 0.01·n, beside our own LinearSVC (hinge, the same C per example)
and LIBLINEAR. SVM-perf's figures were measured on another machine (benchmarks/elsewhere.py): they are carried over by
way of LIBLINEAR, which was measured on both, so "SVM-perf here" is an estimate.
"""

import argparse
import json
import sys
import warnings
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets, dlib_peer, elsewhere, measure, peers, ranking_data
from cutplane import LinearSVC, OrdinalSVC, RankSVM
from cutplane.metrics import mean_average_precision, ndcg, pair_accuracy

REPRODUCES = "Joachims 2006, Figure 1 (right): growth of ordinal regression"
QUICK = ("--parts", "queries", "--repeats", "1")

# SVM-rank -e 0.001 on MQ2008 by C per query, on the same machine: seconds, iterations; gap 0.2 %.
SVM_RANK_MQ2008 = {0.01: (0.16, 60), 1.0: (1.5, 317)}
# SVM-perf 3.00 -l 10 -w 3 -e 0.1, seconds on the machine of benchmarks/elsewhere.py, at C = 0.01 per example.
SVM_PERF_TWO_RANKS = {"mnist": (8.2, 120, 50.475), "covtype": (46.0, 166, 2250.30)}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 5_000_000)
MOST_PAIRS = 200_000  # a pairwise-transformed sample for LIBLINEAR


def fitted(model, *arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        model.fit(*arguments, **keywords)
        seconds = perf_counter() - start
    return model, seconds


def timed(make, *arguments, **keywords):
    """A contestant of `measure.alternate`: the solver's seconds, remembering the last model."""

    def call() -> float:
        call.model, call.whole = fitted(make(), *arguments, **keywords)
        return call.model.history_[-1].seconds

    return call


def two_ranks(name: str, options: argparse.Namespace) -> dict:
    X, y = datasets.load(name, options.data, options.cache)
    problem = peers.Problem(name, X, y)
    common = {"C": 0.01, "n_jobs": options.threads}
    contestants = {
        "roc": timed(lambda: LinearSVC(loss="roc_area", **common), X, y),
        "hinge": timed(lambda: LinearSVC(**common), X, y),
    }
    liblinear = peers.Liblinear()
    if liblinear.missing is None:
        liblinear.prepare(problem)
        reference = LinearSVC(fit_intercept=False, tol=1e-6, **common).fit(X, y).objective_
        swept = peers.sweep(liblinear, 0.01, reference, limit=60)
        setting = (swept.arrived or swept.best()).setting
        contestants["liblinear"] = lambda: liblinear.train(0.01, setting).seconds
    seconds = measure.alternate(contestants, options.repeats, options.budget)
    once = {
        method: timed(lambda method=method: LinearSVC(loss="roc_area", method=method, time_limit=60, **common), X, y)
        for method in ("oca", "cpa")
    }
    for method, call in once.items():
        seconds[method] = [call()]
    row = {"data": name, "n": len(y), "seconds": seconds, "missing": {"LIBLINEAR": liblinear.missing}}
    for method, call in {**contestants, **once}.items():
        if hasattr(call, "model"):
            model = call.model
            row[method] = {
                "iterations": model.n_iter_,
                "gap": model.gap_,
                "objective": model.objective_,
                "roc_area": pair_accuracy(y, X @ model.coef_[0]),
            }
    there, iterations, objective = SVM_PERF_TWO_RANKS[name]
    row["svm_perf_elsewhere"] = {"seconds": there, "iterations": iterations, "objective": objective}
    if "liblinear" in seconds:
        here = measure.median(seconds["liblinear"])
        row["svm_perf_estimate"] = there * here / elsewhere.LIBLINEAR[name][0.01]
    return row


def growth(levels: int, options: argparse.Namespace) -> dict:
    """Seconds of the solver for growing samples of one distribution; levels = 0: real-valued targets."""
    rng = np.random.default_rng(0)
    w, rows = rng.normal(size=20), []
    for n in options.sizes:
        X = rng.standard_normal((n, 20), dtype=np.float32)
        y = X @ w + 2.0 * rng.standard_normal(n)
        if levels:
            y = np.searchsorted(np.quantile(y, np.linspace(0, 1, levels + 1)[1:-1]), y)
        model, whole = fitted(RankSVM(C=0.01 * n, n_jobs=options.threads), X, y)
        rows.append(
            {
                "n": n,
                "seconds": model.history_[-1].seconds,
                "fit": whole,
                "iterations": model.n_iter_,
                "gap": model.gap_,
            }
        )
    large = [row for row in rows if row["n"] >= 100_000]
    exponent = np.polyfit(np.log([row["n"] for row in large]), np.log([row["seconds"] for row in large]), 1)[0]
    return {"levels": levels, "rows": rows, "exponent": float(exponent)}


def pairs_of(X, y, qid, limit: int = MOST_PAIRS):
    """Differences of pairs, as a classifier would take them; a sample of them where they are many."""
    rng, blocks = np.random.default_rng(0), []
    groups = np.zeros(len(y)) if qid is None else qid
    for q in np.unique(groups):
        rows = np.flatnonzero(groups == q)
        i, j = np.nonzero(y[rows][:, None] > y[rows])
        blocks.append(np.column_stack([rows[i], rows[j]]))
    pairs = np.concatenate(blocks)
    if len(pairs) > limit:
        pairs = pairs[rng.choice(len(pairs), limit, replace=False)]
    sign = np.where(np.arange(len(pairs)) % 2 == 0, 1, -1)
    return (X[pairs[:, 0]] - X[pairs[:, 1]]) * sign[:, None], sign


def liblinear_on_pairs(X, y, qid, C: float):
    """scikit-learn's LIBLINEAR on differences: weights and seconds, making the differences included."""
    from sklearn.svm import LinearSVC as Peer

    start = perf_counter()
    differences, sign = pairs_of(X, y, qid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = Peer(loss="hinge", fit_intercept=False, C=C / len(sign), tol=1e-3, max_iter=1000)
        peer.fit(differences, sign)
    return peer.coef_[0], perf_counter() - start, len(sign)


def queries(name: str, options: argparse.Namespace) -> list[dict]:
    d = ranking_data.QUERIES[name](datasets.data_folder(options.data))
    rows = []
    for C in (0.01, 1.0):
        common = {"C": C, "weighting": "pairs", "n_jobs": options.threads}
        ways = {
            way: timed(partial(RankSVM, method=way, **common), d.X, d.y, qid=d.qid) for way in ("auto", "oca", "cpa")
        }
        seconds = measure.alternate(ways, options.repeats, options.budget)
        model = ways["auto"].model
        w, peer_seconds, used = liblinear_on_pairs(d.X, d.y, d.qid, C * model.n_queries_)
        measures = {}
        for who, scores in (("ours", model.predict(d.X_test)), ("liblinear on pairs", d.X_test @ w)):
            measures[who] = {
                "ndcg@10": ndcg(d.y_test, scores, k=10, qid=d.qid_test),
                "map": mean_average_precision(d.y_test, scores, qid=d.qid_test),
                "pair_accuracy": pair_accuracy(d.y_test, scores, qid=d.qid_test),
            }
        rows.append(
            {
                "data": name,
                "C": C,
                "n": len(d.y),
                "pairs": model.n_pairs_,
                "seconds": seconds,
                "iterations": {way: call.model.n_iter_ for way, call in ways.items()},
                "gap": model.gap_,
                "peer": {"seconds": peer_seconds, "pairs": used},
                "test": measures,
                "svm_rank_elsewhere": SVM_RANK_MQ2008.get(C) if name == "mq2008" else None,
            }
        )
    return rows


def mean_absolute_errors(d: ranking_data.Ranked) -> dict[str, float]:
    """Of what scikit-learn offers for ordered classes: a regression rounded to classes, and a classifier."""
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(d.X)
    X, X_test = scaler.transform(d.X), scaler.transform(d.X_test)
    ridge = RidgeCV(np.logspace(-2, 4, 13)).fit(X, d.y)
    rounded = np.clip(np.rint(ridge.predict(X_test)), d.y.min(), d.y.max())
    logistic = LogisticRegression(max_iter=2000).fit(X, d.y)
    return {
        "ridge, rounded": float(np.abs(rounded - d.y_test).mean()),
        "logistic": float(np.abs(logistic.predict(X_test) - d.y_test).mean()),
    }


def ordinal(name: str, options: argparse.Namespace) -> dict:
    d = ranking_data.ordinal(datasets.data_folder(options.data), name)
    C = 1.0
    call = timed(lambda: OrdinalSVC(C=C, n_jobs=options.threads), d.X, d.y)
    seconds = measure.alternate({"auto": call}, options.repeats, options.budget)["auto"]
    few = np.arange(min(1500, len(d.y)))
    w, peer_seconds, used = liblinear_on_pairs(d.X[few], d.y[few], None, C * len(d.y))
    model = call.model
    return {
        "data": name,
        "n": len(d.y),
        "seconds": seconds,
        "iterations": model.n_iter_,
        "gap": model.gap_,
        "mean_absolute_error": float(np.abs(model.predict(d.X_test) - d.y_test).mean()),
        "peer_mean_absolute_error": mean_absolute_errors(d),
        "pair_accuracy": pair_accuracy(d.y_test, model.score_samples(d.X_test)),
        "peer": {"seconds": peer_seconds, "rows": len(few), "pairs": used},
        "peer_pair_accuracy": pair_accuracy(d.y_test, d.X_test @ w),
    }


def text(result: dict) -> str:
    parts = []
    if result.get("two"):
        rows = []
        for row in result["two"]:
            s = {name: measure.median(values) for name, values in row["seconds"].items()}
            estimate = row.get("svm_perf_estimate")
            rows.append(
                [
                    row["data"],
                    s["roc"],
                    s["hinge"],
                    s["roc"] / s["hinge"],
                    s.get("liblinear", row.get("missing", {}).get("LIBLINEAR")),
                    estimate,
                    estimate and estimate / s["roc"],
                    f"{s['oca']:.3g} ({row['oca']['iterations']})",
                    f"{s['cpa']:.3g} ({row['cpa']['iterations']})",
                ]
            )
        header = ["data", "roc_area s", "hinge s", "ratio", "LIBLINEAR hinge s", "SVM-perf here (estimate) s"]
        parts.append(measure.table([*header, "times ours", "OCA s (iterations)", "CPA s (iterations)"], rows))
    for part in result.get("growth", []):
        what = f"{part['levels']} ranks" if part["levels"] else "real targets"
        rows = [[row["n"], row["seconds"], row["fit"], row["iterations"], row["gap"]] for row in part["rows"]]
        table = measure.table(["n", "solver s", "fit s", "iterations", "gap"], rows)
        parts.append(f"Growth, {what}: n^{part['exponent']:.2f} from 100,000 rows on\n{table}")
    if result.get("queries"):
        rows = [
            [row["data"], row["C"], row["pairs"], *(measure.median(row["seconds"][w]) for w in ("auto", "oca", "cpa"))]
            + [row["iterations"]["oca"], row["iterations"]["cpa"], row["peer"]["seconds"]]
            + ["{} ({})".format(*row["svm_rank_elsewhere"]) if row.get("svm_rank_elsewhere") else None]
            + [row["test"][who][m] for m in ("ndcg@10", "pair_accuracy") for who in row["test"]]
            for row in result["queries"]
        ]
        header = ["data", "C", "pairs", "auto s", "OCA s", "CPA s", "OCA it.", "CPA it.", "LIBLINEAR on pairs s"]
        header += ["SVM-rank elsewhere s (it.)", "NDCG@10", "its NDCG@10", "pair acc.", "its pair acc."]
        parts.append(measure.table(header, rows))
    if result.get("ordinal"):
        rows = [
            [
                row["data"],
                row["n"],
                measure.median(row["seconds"]),
                row["gap"],
                row["mean_absolute_error"],
                *row["peer_mean_absolute_error"].values(),
                row["pair_accuracy"],
                row["peer"]["seconds"],
                row["peer_pair_accuracy"],
            ]
            for row in result["ordinal"]
        ]
        header = [
            "data",
            "n",
            "seconds",
            "gap",
            "test MAE",
            "ridge's",
            "logistic's",
            "test pair acc.",
            "LIBLINEAR on pairs s",
            "its pair acc.",
        ]
        parts.append(measure.table(header, rows))
    if result.get("dlib"):
        parts.append(dlib_peer.table(result["dlib"]))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    parser.add_argument("--cache", default=datasets.DEFAULT_CACHE, help="folder of the parsed data (%(default)s)")
    parser.add_argument("--parts", default="two,growth,queries,ordinal,dlib", help="comma-separated (%(default)s)")
    parser.add_argument("--sizes", type=lambda t: tuple(map(int, t.split(","))), default=SIZES, help="of growth")
    parser.add_argument("--repeats", type=int, default=3, help="alternating timings (%(default)s)")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of alternating per cell (%(default)s)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=measure.RESULTS / "ranking.json", help="JSON file (%(default)s)")
    options = parser.parse_args()
    # Parts of an earlier run are kept where others are asked for.
    result = json.loads(options.out.read_text()) if options.out.exists() else {}
    packages = ("cutplane", "numpy", "scipy", "scikit-learn", "liblinear-official")
    result |= {"machine": measure.machine(packages), "threads": options.threads, "peers": {"dlib": dlib_peer.version()}}
    steps = {
        "two": lambda: [two_ranks(name, options) for name in ("covtype", "mnist")],
        "growth": lambda: [growth(levels, options) for levels in (2, 5, 0)],
        "queries": lambda: [row for name in ranking_data.QUERIES for row in queries(name, options)],
        "ordinal": lambda: [ordinal(name, options) for name in ranking_data.ORDINAL],
        "dlib": lambda: [] if dlib_peer.MISSING else dlib_peer.measure_all(options),
    }
    for part in options.parts.split(","):
        result[part] = steps[part]()
        measure.write_json(options.out, result)
    print(text(result))


if __name__ == "__main__":
    main()
