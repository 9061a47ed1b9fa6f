"""How late fits end that have a time limit: over estimators, methods, sizes and limits.

Two passes over the data, or 0.2 s where those are quicker, is what a fit may need to end: one step that is under way,
and the proof of what was reached. A pass is an evaluation of the objective and a plane, as in an iteration of cutting
planes, no search for the best intercepts; of several problems, one for each. `python -m tests.faults late` prints a
line for every case, the latest last.

Fits have one thread, and the clock is that of the processor: what else a machine is busy with does not count.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from cutplane import (
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    OrdinalSVC,
    RankSVM,
    SequenceSVM,
    StringSVC,
    StructuralSVM,
)
from cutplane._runtime.deadline import deadline
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.structured.classes import MulticlassModel

LIMITS = (0.01, 0.1, 0.5, 2.0)
ALLOWED, PASSES = 0.2, 2.0
METHODS = ("auto", "newton", "oca", "cpa")
HARD: dict[str, Any] = {"C": 10.0, "tol": 1e-10, "n_jobs": 1}


class Case(NamedTuple):
    """A fit: what it is called, its estimator, its examples, and how many problems there are, if not one a class."""

    name: str
    model: Any
    examples: tuple[Any, ...]
    times: int = 1
    fit: str = "fit"

    def seconds_of_a_pass(self) -> float:
        """By an iteration of plain cutting planes: all but its small QP, and no search for the best intercepts."""
        model = clone(self.model).set_params(max_iter=3)
        methods = ("cpa",) if isinstance(model, LinearModel) else ("one-slack",)
        with deadline(0.0):
            plain = model.set_params(method=methods[0]).fit(*self.examples[:2])
        phases = [each.history[min(1, len(each.history) - 1)].phases for each in plain.certificates_]
        return self.times * sum(seconds for each in phases for name, seconds in each.items() if name != "qp")


class Late(NamedTuple):
    """How a fit kept its limit."""

    name: str
    limit: float
    took: float
    a_pass: float

    @property
    def late(self) -> float:
        """Seconds beyond the limit."""
        return self.took - self.limit

    @property
    def allowed(self) -> float:
        """Seconds that it may be late."""
        return max(ALLOWED, PASSES * self.a_pass)

    def __str__(self) -> str:
        mark = "" if self.late <= self.allowed else "  TOO LATE"
        passes = self.late / self.a_pass
        lateness = f"late {self.late:7.3f} s = {passes:6.1f} passes"
        return f"{self.name:44} limit {self.limit:5.2f}  {lateness}  allowed {self.allowed:6.3f} s{mark}"


def matrices(scale: float) -> dict[str, Any]:
    """Many rows, many features, both, and sparse and wide; no linear rule fits any."""
    rng = np.random.default_rng(0)

    def rows(n: int) -> int:
        return max(200, int(n * scale))

    wide = sp.random_array((rows(20_000), 100_000), density=1e-3, format="csr", rng=rng)
    wide.data[:] = rng.normal(size=wide.nnz)
    return {
        "tall": rng.normal(size=(rows(400_000), 30)),
        "broad": rng.normal(size=(rows(10_000), 3000)),
        "square": rng.normal(size=(rows(20_000), 1200)),
        "sparse": wide,
    }


def cases(scale: float) -> Iterator[Case]:
    """All of them."""
    for size, X in matrices(scale).items():
        yield from _linear(size, X)
    yield from _strings(scale)
    yield from _structured(scale)


def _linear(size: str, X: Any) -> Iterator[Case]:
    rng = np.random.default_rng(1)
    n = X.shape[0]
    noisy = X[:, [0]].toarray().ravel() if sp.issparse(X) else X[:, 0]
    noisy = noisy / (noisy.std() or 1.0) + rng.normal(size=n)
    two, many = (X, noisy > 0), (X, np.digitize(noisy, [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5]))
    for method in METHODS:
        yield Case(f"LinearSVC {method} {size}", LinearSVC(method=method, **HARD), two)
        yield Case(f"LinearSVC {method} 8 classes {size}", LinearSVC(method=method, **HARD), many)
        yield Case(f"LinearSVR {method} {size}", LinearSVR(method=method, **HARD), (X, noisy))
        yield Case(f"RankSVM {method} {size}", RankSVM(method=method, **HARD), many)
        yield Case(f"OrdinalSVC {method} {size}", OrdinalSVC(method=method, **HARD), many)
    for loss in ("squared_hinge", "logistic", "roc_area"):
        yield Case(f"LinearSVC {loss} {size}", LinearSVC(loss=loss, **HARD), two)
    for method in ("auto", "oca"):
        joint = LinearSVC(multi_class="crammer_singer", method=method, **HARD)
        yield Case(f"LinearSVC crammer_singer {method} {size}", joint, many)
    for search in ("exact", "three-point"):
        yield Case(f"LinearSVC {search} {size}", LinearSVC(method="oca", line_search=search, **HARD), two)
    yield Case(f"LinearSVC penalised {size}", LinearSVC(intercept_scaling=1.0, **HARD), two)
    yield Case(f"LinearSVC without intercept {size}", LinearSVC(fit_intercept=False, **HARD), two)
    yield Case(f"LinearSVC nonnegative {size}", LinearSVC(nonnegative=True, **HARD), two)
    yield Case(f"LinearOneClassSVM {size}", LinearOneClassSVM(0.2, tol=1e-10, n_jobs=1), (X, None))
    grid = [0.1, 1.0, 10.0]
    yield Case(f"LinearSVC path {size}", LinearSVC(**HARD), (*two, grid), len(grid), "path")


def _strings(scale: float) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    strings = np.array(["".join(row) for row in rng.choice(list("ACGT"), size=(max(200, int(20_000 * scale)), 60))])
    y = rng.integers(2, size=len(strings))
    for method in METHODS:
        yield Case(f"StringSVC {method}", StringSVC(method=method, **HARD), (strings, y))


def _structured(scale: float) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    n = max(50, int(2000 * scale))
    sentences = [[[f"w{k}" for k in rng.integers(500, size=3)] for _ in range(20)] for _ in range(n)]
    labels = [[f"t{k}" for k in rng.integers(8, size=20)] for _ in range(n)]
    X, y = rng.normal(size=(n, 50)), rng.integers(6, size=n).tolist()
    for method in ("auto", "one-slack", "oca", "frank-wolfe"):
        yield Case(f"SequenceSVM {method}", SequenceSVM(method=method, **HARD), (sentences, labels))
        classes = StructuralSVM(MulticlassModel(range(6)), method=method, **HARD)
        yield Case(f"StructuralSVM {method}", classes, (X, y))


def measure(case: Case, limit: float, a_pass: float) -> Late:
    """Fit once."""
    model = clone(case.model).set_params(time_limit=limit)
    begin = time.perf_counter()
    getattr(model, case.fit)(*case.examples)
    return Late(case.name, limit, time.perf_counter() - begin, a_pass)


def run(rounds: int, chance: random.Random, scale: float = 1.0, only: str = "") -> str:
    """Every case at every limit; rounds and chance have no part in it."""
    found = []
    with warnings.catch_warnings(), mock.patch("time.perf_counter", time.process_time):
        warnings.simplefilter("ignore")
        for case in (case for case in cases(scale) if only in case.name):
            a_pass = case.seconds_of_a_pass()
            for limit in LIMITS:
                found.append(measure(case, limit, a_pass))
                print(found[-1], flush=True)
    worst = max(found, key=lambda each: each.late - each.allowed)
    late = sum(each.late > each.allowed for each in found)
    return f"{len(found)} fits, {late} of them too late; the latest:\n  {worst}"
