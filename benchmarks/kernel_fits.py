"""Our kernel machines as the benchmarks train them: from arrays to certified machines, and their predictions."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter

import numpy as np

from cutplane import _core
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, SMOResult, solve


@dataclass(frozen=True)
class Machine:
    """One class against another; `rows` is None where all examples take part."""

    positive: float
    negative: float
    rows: np.ndarray | None
    labels: np.ndarray
    result: SMOResult


@dataclass(frozen=True)
class Fit:
    """The machines of one training, and its seconds from the arrays to the solution."""

    seconds: float
    machines: list[Machine]

    @property
    def iterations(self) -> int:
        return sum(machine.result.n_iter for machine in self.machines)

    @property
    def dual(self) -> float:
        return sum(machine.result.dual for machine in self.machines)

    @property
    def gap(self) -> float:
        primal = sum(machine.result.primal for machine in self.machines)
        return (primal - self.dual) / primal

    @property
    def violation(self) -> float:
        return max(machine.result.violation for machine in self.machines)

    @property
    def support(self) -> int:
        """How many examples are support vectors of some machine."""
        found: set[int] = set()
        for machine in self.machines:
            used = np.flatnonzero(machine.result.alpha)
            found.update((used if machine.rows is None else machine.rows[used]).tolist())
        return len(found)

    def predict(self, X, kernel: Kernel, fresh) -> np.ndarray:
        """The classes of fresh examples: by the sign, or the votes of the pairs; ties go to the lower class."""
        classes = sorted({c for machine in self.machines for c in (machine.positive, machine.negative)})
        votes = np.zeros((fresh.shape[0], len(classes)), np.int64)
        for machine in self.machines:
            used = np.flatnonzero(machine.result.alpha)
            vectors = X[used if machine.rows is None else machine.rows[used]]
            coef = (machine.labels * machine.result.alpha)[used]
            positive = kernel.product(fresh, vectors, coef) > machine.result.rho[0]
            votes[:, classes.index(machine.positive)] += positive
            votes[:, classes.index(machine.negative)] += ~positive
        return np.array(classes)[votes.argmax(axis=1)]


def fit(
    X, y, kernel: Kernel, C: float, *, selection: str, eps: float, cache_bytes: int, working_set: int | None = None
) -> Fit:
    """One machine, or one for each pair of classes in parallel on one kernel matrix."""
    start = perf_counter()
    matrix = KernelMatrix(X, kernel, cache_bytes=cache_bytes)
    pairs = list(combinations(np.unique(y)[::-1].tolist(), 2))
    threads = 1 if len(pairs) > 1 else 0

    def train(pair) -> Machine:
        rows = np.flatnonzero(np.isin(y, pair)) if len(pairs) > 1 else None
        labels = np.where(y[slice(None) if rows is None else rows] == pair[0], 1, -1)
        problem = DualProblem.classification(labels, C)
        about = {"selection": selection, "eps": eps, "working_set": working_set, "n_threads": threads}
        return Machine(*pair, rows, labels, solve(problem, matrix, rows=rows, **about))

    with ThreadPoolExecutor(_core.thread_count(0)) as pool:
        machines = list(pool.map(train, pairs))
    return Fit(perf_counter() - start, machines)
