"""Small data, where what surrounds training counts: 500 x 5, digits in five folds, one example of each class."""

from __future__ import annotations

import warnings
from functools import partial
from time import perf_counter

import numpy as np

from benchmarks import measure

SETTINGS = {"hinge": {"loss": "hinge"}, "squared_hinge": {"loss": "squared_hinge"}}
# Calls of which the median counts: a fit takes about a millisecond.
REPEATS = 51


def small_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Examples and labels."""
    from sklearn.datasets import load_digits

    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 5))
    y = (X @ generator.normal(size=5) + 0.5 * generator.normal(size=500) > 0.0).astype(int)
    return {
        "2 x 1": (np.array([[-1.0], [1.0]]), np.array([0, 1])),
        "500 x 5": (X, y),
        "digits": load_digits(return_X_y=True),
    }


def _folds(model, X: np.ndarray, y: np.ndarray) -> float:
    from sklearn.model_selection import cross_val_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        cross_val_score(model, X, y, cv=5)
        return perf_counter() - start


def measure_small(options) -> list[dict]:
    """Default calls, both by the whole of `fit`; digits in the five folds of `cross_val_score`."""
    from sklearn.svm import LinearSVC as Theirs

    from cutplane import LinearSVC

    rows = []
    for name, (X, y) in small_sets().items():
        way = _folds if name == "digits" else measure.fit_seconds
        for loss, given in SETTINGS.items():
            models = {"ours": LinearSVC(**given), "scikit-learn": Theirs(**given, random_state=0)}
            calls = {who: partial(way, model, X, y) for who, model in models.items()}
            repeats = options.repeats if name == "digits" else REPEATS
            seconds = measure.alternate(calls, repeats, options.budget)
            medians = {who: measure.median(found) for who, found in seconds.items()}
            ratio = medians["scikit-learn"] / medians["ours"]
            rows.append({"data": name, "loss": loss, "seconds": medians, "ratio": ratio})
            print(rows[-1], flush=True)
    return rows
