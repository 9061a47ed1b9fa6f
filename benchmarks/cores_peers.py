"""Peers on rows by the million, for `cores.py`: they have one thread each, and their tolerances are not proven."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from cutplane import LinearSVC

LIBLINEAR_TOLS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
SGD_TOLS = (1e-2, 1e-3, 1e-4)
TENTH = 10


def measure_peers(X: np.ndarray, y: np.ndarray, C: float, options: argparse.Namespace) -> list[dict]:
    """Each at the loosest of its tolerances that ends within 1e-3 of the optimum, or its nearest within --limit."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC as Peer

    if options.sets and "peers" not in options.sets:
        return []
    X_tenth, y_tenth = np.ascontiguousarray(X[::TENTH]), y[::TENTH]
    few = {"C": C, "fit_intercept": False, "loss": "hinge", "random_state": 0}
    trained = (Peer(tol=tol, max_iter=1000, **few) for tol in LIBLINEAR_TOLS)
    rest = {"alpha": 1.0 / (C * len(y_tenth)), "fit_intercept": False, "random_state": 0}
    stochastic = (SGDClassifier(tol=tol, **rest) for tol in SGD_TOLS)
    return [
        _row("LIBLINEAR, a tenth of the rows, times ten", trained, X_tenth, y_tenth, C, TENTH, options),
        _row("SGDClassifier, a tenth of the rows, times ten", stochastic, X_tenth, y_tenth, C, TENTH, options),
    ]


def _row(
    what: str,
    models: Iterator[Any],
    X: np.ndarray,
    y: np.ndarray,
    C: float,
    times: int,
    options: argparse.Namespace,
) -> dict:
    ours = LinearSVC(C=C, fit_intercept=False, tol=1e-4, n_jobs=max(options.threads)).fit(X, y)
    start, row = perf_counter(), {"data": "peers", "what": what, "peer": True}
    for model in models:
        begin = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of limits that were met
            model.fit(X, y)
        spent = perf_counter() - begin
        above = objective(X, y, model.coef_.ravel(), C) / ours.lower_bound_ - 1.0
        row |= {"seconds": {"1": times * spent}, "above": above, "tol": model.tol}
        print(row, flush=True)
        if above <= 1e-3 or perf_counter() - start + spent > options.limit:
            break
    return row


def objective(X: np.ndarray, y: np.ndarray, w: np.ndarray, C: float) -> float:
    """½|w|² + C·Σ hinge, some rows at a time."""
    pieces = (slice(begin, begin + (1 << 20)) for begin in range(0, len(y), 1 << 20))
    losses = (np.maximum(0.0, 1.0 - y[part] * (X[part] @ w)).sum() for part in pieces)
    return float(0.5 * w @ w + C * sum(losses))
