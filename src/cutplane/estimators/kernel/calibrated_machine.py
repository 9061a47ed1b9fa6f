"""Machines whose decisions become probabilities, by curves fitted to decisions on examples left out of training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Labels, MatrixLike, RandomState
from cutplane.estimators.common.calibration import fit_curve
from cutplane.estimators.common.calibration_folds import warn_if_cut_short
from cutplane.estimators.kernel.kernel_machine import KernelMachine
from cutplane.estimators.kernel.machines import AnyMatrix, MachineTraining
from cutplane.estimators.kernel.placement import answers_in_place
from cutplane.estimators.kernel.splits import Folds, Kept, Split
from cutplane.kernels import DualProblem, SMOResult
from cutplane.plain.probabilities import Calibrated, Curve

Codes = NDArray[np.intp]


def _wants_probability(model: CalibratedMachine) -> bool:
    if not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class CalibratedMachine(KernelMachine):
    """Machines of two sides each; a subclass makes their problems and says which class wins."""

    probability: bool | str = False
    random_state: RandomState = None

    classes_: Labels
    _pairwise: bool
    _curves: list[Curve] | None

    def _problem(self, split: Split) -> DualProblem:
        raise NotImplementedError

    def _problems(self, splits: list[Split]) -> list[DualProblem]:
        return [self._problem(split) for split in splits]

    def _scale(self, result: SMOResult) -> tuple[float, float]:
        """What coefficients are divided by, and the intercept."""
        raise NotImplementedError

    def _winners(self, decisions: Array) -> Codes:
        """The class of each example, by number."""
        raise NotImplementedError

    def _check_ties(self) -> None:
        """`ValueError` where ties cannot be broken as the parameters ask."""
        raise NotImplementedError

    def _own_decisions(self, problem: DualProblem, result: SMOResult) -> Array:
        """The decision value of every example of the problem: its gradient is Qa + p, with Q_ij = y_i y_j K_ij."""
        scale, intercept = self._scale(result)
        return np.asarray(problem.y * (result.gradient - problem.p) / scale + intercept)

    def _folds(self, codes: Codes) -> Folds:
        return Folds.of(codes, self.classes_, self.random_state)

    def _calibrated(
        self, training: MachineTraining, matrix: AnyMatrix, kept: Kept, splits: list[Split], folds: Folds
    ) -> list[Curve]:
        """A curve for each machine, from decisions on examples that were left out of training."""
        parts = [folds.without(split, number) for split in splits for number in range(folds.count)]
        problems = self._problems(parts)
        results = training.run(matrix, kept.machines(problems, parts))
        warn_if_cut_short({result.stop_reason for result in results})
        decisions = [self._own_decisions(problem, result) for problem, result in zip(problems, results, strict=True)]
        joined = [folds.joined(split, decisions, number) for number, split in enumerate(splits)]
        return self._curves_of(joined, splits, kept)

    def _curves_of(self, decisions: list[Array], splits: list[Split], kept: Kept) -> list[Curve]:
        kind = "isotonic" if self.probability == "isotonic" else "sigmoid"
        return [
            fit_curve(kind, values, split.signs > 0, kept.weights[split.rows])
            for values, split in zip(decisions, splits, strict=True)
        ]

    @available_if(_wants_probability)  # type: ignore[untyped-decorator]
    @answers_in_place
    def predict_proba(self, X: MatrixLike) -> Array:
        """The probability of each class, of shape (n, n_classes); the largest of a row is that of `predict`.

        Decision values become probabilities by curves fitted to cross-validated decisions; those of several classes
        are coupled (pairs) or normalised (one against the rest). Where that says otherwise than `predict`, the nearest
        probabilities that agree with it are given.
        """
        return self._coupled(X)

    def _coupled(self, X: MatrixLike) -> Array:
        """The probabilities, on the host."""
        decisions = self._decisions_for_probabilities(X)
        assert self._curves is not None
        return self._probabilities(self._curves)(decisions, self._winners(decisions))

    def _probabilities(self, curves: list[Curve]) -> Calibrated:
        return Calibrated(curves, len(self.classes_), self._pairwise)

    @available_if(_wants_probability)  # type: ignore[untyped-decorator]
    @answers_in_place
    def predict_log_proba(self, X: MatrixLike) -> Array:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._coupled(X)))

    def _decisions_for_probabilities(self, X: MatrixLike) -> Array:
        check_is_fitted(self)
        self._check_ties()
        if self._curves is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return self._decisions(X)
