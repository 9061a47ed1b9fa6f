"""Fits on a cluster beside Spark's LinearSVC and dask-ml's LogisticRegression, on the same workers of this machine.

    python benchmarks/cluster_peers.py --rows 400_000 --workers 2

Rows lie in the memory of the workers before the clock starts, Spark's cached, dask-ml's persisted. A peer has no proof,
so its time is that of the fewest iterations (of 5, 10, 20, 50, 100, 200) with which its objective comes within
1e-3 of our proven lower bound, if any do. pip install pyspark dask-ml, and a Java.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from dask.distributed import Client, LocalCluster, wait

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measure
from benchmarks.cluster import COLUMNS, labels_of, rows_of
from cutplane import LinearSVC

REPRODUCES = ""
PARTS = 8
ITERATIONS = (5, 10, 20, 50, 100, 200)
CLOSE = 1e-3
PATIENCE = 90.0  # seconds for the iterations of one peer


def objective(w: np.ndarray, intercept: float, X: np.ndarray, y: np.ndarray, C: float, loss: str) -> float:
    margins = np.where(y > 0, 1.0, -1.0) * (X @ w + intercept)
    losses = np.maximum(0.0, 1.0 - margins) if loss == "hinge" else np.logaddexp(0.0, -margins)
    return 0.5 * float(w @ w) + C * float(losses.sum())


def close_enough(fit, X, y, C: float, loss: str, lower: float, repeats: int) -> dict:
    """Seconds of the fewest iterations that arrive; `fit(iterations)` gives weights, intercept and seconds."""
    began = time.perf_counter()
    for iterations in ITERATIONS:
        if time.perf_counter() - began > PATIENCE:
            break
        w, intercept, seconds = fit(iterations)
        reached = objective(w, intercept, X, y, C, loss)
        print(f"    {iterations} iterations: {seconds:.2f} s, {reached / lower - 1.0:.1e} above the bound", flush=True)
        if reached <= lower * (1.0 + CLOSE):
            more = [fit(iterations)[2] for _ in range(repeats - 1)]
            return {"iterations": iterations, "seconds": [seconds, *more], "above": reached / lower - 1.0}
    return {"iterations": None, "seconds": [], "above": reached / lower - 1.0}


def spark(X: np.ndarray, y: np.ndarray, C: float, lower: float, workers: int, repeats: int) -> dict:
    import pandas as pd
    from pyspark.ml.classification import LinearSVC as SparkSVC
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.driver.memory", "8g")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    try:
        names = [f"x{k}" for k in range(COLUMNS)]
        with tempfile.TemporaryDirectory() as folder:
            pd.DataFrame(X, columns=names).assign(label=y.astype(float)).to_parquet(f"{folder}/rows.parquet")
            table = session.read.parquet(folder).repartition(PARTS)
            rows = VectorAssembler(inputCols=names, outputCol="features").transform(table)
            rows = rows.select("features", "label").cache()
            rows.count()

            def fit(iterations: int) -> tuple[np.ndarray, float, float]:
                machine = SparkSVC(
                    maxIter=iterations, regParam=1.0 / (C * len(y)), tol=0.0, standardization=False, threshold=0.0
                )
                began = time.perf_counter()
                model = machine.fit(rows)
                return model.coefficients.toArray(), float(model.intercept), time.perf_counter() - began

            fit(2)  # compiles
            return close_enough(fit, X, y, C, "hinge", lower, repeats)
    finally:
        session.stop()


def dask_ml(X: np.ndarray, y: np.ndarray, rows, labels, C: float, lower: float, repeats: int) -> dict:
    from dask_ml.linear_model import LogisticRegression

    found = {}
    for solver in ("lbfgs",):  # "newton" leaves the penalty out, "admm" does not arrive
        print(f"  dask-ml, {solver}", flush=True)

        def fit(iterations: int, solver: str = solver) -> tuple[np.ndarray, float, float]:
            model = LogisticRegression(C=C, solver=solver, max_iter=iterations, tol=0.0, fit_intercept=False)
            began = time.perf_counter()
            model.fit(rows, labels)
            return np.ravel(model.coef_), 0.0, time.perf_counter() - began

        try:
            found[solver] = close_enough(fit, X, y, C, "logistic", lower, repeats)
        except Exception as error:  # what a peer cannot do is a finding
            found[solver] = {"error": f"{type(error).__name__}: {error}"[:200]}
            print("   ", found[solver]["error"], flush=True)
    return found


def ours(rows, labels, repeats: int, **params: object) -> tuple[LinearSVC, list[float]]:
    model = LinearSVC(**params)
    return model, [measure.fit_seconds(model, rows, labels) for _ in range(repeats)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="not needed: the rows are made")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--C", type=float, default=1e-4)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="JSON file (default: among the results)")
    options = parser.parse_args()
    import dask.array as da

    each = options.rows // PARTS
    parts = [rows_of(k, each) for k in range(PARTS)]
    targets = [labels_of(part, k) for k, part in enumerate(parts)]
    X, y = np.concatenate(parts), np.concatenate(targets)
    result: dict = {"rows": len(X), "workers": options.workers, "C": options.C}
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster),
    ):
        rows, labels = da.from_array(X, chunks=(each, COLUMNS)).persist(), da.from_array(y, chunks=each).persist()
        wait([rows, labels])
        hinge, seconds = ours(rows, labels, options.repeats, C=options.C)
        logistic, seconds_logistic = ours(
            rows, labels, options.repeats, C=options.C, loss="logistic", fit_intercept=False
        )
        result["hinge"] = {"seconds": seconds, "gap": hinge.gap_}
        result["logistic"] = {"seconds": seconds_logistic, "gap": logistic.gap_}
        print(f"ours: hinge {measure.median(seconds):.2f} s, logistic {measure.median(seconds_logistic):.2f} s")
        result["dask-ml"] = dask_ml(X, y, rows, labels, options.C, logistic.lower_bound_, options.repeats)
    print("  Spark", flush=True)
    result["spark"] = spark(X, y, options.C, hinge.lower_bound_, options.workers, options.repeats)
    result["machine"] = measure.machine()
    measure.write_json(options.out or measure.RESULTS / "cluster_peers.json", result)


if __name__ == "__main__":
    main()
