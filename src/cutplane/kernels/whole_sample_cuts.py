"""Cuts by finders that look at every example: of all (Algorithm 1 of Yu and Joachims 2008), or of r with a loss (3)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane._types import Array
from cutplane.kernels.cut_finders import Answer, CutFinder, Found
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.expansions import KernelRows, Rows
from cutplane.kernels.whole_planes import Labelling, proof_by
from cutplane.solvers.bundle.gram import GramSolution
from cutplane.structured.factored import Choices, FactoredRisk, Violations


class WholeSampleCuts(CutFinder):
    """What finders have in common that look at every example: stored products with every row, and the incumbent.

    The products of a cut with N rows take 4·N·columns bytes; `memory` bounds how many cuts are stored so.

    Stabilised, the cut is not taken at the model's minimiser but near the best point on the line towards it, as in
    OCA (Franc and Sonnenburg 2008), and that point is what is returned.
    """

    def __init__(self, risk: FactoredRisk, rows: KernelRows, *, memory: int, stabilised: bool) -> None:
        super().__init__(risk, rows)
        self._everyone = np.arange(risk.examples, dtype=np.int64)
        self._of_rows = risk.rows(self._everyone)
        self._most = memory // (4 * len(self._of_rows) * risk.columns)
        if self._most < 1:
            raise ValueError(
                f"memory={memory} bytes do not hold the products of one cut with {len(self._of_rows):,} rows, which "
                f"take {4 * len(self._of_rows) * risk.columns:,}; method='constant' needs none of them."
            )
        self._all = rows.everything
        self._stored: list[NDArray[np.float32]] = []
        self._stabilised = stabilised
        self._best: tuple[Array, Array, float, float] | None = None
        self._best_coef = np.zeros((len(self._of_rows), risk.columns))
        self._marked_best: tuple[Array, Array] | None = None
        self._last = np.zeros((0, risk.columns)), np.zeros(risk.explicit)

    @property
    def full(self) -> bool:
        """Whether the products of no more cuts fit into the memory."""
        return len(self._stored) >= self._most

    @property
    def mean_size(self) -> float:
        """The mean over examples of the sizes of their scores at the last point."""
        return self._risk.heaviest * float(np.abs(self._last[0]).sum()) / self._risk.examples

    def keep(self, found: Found) -> None:
        """The cut was added to the model."""
        if self.full:
            raise MemoryError(
                f"The products of {len(self._stored) + 1} cuts with {len(self._of_rows):,} rows do not fit into the "
                f"memory allowed; {self._most} do. A larger memory or method='constant' would help."
            )
        super().keep(found)
        self._stored.append(np.asarray(found.scores, dtype=np.float32))

    def drop(self, positions: Rows) -> None:
        """Cuts were dropped from the model."""
        super().drop(positions)
        gone = set(positions.tolist())
        self._stored = [each for position, each in enumerate(self._stored) if position not in gone]

    def _at(self, solution: GramSolution | None, C: float) -> tuple[Array, Array, float]:
        """Scores of every row, explicit weights and |w|² of the model's minimiser."""
        shape = len(self._of_rows), self._risk.columns
        if solution is None:
            return np.zeros(shape), np.zeros(self._risk.explicit), 0.0
        used = np.flatnonzero(solution.weights)
        stored = [self._stored[position].reshape(-1) for position in used.tolist()]
        scores = _core.combine(stored, -C * solution.weights[used], shape[0] * shape[1], self._rows.n_threads)
        return scores.reshape(shape), self._explicit(solution, C), solution.squared_norm

    def _mix(self, start: Array, end: Array, t: float) -> Array:
        """The scores at start + t (end - start)."""
        mixed = _core.mix(start.reshape(-1), end.reshape(-1), t, self._rows.n_threads)
        return mixed.reshape(start.shape)

    def _violations(self, scores: Array, explicit: Array) -> Violations:
        return self._risk.violations(self._everyone, scores, explicit)

    def _look(self, solution: GramSolution | None, C: float) -> tuple[Violations, float]:
        """The violations to make a cut of, and the objective of the point that would be returned."""
        scores, explicit, square = self._at(solution, C)
        self._last = scores, explicit
        if self._stabilised and self._best is not None:
            return self._towards(scores, explicit, square, self._spread(solution, C), C)
        found = self._violations(scores, explicit)
        objective = 0.5 * square + C * float(found.values.mean())
        if self._stabilised:
            self._best, self._best_coef = (scores, explicit, square, objective), self._spread(solution, C)
        return found, objective

    def _spread(self, solution: GramSolution | None, C: float) -> Array:
        """The expansion of the model's minimiser over all rows."""
        parts = [] if solution is None else list(zip(self._cuts, -C * solution.weights, strict=True))
        parts = [(cut, scale) for cut, scale in parts if scale != 0.0 and len(cut.rows)]
        if not parts:
            return np.zeros_like(self._best_coef)
        columns, shape = self._risk.columns, self._best_coef.shape
        places = np.concatenate([cut.rows for cut, _ in parts])[:, None] * columns + np.arange(columns)
        values = np.concatenate([scale * cut.coef for cut, scale in parts])
        summed = np.bincount(places.ravel(), values.ravel(), minlength=shape[0] * shape[1])
        return np.asarray(summed, dtype=np.float64).reshape(shape)

    def _towards(
        self, scores: Array, explicit: Array, square: float, coef: Array, C: float
    ) -> tuple[Violations, float]:
        """The best point on the line from the best so far to the minimiser, and the violations a little beyond it."""
        assert self._best is not None
        start, start_explicit, start_square, _ = self._best
        # <w_best, w_t>, from the scores of the one and the expansion of the other.
        cross = float(np.vdot(coef, start)) + float(explicit @ start_explicit)
        across_explicit = explicit - start_explicit
        quadratic = max(0.0, square - 2.0 * cross + start_square)
        linear = cross - start_square

        t = self._risk.step((start, start_explicit), (scores, explicit), quadratic, linear, C)
        self._best_coef = (1.0 - t) * self._best_coef + t * coef
        best, best_explicit = self._mix(start, scores, t), start_explicit + t * across_explicit
        best_square = start_square + 2.0 * t * linear + t * t * quadratic
        objective = 0.5 * best_square + C * float(self._violations(best, best_explicit).values.mean())
        self._best = (best, best_explicit, best_square, objective)
        mu = t + TUNING.mu * (1.0 - t)
        return self._violations(self._mix(start, scores, mu), start_explicit + mu * across_explicit), objective

    def mark(self, solution: GramSolution | None, C: float) -> None:
        """Remember the point whose objective was found last: stabilised, the best so far."""
        if self._stabilised and self._best is not None:
            self._marked_best = self._best_coef, self._best[1]
        else:
            super().mark(solution, C)

    def answer(self, C: float, objective: float, violation: float) -> Answer:
        """The point that was marked, where these were found."""
        if self._marked_best is None:
            return super().answer(C, objective, violation)
        coef, explicit = self._marked_best
        rows = np.flatnonzero(coef.any(axis=1)).astype(np.int64)
        return Answer(rows, coef[rows], explicit, objective, violation)

    def _make(self, examples: Rows, labels: Choices, scale: float, offset: float, objective: float) -> Found:
        """The cut of some examples."""
        coef, explicit = self._risk.direction(examples, labels)
        cut = self._rows.expansion(self._risk.rows(examples), scale * coef, scale * explicit)
        return Found(cut, offset, objective)

    def complete(self, found: Found) -> Found:
        """The cut with its products: of every row with those that it is made of."""
        cut = found.cut
        scores = self._rows.products(self._all, cut, len(self._of_rows), in_time=True)
        others = np.array([float(np.vdot(cut.coef, each[cut.rows])) for each in self._stored])
        return replace(found, products=self._gram_row(cut, others, scores[cut.rows]), scores=scores)


