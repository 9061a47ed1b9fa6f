"""What linear classifiers and regressions share: training on targets, and a proof of it where one is wanted."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike

from cutplane._types import Array, Labels, MatrixLike
from cutplane.cluster.examples import for_one_fit
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.linear.problems import Prepared
from cutplane.estimators.linear.screening import ScreeningModel
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings


class SupervisedModel(ScreeningModel):
    """A linear model of targets, each problem of which a number for each example proves."""

    @with_callbacks
    @for_one_fit()
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (dense, CSR, memory-mapped, DataFrame, a collection of Dask) and y: labels or targets.

        Returns
        -------
        self
        """
        training = self._training()
        prepared = self._prepare(training, X, y, sample_weight)
        if self.keep_proof:
            self._proving().refuse(prepared)
        results = self._train_as_asked(training, prepared)
        self.__dict__.update(self._learned_beside(training, prepared, [training.C], [results], sample_weight)[0])
        return self.proof(X, y, sample_weight) if self.keep_proof else self

    def _train_as_asked(self, training: Settings, prepared: Prepared) -> list[Result]:
        """Until the gap is proven; a subclass may ask for more."""
        return self._train(training, prepared)

    def _proving(self) -> AnyProving:
        from cutplane.estimators.linear.linear_proofs import LinearProofs

        return LinearProofs(self)

    def _proof_targets(self, y: ArrayLike) -> list[tuple[str, Array]]:
        """For each problem its name and the targets or labels, -1 and +1, of the examples."""
        raise NotImplementedError

    def _predict_from(self, scores: Array) -> Labels:
        """What the model would predict from scores that are known."""
        raise NotImplementedError
