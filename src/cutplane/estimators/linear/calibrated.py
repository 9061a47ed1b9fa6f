"""Probabilities of linear classifiers: of the logistic loss itself, or by curves of scores on examples left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from cutplane._types import Array, Arrays, Codes, Document, Labels, MatrixLike
from cutplane.estimators.common import validation
from cutplane.estimators.common.calibration import KINDS, curves_from_arrays, curves_to_arrays, fit_curve
from cutplane.estimators.common.calibration_folds import StratifiedFolds, warn_of_haste
from cutplane.estimators.common.lazy import also_lazily
from cutplane.estimators.linear.held_out import held_out_scores, scores_of
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.estimators.linear.problems import Prepared
from cutplane.plain.decisions import Highest, Sign
from cutplane.plain.probabilities import Calibrated, Curve, Logistic, Probabilities
from cutplane.risks.base import Risk
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings
from cutplane.sources import Source


def _has_probabilities(model: CalibratedModel) -> bool:
    """Scores of the logistic loss are probabilities already; the others have to be calibrated."""
    if model.loss == "logistic" or model.calibration is not None:
        return True
    raise AttributeError(
        f"predict_proba needs calibration='sigmoid' or 'isotonic', or loss='logistic', not loss={model.loss!r} alone."
    )


class CalibratedModel(LinearModel):
    """A linear classifier with probabilities, where it is asked for them."""

    loss: str | Callable[..., Risk]
    calibration: str | None = None
    classes_: Labels
    _decides: Risk | None
    _curves: list[Curve] | None = None

    def decision_function(self, X: MatrixLike) -> Array:
        """The score of each example; of each class if there are more than two."""
        raise NotImplementedError

    def _decision(self) -> Sign | Highest:
        """How scores become classes."""
        return Sign(self.classes_) if len(self.classes_) == 2 else Highest(self.classes_)

    @property
    def _together(self) -> bool:
        """Whether all classes are one problem."""
        return False

    # --- training ---

    def _check_calibration(self) -> None:
        """Refuse what no curve of scores can be honest about."""
        if self.calibration is None:
            return
        if self.calibration not in KINDS:
            raise ValueError(f"calibration={self.calibration!r} must be None, 'sigmoid' or 'isotonic'.")
        if self._together:
            raise ValueError(
                "calibration learns how likely a class is by its own score, and with multi_class='crammer_singer' "
                "scores only mean something beside each other; multi_class='ovr' can be calibrated."
            )

    def _check_calibrated(self, prepared: Prepared) -> None:
        """The same, once examples and classes are known; before any training."""
        if self.calibration is None:
            return
        prepared.problems[0](None)
        if self._decides is not None:
            raise ValueError(
                f"calibration={self.calibration!r} needs predictions by the sign of the scores, and loss={self.loss!r} "
                "has a `decide` of its own."
            )
        self._folds(prepared)

    def _folds(self, prepared: Prepared) -> StratifiedFolds:
        """Of the examples with weight; the others are in none."""
        codes, weights = self._codes(prepared), prepared.weights
        if weights is None:
            return StratifiedFolds.of(codes, self.classes_, self.random_state)
        there = np.flatnonzero(weights > 0)
        part = StratifiedFolds.of(codes[there], self.classes_, self.random_state)
        fold = np.full(len(codes), -1, np.intp)
        fold[there] = part.fold
        return StratifiedFolds(fold, part.count)

    def _codes(self, prepared: Prepared) -> Codes:
        assert prepared.y is not None
        return np.searchsorted(self.classes_, prepared.y)

    def _learned_beside(
        self,
        training: Settings,
        prepared: Prepared,
        grid: Sequence[float],
        results: Sequence[list[Result]],
        sample_weight: ArrayLike | None,
    ) -> list[dict[str, object]]:
        """The curves of the models for each C."""
        if self.calibration is None:
            return [{"_curves": None} for _ in grid]
        source = self._source(prepared.X, 0)
        scores = self._scores_for_curves(training, prepared, source, grid, results)
        codes = self._codes(prepared)
        given = validation.check_sample_weight(sample_weight, codes)
        weights = np.ones(len(codes)) if given is None else given
        return [{"_curves": self._curves_of(each, codes, weights)} for each in scores]

    def _scores_for_curves(
        self,
        training: Settings,
        prepared: Prepared,
        source: Source,
        grid: Sequence[float],
        results: Sequence[list[Result]],
    ) -> list[Array]:
        """Of examples left out of training; where there is no time for that, of those trained on."""
        in_haste = training.overdue or any(r.stop_reason == "interrupted" for each in results for r in each)
        if not in_haste:
            found = held_out_scores(self, training, prepared, source, grid, self._folds(prepared))
            if not any(np.isnan(scores).all() for scores in found):
                return found
        warn_of_haste()
        return [scores_of(self, each, source) for each in results]

    def _curves_of(self, scores: Array, codes: Codes, weights: Array) -> list[Curve]:
        known = ~np.isnan(scores[:, 0])
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [
            fit_curve(str(self.calibration), column[known], codes[known] == positive, weights[known])
            for column, positive in zip(scores.T, positives, strict=True)
        ]

    # --- predictions ---

    def _own_probabilities(self) -> Probabilities:
        """What makes probabilities of the logistic loss's scores."""
        return Logistic()

    def _made_of_scores(self) -> Probabilities | None:
        """What makes probabilities of scores; None where nothing does."""
        if self.calibration is None:
            return self._own_probabilities() if self.loss == "logistic" else None
        return None if self._curves is None else Calibrated(self._curves, len(self.classes_), pairwise=False)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @also_lazily
    def predict_proba(self, X: MatrixLike) -> Array:
        """The probability of each class; with `calibration` or with ``loss="logistic"``.

        With more than two classes these are of each class against the rest, divided by their sum. The largest of a row
        is that of `predict`: where they say otherwise, the nearest probabilities that agree with it are given.
        """
        scores = self.decision_function(X)
        made = self._made_of_scores()
        if made is None:
            raise NotFittedError("predict_proba is not available: the model was fitted with calibration=None.")
        return self._probabilities_by(made, scores)

    def _uncalibrated(self, scores: Array) -> Array:
        """What scores of the logistic loss say of each class by themselves."""
        return self._probabilities_by(self._own_probabilities(), scores)

    def _probabilities_by(self, made: Probabilities, scores: Array) -> Array:
        columns = scores.reshape(len(scores), -1)
        return made(columns, self._decision().winners(columns))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @also_lazily
    def predict_log_proba(self, X: MatrixLike) -> Array:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    # --- files ---

    def _curves_to_file(self) -> tuple[Arrays, Document]:
        if self._curves is None:
            return {}, {}
        return curves_to_arrays(self._curves), {"calibration": self._curves[0].kind}

    def _curves_from_file(self, arrays: Arrays, stored: Document) -> None:
        machines = 1 if len(self.classes_) == 2 else len(self.classes_)
        self._curves = None
        if "calibration" in stored:
            self._curves = curves_from_arrays(stored["calibration"], arrays, machines)
