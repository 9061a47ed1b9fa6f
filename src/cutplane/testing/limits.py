"""Limits of time and Ctrl-C, played: how late a fit ends, and how good the model is that it returns."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

import cutplane
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import MulticlassModel

#: Estimators by what they learn from; each takes `time_limit`.
ESTIMATORS: dict[str, tuple[str, Callable[..., Any]]] = {
    "LinearSVC": ("classes", cutplane.LinearSVC),
    "LinearSVC squared hinge": ("classes", lambda **s: cutplane.LinearSVC(loss="squared_hinge", **s)),
    "LinearSVC tol=1e-9": ("classes", lambda **s: cutplane.LinearSVC(tol=1e-9, **s)),
    "LinearSVC crammer_singer": ("classes", lambda **s: cutplane.LinearSVC(multi_class="crammer_singer", **s)),
    "LogisticRegression": ("classes", cutplane.LogisticRegression),
    "LinearSVCCV": ("classes", cutplane.LinearSVCCV),
    "LogisticRegressionCV": ("classes", cutplane.LogisticRegressionCV),
    "SVC": ("classes", cutplane.SVC),
    "NuSVC": ("classes", lambda **s: cutplane.NuSVC(nu=0.01, **s)),
    "SampledCutSVC": ("two", cutplane.SampledCutSVC),
    "StructuralSVM": ("few", lambda **s: cutplane.StructuralSVM(MulticlassModel(range(8)), **s)),
    "OrdinalSVC": ("few", cutplane.OrdinalSVC),
    "LinearSVR": ("targets", cutplane.LinearSVR),
    "LinearSVRCV": ("targets", cutplane.LinearSVRCV),
    "SVR": ("targets", cutplane.SVR),
    "NuSVR": ("targets", cutplane.NuSVR),
    "RankSVM": ("targets", lambda **s: cutplane.RankSVM(method="newton", **s)),
    "LinearOneClassSVM": ("rows", cutplane.LinearOneClassSVM),
    "OneClassSVM": ("rows", cutplane.OneClassSVM),
    "StringSVC": ("strings", cutplane.StringSVC),
    "SequenceSVM": ("sequences", cutplane.SequenceSVM),
    "StructuralSVM of chains": ("chains", lambda **s: cutplane.StructuralSVM(ChainModel(6, 12), **s)),
}
KINDS = ("dense", "text", "one-hot", "raw")


class Fit(NamedTuple):
    """One fit that was ended early: by a limit, or by Ctrl-C after so many seconds."""

    estimator: str
    data: str
    seconds: float
    ended_by: str
    late: float
    reason: str
    score: float | None
    beside: float | None

    @property
    def allowed(self) -> float:
        """How late it may be."""
        return max(0.3, 0.1 * self.seconds)


def table(generator: np.random.Generator, kind: str, n: int, d: int, classes: int) -> tuple[Any, Any]:
    """Examples of a kind, and their classes."""
    y = generator.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    if kind in ("text", "one-hot"):
        each = 40 if kind == "text" else 8
        common = (d * generator.random((n, each)) ** 4).astype(np.int64)
        own = (y[:, None] * 7919 + generator.integers(30, size=(n, each))) % d
        columns = np.where(generator.random((n, each)) < 0.2, own, common)
        values = np.full(n * each, each**-0.5)
        return sp.csr_matrix((values, columns.ravel(), np.arange(0, n * each + 1, each)), shape=(n, d)), y
    d = min(d, 300)
    X = generator.normal(size=(classes, d))[y] + 3.0 * generator.normal(size=(n, d))
    return (X if kind == "dense" else np.exp(0.3 * X) * 10.0 ** generator.uniform(-2, 4, d)), y


def examples(generator: np.random.Generator, wants: str, n: int) -> tuple[str, Any, Any]:
    """What an estimator learns from, and what to call it."""
    kind = str(generator.choice(KINDS))
    classes = {"classes": int(np.exp(generator.uniform(np.log(2), np.log(200)))), "few": 8}.get(wants, 2)
    d = int(10.0 ** generator.uniform(0.3, 5.0))
    if wants in ("sequences", "chains"):
        labels = [generator.integers(6, size=30) for _ in range(n // 50)]
        rows = [np.eye(6, 12)[y] + generator.normal(size=(30, 12)) for y in labels]
        return f"{wants}, {n // 50}", rows, labels
    if wants == "strings":
        letters = np.array(list("ACGT"))
        y = generator.integers(2, size=n // 10)
        strings = ["".join(letters[generator.integers(4, size=60)]) + ("ACGTACGT", "TTTTTTTT")[k] for k in y]
        return f"strings, {n // 10}", strings, y
    X, y = table(generator, kind, n, d, classes)
    name = f"{kind}, {X.shape[0]} x {X.shape[1]}, {classes} classes"
    if wants == "rows":
        return name, X, None
    return name, X, y if wants in ("classes", "two", "few") else y + generator.normal(size=n)


def play(generator: np.random.Generator, name: str, *, n: int, beside: bool) -> Fit:
    """Fit within a random limit, or with a signal at a random time; `beside` also fits without one, and SGD."""
    wants, make = ESTIMATORS[name]
    data, X, y = examples(generator, wants, n)
    seconds = float(np.exp(generator.uniform(np.log(0.05), np.log(5.0))))
    ended_by = str(generator.choice(["limit", "signal"]))
    model = make(time_limit=seconds) if ended_by == "limit" else make()
    struck = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    reason = "KeyboardInterrupt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        try:
            if ended_by == "signal":
                struck.start()
            model.fit(X) if y is None else model.fit(X, y)
            reason = str(model.stop_reason_)
        except KeyboardInterrupt:
            pass
        finally:
            late = time.perf_counter() - begin - seconds
            struck.cancel()
        rated = wants == "classes" and reason != "KeyboardInterrupt"
        score = float(model.score(X, y)) if rated else None
        others: float | None = None
        if rated and beside:
            others = max(float(make().fit(X, y).score(X, y)), _sgd(X, y, seconds))
    return Fit(name, data, seconds, ended_by, late, reason, score, others)


def _sgd(X: Any, y: Any, seconds: float) -> float:
    """The accuracy that scikit-learn's SGD reaches in this time, to the epoch."""
    other, begin, classes = SGDClassifier(random_state=0), time.perf_counter(), np.unique(y)
    while time.perf_counter() - begin < seconds:
        other.partial_fit(X, y, classes=classes)
    return float(other.score(X, y))


