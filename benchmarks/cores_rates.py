"""What a machine can do with so many threads, and how near our passes come to it: for `cores.py`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks import cores_data, measure
from cutplane.sources import as_source

WIDTH, MEGABYTES, QUICK_MEGABYTES = 54, 2000, 40
#: Of the rows, drawn at random: scored where they lie, and copied.
SAMPLE = 0.1
TEXT_ROWS = 100_000


def seconds(call: Callable[[], object]) -> float:
    """Of a call."""
    start = perf_counter()
    call()
    return perf_counter() - start


def copies(options: argparse.Namespace) -> dict[str, float]:
    """GB read and written a second by a copy, by the number of threads."""
    made = {str(threads): measure.Copy(threads, 64 if options.quick else 1024) for threads in options.threads}
    found = measure.alternate(made, 5)
    return {threads: 1e-9 * made[threads].nbytes / measure.median(each) for threads, each in found.items()}


def products(options: argparse.Namespace, features: int = 784) -> dict[str, float]:
    """Billions of operations a second of the BLAS in single precision, by the number of threads."""
    n = 2000 if options.quick else 12_000
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((n, features), dtype=np.float32) for _ in range(2))
    out = np.empty((n, n), np.float32)

    def multiply(threads: int) -> float:
        with threadpool_limits(threads, user_api="blas"):
            return seconds(partial(np.matmul, A, B.T, out=out))

    found = measure.alternate({str(threads): partial(multiply, threads) for threads in options.threads}, 5)
    return {threads: 2e-9 * n * n * features / measure.median(each) for threads, each in found.items()}


def _types() -> dict[str, Any]:
    types: dict[str, Any] = {"float32": np.float32, "float64": np.float64, "float16": np.float16}
    try:
        import ml_dtypes
    except ImportError:
        return types
    return types | {"bfloat16": ml_dtypes.bfloat16}


def matrices(options: argparse.Namespace) -> dict[str, Any]:
    """Arrays that fit no cache, of as many bytes each."""
    size = (QUICK_MEGABYTES if options.quick else MEGABYTES) * 10**6
    rng, made = np.random.default_rng(0), {}
    for name, kind in _types().items():
        X = np.empty((size // WIDTH // np.dtype(kind).itemsize, WIDTH), kind)
        some = rng.standard_normal((1 << 14, WIDTH)).astype(kind)
        for begin in range(0, len(X), len(some)):
            X[begin : begin + len(some)] = some[: len(X) - begin]
        made[name] = X
    rows = size // (8 * 75)
    some = cores_data.text(min(rows, TEXT_ROWS), 50_000, 75, 2)[0]
    made["CSR"] = sp.vstack([some] * (rows // some.shape[0]), "csr")
    return made


def nbytes(X: Any) -> int:
    """Of a matrix, dense or CSR."""
    return X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def passes(X: Any, threads: int) -> dict[str, tuple[Callable[[], object], float]]:
    """Each kind of pass, and the bytes that it must read and write."""
    source, rng, size = as_source(X, n_threads=threads), np.random.default_rng(0), nbytes(X)
    w, coef = rng.standard_normal(X.shape[1]), rng.standard_normal(X.shape[0])
    rows = np.sort(rng.choice(X.shape[0], int(SAMPLE * X.shape[0]), replace=False))
    return {
        "scores": (partial(source.scores, w), size),
        "combine": (partial(source.combine, coef), size),
        "extent": (partial(source.core.extent, True, threads), size),
        "sample": (lambda: source.take(rows).scores(w), SAMPLE * size),
        "gather": (partial(source.gathered, rows), 2 * SAMPLE * size),
    }


def measure_passes(options: argparse.Namespace) -> list[dict]:
    """Every pass at every number of threads, in bytes a second."""
    rates, rows = copies(options), []
    for name, X in matrices(options).items():
        if options.sets and name not in options.sets:
            continue
        calls = {threads: passes(X, threads) for threads in options.threads}
        for way, (_, size) in calls[options.threads[0]].items():
            timed = {str(threads): partial(seconds, calls[threads][way][0]) for threads in options.threads}
            found = measure.alternate(timed, options.repeats, options.budget)
            medians = {threads: measure.median(each) for threads, each in found.items()}
            rows.append({"data": name, "what": f"{X.shape[0]:,} x {X.shape[1]:,}, {way}", "seconds": medians})
            rows[-1] |= {"work": size, "floor": "copy", "floor_rate": rates}
            print(rows[-1], flush=True)
    return rows
