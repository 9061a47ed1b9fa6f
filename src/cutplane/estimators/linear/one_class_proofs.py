"""Proofs of linear one-class machines: the weights of the examples that the model is a mean of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from cutplane._types import Array, Matrix, MatrixLike
from cutplane.estimators.common.proofs import Prepared as SomeProblems
from cutplane.estimators.common.proofs import Proving
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.dual_search import plain, smallest
from cutplane.proof.checker import Bounds
from cutplane.proof.data_hash import hash_data
from cutplane.proof.file import OneClassProof, ProofError, check_data, confirm
from cutplane.proof.one_class import BITS, Whole, check_one_class, decode, encode, limits
from cutplane.solvers.witness import find_mixture

# Parts of the gap that is to be proven, aimed at one after the other.
_AIMS = (0.9, 0.3, 0.1)


class OneClassProofs(Proving[OneClassProof]):
    """Dual variables, found anew as a mixture of cutting planes."""

    proof_type = OneClassProof

    def refuse(self, prepared: SomeProblems | None = None) -> None:
        """Nothing."""

    def make(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> OneClassProof:
        """Find dual variables that prove the gap of the model, or the best that there are."""
        pattern = self.untrained()
        training = pattern._training()
        training, examples, weights, risk = pattern._sample(training, X, sample_weight)
        objective = pattern._objective(pattern._source(examples, training.n_threads), risk)
        limit, rows = self._limit(examples, weights), plain(examples)
        gap = max(training.stopping.relative_gap, self.model.gap_)
        best: tuple[Whole, Bounds] | None = None
        for aim in _AIMS:
            stopping = replace(training.stopping, relative_gap=aim * gap, max_iter=None)
            pi = -find_mixture(objective, 1.0, stopping)

            def attempt(bits: int, pi: Array = pi) -> tuple[Whole, Bounds]:
                numbers = encode(pi, limit, bits)
                return numbers, check_one_class(rows, limit, *self._model(), decode(numbers, limit))

            found = smallest(attempt, BITS, gap)
            best = found if best is None or found[1].lower_bound > best[1].lower_bound else best
            if best[1].gap <= gap:
                break
        assert best is not None
        return OneClassProof(hash_data(examples, np.zeros(len(limit)), weights), *best)

    def check(
        self, proof: OneClassProof, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> list[Bounds]:
        """One pass over the data."""
        pattern = self.untrained()
        _, rows, weights, _ = pattern._sample(pattern._training(), X, sample_weight)
        limit = self._limit(rows, weights)
        check_data(proof, rows, np.zeros(len(limit)), weights)
        try:
            pi = decode(proof.numbers, limit)
        except ValueError as error:
            raise ProofError(f"The proof is damaged: {error}.") from None
        found = check_one_class(plain(rows), limit, *self._model(), pi)
        confirm(proof.claim, found, "")
        return [found]

    def _model(self) -> tuple[Array, float]:
        return dense(self.model.coef_)[0], float(self.model.offset_[0])

    def _limit(self, X: Matrix, weights: Array | None) -> Array:
        each = np.ones(X.shape[0]) if weights is None else weights
        return limits(each, float(self.model.nu))