class ExactCuts(WholeSampleCuts):
    """The cut of all examples: N² kernel values for each."""

    exact = True

    def find(self, solution: GramSolution | None, C: float) -> Found:
        """The plane that touches the risk (lines 12 to 15 of Algorithm 1)."""
        found, objective = self._look(solution, C)
        scale = 1.0 / self._risk.examples
        return self._make(self._everyone, found.labels, scale, float(found.losses.mean()), objective)

    def bound(self, C: float, risk_tol: float, violation: float, probability: float, iterations: int) -> float:
        """The gap."""
        return C * max(0.0, violation)


class LinearTimeCuts(WholeSampleCuts):
    """Cuts of r examples sampled among those with a loss; every example is looked at, N·r kernel values for each.

    Parameters
    ----------
    r : int
        Examples in a sample.
    seed : int
    """

    def __init__(
        self, risk: FactoredRisk, rows: KernelRows, r: int, seed: int, *, memory: int, stabilised: bool
    ) -> None:
        super().__init__(risk, rows, memory=memory, stabilised=stabilised)
        self._r = r
        self._random = np.random.default_rng(seed)
        self._labellings: list[Labelling] = []

    def find(self, solution: GramSolution | None, C: float) -> Found:
        """A sampled cut that is violated where the exact one is, and the labellings it is drawn from."""
        found, objective = self._look(solution, C)
        return replace(self._drawn(found, objective, solution), whole=Labelling.of(found))

    def keep(self, found: Found) -> None:
        """The cut was added to the model."""
        super().keep(found)
        assert found.whole is not None
        self._labellings.append(found.whole)

    def drop(self, positions: Rows) -> None:
        """Cuts were dropped from the model."""
        super().drop(positions)
        gone = set(positions.tolist())
        self._labellings = [each for position, each in enumerate(self._labellings) if position not in gone]

    def values_for(self, iterations: int) -> float:
        """Kernel values that so many cuts take."""
        return float(self._rows.size) * self._r * self._rows.size / self._risk.examples * iterations

    def prove(self, C: float, upper: float, most_values: float) -> float:
        """Make `plane` of the labellings of all examples behind the cuts; what it proves in single precision."""
        if not self._labellings:
            return 0.0
        proof = proof_by(self._risk, self._rows, self._labellings, C, upper=upper, most_values=most_values)
        self._best_planes = proof.planes, proof.offsets, proof.weights
        return proof.value

    def _drawn(self, found: Violations, objective: float, solution: GramSolution | None) -> Found:
        """Lines 12 to 21 of Algorithm 3."""
        offset = float(found.losses.mean())
        wrong = np.flatnonzero((found.losses > 0.0) | (found.values > 0.0))
        if not len(wrong):
            none = wrong.astype(np.int64)
            return self._make(none, self._risk.choose(found.labels, none), 0.0, offset, objective)
        scale = len(wrong) / (self._risk.examples * self._r)
        for _ in range(TUNING.most_samples):
            sample = np.sort(wrong[self._random.integers(len(wrong), size=self._r)]).astype(np.int64)
            labels = self._risk.choose(found.labels, sample)
            if self._stabilised or self._is_violated(sample, labels, scale, offset, solution):
                break
        return self._make(sample, labels, scale, offset, objective)

    def _is_violated(
        self, sample: Rows, labels: Choices, scale: float, offset: float, solution: GramSolution | None
    ) -> bool:
        """Whether the cut of a sample is above the model at its minimiser, and so will change it."""
        coef, explicit = self._risk.direction(sample, labels)
        scores, weights = self._last
        along = float(np.vdot(coef, scores[self._risk.rows(sample)])) + float(explicit @ weights)
        return solution is None or offset + scale * along > solution.risk_model

    def bound(self, C: float, risk_tol: float, violation: float, probability: float, iterations: int) -> float:
        """Theorem 2; its proof uses no more of the returned point than that it is `violation` above the model."""
        loss, reach = self._risk.largest_loss, self._reach()
        chance = math.log(iterations / (1.0 - probability))
        return C * (max(risk_tol, violation) + math.sqrt(4.0 * C * loss * reach**2 / self._r * chance))
