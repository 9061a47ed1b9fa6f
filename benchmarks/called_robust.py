"""Huber's loss and quantiles beside ReHLine, which takes dense examples."""

from __future__ import annotations

import numpy as np

from benchmarks import measure, peers
from benchmarks.called_data import load
from benchmarks.measure import fit_seconds

SETS = ("a9a", "w8a", "mnist", "covtype")
THEIRS = {"huber": {"name": "huber", "tau": 1.0}, "quantile": {"name": "QR", "qt": 0.5}}
TOLERANCES = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5)


def losses_of(name: str, y: np.ndarray):
    """The sum of the losses of scores."""

    def huber(scores: np.ndarray) -> float:
        off = np.abs(scores - y)
        return float(np.where(off <= 1.0, 0.5 * off**2, off - 0.5).sum())

    return huber if name == "huber" else lambda scores: float(0.5 * np.abs(scores - y).sum())


def measure_robust(options) -> list[dict]:
    """Both without an intercept, by the whole of `fit` on the same dense array."""
    rows = []
    for name in options.sets or SETS:
        X, _, y = load(name, options.data, options.cache)
        dense = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        for loss in THEIRS:
            for C in options.Cs:
                rows.append({"data": name, "loss": loss, "C": C, **_cell(dense, y, loss, C, options)})
                print(rows[-1], flush=True)
    return rows


def _cell(X: np.ndarray, y: np.ndarray, loss: str, C: float, options) -> dict:
    from cutplane import LinearSVR

    ours = LinearSVR(C, loss=loss, fit_intercept=False, time_limit=options.limit, n_jobs=options.threads)
    fit_seconds(ours, X, y)
    theirs, last = _arriving(X, y, loss, C, ours.objective_ * (1.0 + peers.ARRIVED), options.limit)
    calls = {"ours": lambda: fit_seconds(ours, X, y)}
    if theirs is not None:
        calls["ReHLine"] = lambda: fit_seconds(theirs, X, y)
    seconds = measure.alternate(calls, options.repeats, options.budget)
    medians = {who: measure.median(found) for who, found in seconds.items()}
    return {
        "seconds": medians,
        "gap": ours.gap_,
        "theirs_at_least": None if theirs is not None else last,
        "ratio": None if theirs is None else medians["ReHLine"] / medians["ours"],
    }


def _arriving(X: np.ndarray, y: np.ndarray, loss: str, C: float, target: float, limit: float):
    """ReHLine at the loosest tolerance that ends at or below the target, or None; and the seconds of the last one."""
    from rehline import plqERM_Ridge

    total, seconds = losses_of(loss, y), 0.0
    for tolerance in TOLERANCES:
        model = plqERM_Ridge(loss=THEIRS[loss], C=C, tol=tolerance, max_iter=100_000)
        seconds = fit_seconds(model, X, y)
        if 0.5 * model.coef_ @ model.coef_ + C * total(X @ model.coef_) <= target:
            return model, seconds
        if seconds > limit:
            break
    return None, seconds
