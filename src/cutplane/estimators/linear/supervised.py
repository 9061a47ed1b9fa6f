"""What linear classifiers and regressions share: training on targets, and a proof of it where one is wanted."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike

from cutplane._types import Array, Labels, MatrixLike
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.linear.linear_model import LinearModel


class SupervisedModel(LinearModel):
    """A linear model of targets, each problem of which a number for each example proves."""

    @with_callbacks
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (dense, CSR, memory-mapped, DataFrame) and y: labels of any type, or targets of a regression.

        Returns
        -------
        self
        """
        training = self._training()
        prepared = self._prepare(training, X, y, sample_weight)
        if self.keep_proof:
            self._proving().refuse(prepared)
        self._train(training, prepared)
        return self.proof(X, y, sample_weight) if self.keep_proof else self

    def _proving(self) -> AnyProving:
        from cutplane.estimators.linear.linear_proofs import LinearProofs

        return LinearProofs(self)

    def _proof_targets(self, y: ArrayLike) -> list[tuple[str, Array]]:
        """For each problem its name and the targets or labels, -1 and +1, of the examples."""
        raise NotImplementedError

    def _predict_from(self, scores: Array) -> Labels:
        """What the model would predict from scores that are known."""
        raise NotImplementedError
