"""``python -m cutplane.testing tables``: made tables, as raw as those of users, that linear estimators must prove.

Features of any scale, repeated rows, rare classes, outliers, one-hot codes, constant and doubled columns; wide and
long, dense and CSR. Each estimator is fitted with its defaults and with a tolerance of 1e-8.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression

import cutplane

Array = NDArray[np.float64]

#: Seconds that a fit may take whatever the peer takes, and times the peer's seconds.
SECONDS, TIMES = 2.0, 3.0
#: What must be proven, and what is asked for besides.
PROVEN, CLOSE = 1e-3, 1e-8


class Table(NamedTuple):
    """Rows, classes and targets; `name` says what is special about them."""

    name: str
    X: Any
    classes: NDArray[np.int64]
    targets: Array


class Finding(NamedTuple):
    """A fit that broke a promise."""

    table: str
    estimator: str
    what: str


def draw(seed: int) -> Table:
    """A made table: what is special about it depends on the seed alone."""
    rng = np.random.default_rng(seed)
    n, d = [(60, 3000), (200, 400), (2000, 30), (8000, 8), (20_000, 3)][seed % 5]
    k = int(rng.choice([2, 2, 3, 5]))
    shares = rng.dirichlet(np.full(k, rng.choice([0.3, 20.0])))
    classes = rng.choice(k, n, p=shares).astype(np.int64)
    classes[: 2 * k] = np.repeat(np.arange(k), 2)
    signal = rng.choice([0.1, 1.0, 5.0])
    X = rng.standard_t(3, (n, d)) + signal * rng.normal(size=(k, d))[classes] / np.sqrt(min(d, 10))
    special = [name for name in _CHANGES if rng.random() < 0.35]
    for name in special:
        X = _CHANGES[name](rng, X)
    if "repeats" in special:
        classes = classes[np.arange(n) % max(2 * k, n // 20)]
    weights = rng.normal(size=X.shape[1]) / np.maximum(np.abs(X).max(axis=0), 1e-300)
    targets = X @ weights + rng.normal(size=n)
    sparse = bool(rng.random() < 0.4)
    name = f"{seed}: {n} x {X.shape[1]}, {k} classes, {'CSR' if sparse else 'dense'}, {', '.join(special) or 'plain'}"
    return Table(name, sp.csr_array(X) if sparse else X, classes, targets)


def _one_hot(rng: np.random.Generator, X: Array) -> Array:
    """Some columns as codes of their quantiles."""
    cuts = np.quantile(X[:, 0], [0.2, 0.5, 0.7, 0.95])
    return np.column_stack([np.eye(5)[np.searchsorted(cuts, X[:, 0])], X[:, 1:]])


def _outliers(rng: np.random.Generator, X: Array) -> Array:
    return np.where(rng.random(X.shape) < 1e-3, 100.0 * X, X)


_CHANGES: dict[str, Callable[[np.random.Generator, Array], Array]] = {
    "scales": lambda rng, X: X * 10.0 ** rng.uniform(-2, 4, X.shape[1]),
    "offsets": lambda rng, X: X + np.abs(X).max(axis=0) * rng.normal(0, 3, X.shape[1]),
    "outliers": _outliers,
    "integers": lambda rng, X: np.rint(100.0 * X),
    "one-hot": _one_hot,
    "constant": lambda rng, X: np.column_stack([X, np.full(len(X), rng.choice([0.0, 1.0, 1e4]))]),
    "doubled": lambda rng, X: np.column_stack([X, X[:, :3]]),
    "repeats": lambda rng, X: X[np.arange(len(X)) % max(20, len(X) // 20)],
}


def estimators(table: Table) -> Iterator[tuple[str, Any, tuple[Any, ...], Any]]:
    """Names, estimators, what they are fitted on, and peers of scikit-learn's with the same objective."""
    of_classes, of_targets = (table.X, table.classes), (table.X, table.targets)
    for loss in ("hinge", "squared_hinge", "logistic"):
        yield f"LinearSVC {loss}", cutplane.LinearSVC(loss=loss), of_classes, None
    yield "LinearSVC together", cutplane.LinearSVC(multi_class="crammer_singer"), of_classes, None
    yield "LogisticRegression", cutplane.LogisticRegression(), of_classes, TheirLogisticRegression(max_iter=5000)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        yield f"LinearSVR {loss}", cutplane.LinearSVR(loss=loss), of_targets, None
    yield "LinearOneClassSVM", cutplane.LinearOneClassSVM(nu=0.1), (table.X,), None
    yield "OrdinalSVC", cutplane.OrdinalSVC(), of_classes, None
    yield "RankSVM", cutplane.RankSVM(), of_targets, None


def _fitted(estimator: Any, given: tuple[Any, ...]) -> tuple[float, float, str]:
    """Seconds, the gap that is proven, and why training ended."""
    began = time.perf_counter()
    model = estimator.fit(*given)
    return time.perf_counter() - began, float(np.max(model.gap_)), str(model.stop_reason_)


def judged(table: Table) -> Iterator[Finding]:
    """What every estimator does that it should not."""
    for name, estimator, given, peer in estimators(table):
        began = time.perf_counter()
        if peer is not None:
            peer.fit(*given)
        allowed = max(SECONDS, TIMES * (time.perf_counter() - began))
        seconds, gap, reason = _fitted(estimator.set_params(time_limit=5.0 * allowed), given)
        if not gap <= PROVEN:
            yield Finding(table.name, name, f"gap {gap:.1e} ({reason}) after {seconds:.1f} s")
        elif seconds > allowed:
            yield Finding(table.name, name, f"{seconds:.1f} s instead of {allowed:.1f}")
        _, closer, reason = _fitted(estimator.set_params(tol=CLOSE, time_limit=max(allowed, seconds)), given)
        if closer > max(gap, PROVEN):
            yield Finding(table.name, name, f"asked for {CLOSE:g}: gap {closer:.1e} ({reason}) instead of {gap:.1e}")


def main(arguments: Sequence[str]) -> int:
    """Judge tables; 1 if any estimator broke a promise."""
    parser = argparse.ArgumentParser("python -m cutplane.testing tables", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="tables to make (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the first of their seeds (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    found = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(chosen.seed, chosen.seed + chosen.count):
            for finding in judged(draw(seed)):
                found += 1
                print(" | ".join(finding), flush=True)
    print(f"{found} findings in {chosen.count} tables")
    return int(found > 0)