def main(arguments: Sequence[str] | None = None) -> int:
    """Play for as long as was asked; the exit code is 1 where a fit was later than allowed times `--times`."""
    parser = argparse.ArgumentParser(prog="python -m cutplane.testing limits", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--examples", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--times", type=float, default=1.0, help="a busy machine is allowed more")
    parser.add_argument("--beside", action="store_true", help="compare with fits without a limit, and with SGD")
    parser.add_argument("--only", default="", help="estimators whose name begins so")
    asked = parser.parse_args(arguments)
    generator, end, fits = np.random.default_rng(asked.seed), time.perf_counter() + asked.seconds, list[Fit]()
    names = [name for name in ESTIMATORS if name.startswith(asked.only)]
    while time.perf_counter() < end:
        fits.append(play(generator, str(generator.choice(names)), n=asked.examples, beside=asked.beside))
    fits.sort(key=lambda fit: fit.allowed - fit.late)
    for fit in fits[:10]:
        rates = "" if fit.score is None else f", accuracy {fit.score:.3f}"
        rates += "" if fit.beside is None else f" beside {fit.beside:.3f}"
        print(
            f"{fit.late:+.2f} s after {fit.ended_by} {fit.seconds:.2f}: {fit.estimator}, {fit.data}: {fit.reason}"
            + rates
        )
    lost = [fit.beside - fit.score for fit in fits if fit.beside is not None and fit.score is not None]
    worst = f"; accuracy lost: {np.mean(lost):.3f} on average, {max(lost):.3f} at most" if lost else ""
    print(f"{len(fits)} fits{worst}")
    return int(any(fit.late > asked.times * fit.allowed for fit in fits))
