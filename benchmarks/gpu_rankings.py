"""Rankings on a GPU: pairs of different rank among 20 million rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.gpu_data import covtype, cupy
from benchmarks.gpu_rows import fit_row
from cutplane import LinearSVC, OrdinalSVC, RankSVM

CS = (0.0003, 0.03, 0.3)
#: Rows of a query, in the mean.
SIZES = (10, 100, 10_000)


def measure_rankings(options) -> list[dict]:
    """Two ranks, queries, five ordered classes; on the host one of each."""
    xp, (X, y) = cupy(), covtype(options)
    rows, labels, n = xp.asnumpy(X), xp.asnumpy(y), len(y)
    name, row = f"covtype, {n:,} rows", partial(fit_row, options=options, budget=10.0)
    found = []
    for C in CS:
        model = LinearSVC(C=C, loss="roc_area", fit_intercept=False)
        found.append(row(name, f"ROC area, C = {C:g}", model, (X, y), (rows, labels) if CS[1] == C else None))
    free = LinearSVC(C=CS[1], loss="roc_area")
    found.append(row(name, f"ROC area, C = {CS[1]:g}, intercept", free, (X, y), None))
    for size in SIZES:
        qid = xp.random.RandomState(1).randint(0, n // size, n)
        here = (rows, labels, None, xp.asnumpy(qid)) if size == SIZES[1] else None
        found.append(row(name, f"queries of {size:,} rows", RankSVM(C=CS[1] * size), (X, y, None, qid), here))
    noisy = X @ xp.random.RandomState(2).standard_normal(X.shape[1], dtype=np.float32)
    noisy += noisy.std() * xp.random.RandomState(3).standard_normal(n, dtype=np.float32)
    grades = xp.searchsorted(xp.quantile(noisy[:100_000], xp.linspace(0.2, 0.8, 4)), noisy).astype(np.int8)
    here = rows, xp.asnumpy(grades)
    return [*found, row(name, "five ordered classes", OrdinalSVC(C=CS[1]), (X, grades), here)]
