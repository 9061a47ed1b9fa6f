"""Proofs of linear one-class machines: the weights of the examples that the model is a mean of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane.estimators.common.proofs import Proving
from cutplane.estimators.linear.dual_search import plain, smallest
from cutplane.proof.checker import Bounds
from cutplane.proof.data_hash import hash_data
from cutplane.proof.file import OneClassProof, ProofError, check_data, confirm
from cutplane.proof.one_class import BITS, check_one_class, decode, encode, limits
from cutplane.solvers.witness import find_mixture

Array = NDArray[np.float64]

# Parts of the gap that is to be proven, aimed at one after the other.
_AIMS = (0.9, 0.3, 0.1)


class OneClassProofs(Proving):
    """Dual variables, found anew as a mixture of cutting planes."""

    proof_type = OneClassProof

    def refuse(self, prepared: Any = None) -> None:
        """Nothing."""

    def make(self, X: Any, y: Any, sample_weight: Any) -> OneClassProof:
        """Find dual variables that prove the gap of the model, or the best that there are."""
        pattern = self.untrained()
        training = pattern._training()
        training, X, weights, risk = pattern._sample(training, X, sample_weight)
        objective = pattern._objective(pattern._source(X, training.n_threads), risk)
        limit, rows = self._limit(X, weights), plain(X)
        gap = max(training.stopping.relative_gap, float(self.model.gap_))
        best: tuple[Any, Bounds] | None = None
        for aim in _AIMS:
            stopping = replace(training.stopping, relative_gap=aim * gap, max_iter=None)
            pi = -find_mixture(objective, 1.0, stopping)

            def attempt(bits: int, pi: Array = pi) -> tuple[Any, Bounds]:
                numbers = encode(pi, limit, bits)
                return numbers, check_one_class(rows, limit, *self._model(), decode(numbers, limit))

            found = smallest(attempt, BITS, gap)
            best = found if best is None or found[1].lower_bound > best[1].lower_bound else best
            if best[1].gap <= gap:
                break
        assert best is not None
        return OneClassProof(hash_data(X, np.zeros(X.shape[0]), weights), *best)

    def check(self, proof: OneClassProof, X: Any, y: Any, sample_weight: Any) -> list[Bounds]:
        """One pass over the data."""
        pattern = self.untrained()
        _, X, weights, _ = pattern._sample(pattern._training(), X, sample_weight)
        check_data(proof, X, np.zeros(X.shape[0]), weights)
        limit = self._limit(X, weights)
        try:
            pi = decode(proof.numbers, limit)
        except ValueError as error:
            raise ProofError(f"The proof is damaged: {error}.") from None
        found = check_one_class(plain(X), limit, *self._model(), pi)
        confirm(proof.claim, found, "")
        return [found]

    def _model(self) -> tuple[Array, float]:
        coef: Any = self.model.coef_
        w = coef.toarray()[0] if sp.issparse(coef) else coef[0]
        return np.asarray(w, np.float64), float(self.model.offset_[0])

    def _limit(self, X: Any, weights: Array | None) -> Array:
        each = np.ones(X.shape[0]) if weights is None else weights
        return limits(each, float(self.model.nu))
