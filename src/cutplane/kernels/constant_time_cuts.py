"""Cuts of r sampled examples that look at nothing else (Algorithm 2 of Yu and Joachims 2008)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from cutplane._runtime.deadline import time_is_up
from cutplane.kernels.cut_finders import Answer, CutFinder, Found
from cutplane.kernels.cut_rows import CutRows
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.expansions import Expansion, KernelRows, Rows
from cutplane.kernels.mean_minimiser import MeanMinimiser
from cutplane.solvers.bundle.gram import GramSolution
from cutplane.structured.factored import FactoredRisk


class ConstantTimeCuts(CutFinder):
    """Cuts and estimates from r examples, sampled anew each time: nothing depends on how many there are.

    Parameters
    ----------
    risk : FactoredRisk
    rows : KernelRows
    r : int
        Examples in a sample.
    seed : int
    stabilised : bool
        Whether the mean of the model's minimisers over the last part of a run is returned, not the last one.
    """

    def __init__(self, risk: FactoredRisk, rows: KernelRows, r: int, seed: int, *, stabilised: bool) -> None:
        super().__init__(risk, rows)
        self._r = r
        self._random = np.random.default_rng(seed)
        self._in_a_row = 0
        self._model_rows = CutRows(rows, risk.columns)
        self._mean = MeanMinimiser() if stabilised else None
        self._numbers = np.zeros(0, dtype=np.int64)

    def find(self, solution: GramSolution | None, C: float) -> Found:
        """The cut of a sample at the model's minimiser (lines 12 to 16 of Algorithm 2)."""
        sample, rows = self._sample(self._r)
        scores = np.zeros((len(rows), self._risk.columns))
        if solution is not None:
            scores = self._model_rows.scores(rows, -C * solution.weights)
        found = self._risk.violations(sample, scores, self._explicit(solution, C))
        coef, explicit = self._risk.direction(sample, found.labels)
        cut = self._rows.expansion(rows, coef / self._r, explicit / self._r)
        squared_norm = 0.0 if solution is None else solution.squared_norm
        objective = 0.5 * squared_norm + C * float(found.values.mean())
        if self._mean is not None and solution is not None:
            violation = (objective - solution.value) / C
            self._mean.add(self._numbers, -C * solution.weights, squared_norm, violation)
        return Found(cut, float(found.losses.mean()), objective)

    def complete(self, found: Found) -> Found:
        """The cut with its products."""
        cut = found.cut
        own = self._rows.products(cut.prepared, cut, len(cut.rows))
        return replace(found, products=self._gram_row(cut, self._model_rows.products(cut), own))

    def _sample(self, size: int) -> tuple[Rows, Rows]:
        """Examples, and the rows they own."""
        sample = np.sort(self._random.integers(self._risk.examples, size=size))
        return sample, self._risk.rows(sample)

    def answer(self, C: float, objective: float, violation: float) -> Answer:
        """The model's minimiser; or the mean of the last ones, with its loss in a few more samples."""
        if self._mean is None or not len(self._mean):
            return super().answer(C, objective, violation)
        parts = self._mean.parts
        where, coef = self._sum(parts)
        explicit = self._explicit_sum(parts)
        size = TUNING.satisfied_in_a_row * self._r
        if time_is_up():
            values = len(where) * self._rows.size // self._risk.examples  # kernel values an example
            size = min(size, max(1, self._rows.values_at_once // max(1, values)))
        sample, rows = self._sample(size)
        mean = Expansion(where, coef, explicit, self._rows.prepare(where))
        found = self._risk.violations(sample, self._rows.products(self._rows.prepare(rows), mean, len(rows)), explicit)
        objective = 0.5 * self._mean.square + C * float(found.values.mean())
        return Answer(where, coef, explicit, objective, self._mean.violation)

    def keep(self, found: Found) -> None:
        """The cut was added to the model."""
        super().keep(found)
        self._model_rows.add(self._cuts[-1])
        if self._mean is not None:
            self._numbers = np.append(self._numbers, self._mean.number(self._cuts[-1]))

    def drop(self, positions: Rows) -> None:
        """Cuts were dropped from the model."""
        super().drop(positions)
        self._model_rows.drop(positions)
        if self._mean is not None:
            self._numbers = np.delete(self._numbers, positions)

    def satisfied(self, violation: float, risk_tol: float) -> bool:
        """Whether the last few samples were."""
        self._in_a_row = self._in_a_row + 1 if violation <= risk_tol else 0
        return self._in_a_row >= TUNING.satisfied_in_a_row

    def bound(self, C: float, risk_tol: float, violation: float, probability: float, iterations: int) -> float:
        """Theorem 3; each of its two estimates may fail with half of what is left.

        Its proof has them for the minimisers of all iterations at once. So it holds for the mean of some, with the mean
        of their violations: the objective is convex.
        """
        loss, reach = self._risk.largest_loss, self._reach()
        width = loss + 2.0 * math.sqrt(2.0 * C * loss) * reach
        chance = math.log(iterations * 2.0 / (1.0 - probability))
        return C * (max(risk_tol, violation) + 2.0 * width * math.sqrt(chance / (2.0 * self._r)))
