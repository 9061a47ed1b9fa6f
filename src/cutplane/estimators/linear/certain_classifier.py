"""What is proven of a linear classifier's predictions: each class against the rest, or all of them as one problem."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cutplane._types import Array, Arrays, Codes, Document, Integers, Matrix, MatrixLike
from cutplane.estimators.common import validation
from cutplane.estimators.common.certain import CertainLabels, Intervals
from cutplane.estimators.common.certain_classes import by_highest, by_highest_difference, by_sign
from cutplane.estimators.linear.calibrated import CalibratedModel
from cutplane.estimators.linear.certain_intercept import check_same
from cutplane.estimators.linear.certain_joint import apart, centred_ends, gained, joint_balls, own_ends
from cutplane.estimators.linear.certain_linear import Balls, reach
from cutplane.estimators.linear.certain_training import check_goal, enough_of_gap, train_until_certain
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.dual_search import plain
from cutplane.estimators.linear.prior_and_bounds import check_features
from cutplane.estimators.linear.problems import Prepared
from cutplane.estimators.linear.supervised import SupervisedModel
from cutplane.proof.ball import Scored, centred, interval, scored
from cutplane.proof.class_intercepts import ClassEnds, ClassProblem, class_ends
from cutplane.proof.rounding import LEAST_NUMBER, UNIT, half_square
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings


class CertainClassifier(CertainLabels, CalibratedModel, SupervisedModel):
    """A linear classifier that knows which of its labels are those of the exact optimum."""

    certain_on: tuple[MatrixLike, float] | None = None

    #: Of classes that are trained together, once `certify_intercept` was called.
    _class_ends: ClassEnds

    def _train_as_asked(self, training: Settings, prepared: Prepared) -> list[Result]:
        if self.certain_on is None:
            return self._train(training, prepared)
        goal = check_goal(self.certain_on)
        rows = validation.check_new_rows(self, goal.rows)
        if self.checkpoint is not None:
            raise ValueError("certain_on trains several times over, which a checkpoint cannot go on from.")
        if self._intercept_is_free:
            self._refuse_ends(prepared)

        def shrink() -> float | None:
            if self._intercept_is_free:
                self._find_ends(self, prepared)
            ends = self._free_ends()
            if float(np.mean(self._codes_from(rows, ends) >= 0)) >= goal.share:
                return None
            return enough_of_gap(*self._intervals_of(rows, ends).with_intercepts(), goal.share)

        return train_until_certain(self, training, prepared, shrink)

    # --- classes that are trained together ---

    def _balls(self) -> Balls:
        if not self._together:
            return super()._balls()
        prior = self._prior_rows(1, self.n_features_in_)
        return joint_balls(self.certificates_[0], self._class_factors(), prior)

    def _class_factors(self) -> NDArray[np.float64]:
        """What weights that are trained together are multiplied by, a row for each class."""
        return np.eye(len(self.classes_))

    def _refuse_ends(self, prepared: Prepared) -> None:
        """`ValueError` where nothing is proven of free intercepts."""
        if not self._together:
            self._terms(prepared)
        elif not np.array_equal(self._class_factors(), np.eye(len(self.classes_))):
            raise ValueError(
                "Free intercepts of classes with class_features have no proven bounds, for the model does not keep the "
                "weights that are penalised; with intercept_scaling=1.0 or fit_intercept=False scores have."
            )

    def _find_ends(self, pattern: BaseEstimator, prepared: Prepared) -> None:
        self._refuse_ends(prepared)
        if not self._together:
            super()._find_ends(pattern, prepared)
            return
        ball = self.certificates_[0].ball
        problem = self._class_problem(pattern, prepared)
        found = scored(problem.X, problem.weights.T)
        _check_value(problem, found, self)
        self._class_ends = class_ends(problem, found, ball + float(self._balls().rounded.max()))
        self.intercept_bounds_ = own_ends(self._class_ends, self.intercept_, ball)

    def _class_problem(self, pattern: BaseEstimator, prepared: Prepared) -> ClassProblem:
        """The one problem of all classes, and the model; of two classes, each has half of the difference."""
        joint, (n, d) = pattern._joint, prepared.X.shape
        prior = pattern._prior_rows(1, d)
        by_class = joint.weights_from(self.intercept_[:, None])
        return ClassProblem(
            plain(prepared.X),
            cast(Integers, prepared.key[0]),
            pattern.C * (np.ones(n) if prepared.weights is None else prepared.weights),
            joint.loss,
            joint.weights_from(dense(self.coef_)),
            np.ascontiguousarray(by_class[0]),
            None if prior is None else joint.weights_from(prior),
            check_features("nonnegative", pattern.nonnegative, d),
        )

    def _intervals_of(self, rows: Matrix, ends: Array) -> Intervals:
        if not (self._together and self._intercept_is_free):
            return super()._intervals_of(rows, ends)
        found, ball = self._centred(rows), self.certificates_[0].ball
        low, high = interval(found.scores, found.errors, reach(found.lengths, self._balls().radii))
        return Intervals(low, high, centred_ends(self._class_ends, dense(self.coef_), self.intercept_, ball))

    def _centred(self, rows: Matrix) -> Scored:
        """Scores of rows that are counted from the centre of the training rows."""
        return centred(plain(rows), self._scored(rows), dense(self.coef_), self._class_ends.centre)

    # --- labels ---

    def _proven_codes(self, X: MatrixLike) -> Codes:
        if getattr(self, "_decides", None) is not None:
            raise ValueError(f"The predictions of loss={self.loss!r} are its own `decide`: nothing is proven of them.")
        return self._codes_from(validation.check_new_rows(self, X), self._free_ends())

    def _codes_from(self, rows: Matrix, ends: Array) -> Codes:
        if self._together and len(self.classes_) > 2:
            return self._codes_together(rows)
        low, high = self._intervals_of(rows, ends).with_intercepts()
        return by_sign(low[:, 0], high[:, 0]) if low.shape[1] == 1 else by_highest(low, high)

    def _codes_together(self, rows: Matrix) -> Codes:
        """By differences of scores, which are known better than these."""
        scores, errors, lengths = self._scored(rows)
        moved: Array | float = 0.0
        if self._intercept_is_free:
            lengths = self._centred(rows).lengths
            errors = errors + 4.0 * UNIT * (np.abs(scores) + np.abs(self.intercept_))
            scores, moved = scores + self.intercept_, gained(self._class_ends)
        reached = self.certificates_[0].ball * np.maximum(lengths, LEAST_NUMBER)
        return by_highest_difference(scores, errors, reached, apart(self._class_factors()), moved)

    # --- files ---

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, stored = super()._to_file()
        if not hasattr(self, "_class_ends"):
            return arrays, stored
        centre, low, high = self._class_ends
        return {**arrays, "class_centre": centre, "class_ends": np.stack([low, high], axis=1)}, stored

    def _weights_from_file(self, arrays: Arrays, shape: tuple[int, ...]) -> None:
        super()._weights_from_file(arrays, shape)
        if "class_ends" not in arrays:
            return
        centre, ends = arrays["class_centre"], arrays["class_ends"]
        if centre.shape != shape[1:] or not np.isfinite(centre).all():
            raise ValueError("the centre of the rows is not a number for each feature")
        if ends.shape != (len(self.classes_), 2) or not (ends[:, 0] <= ends[:, 1]).all():
            raise ValueError("the ends of the classes are not a low and a high one for each")
        self._class_ends = ClassEnds(centre, ends[:, 0], ends[:, 1])


def _check_value(problem: ClassProblem, found: Scored, model: CertainClassifier) -> None:
    """`ValueError` where the model has another objective on these data than its certificate says."""
    weighed = problem.weights if problem.origin is None else problem.weights - problem.origin
    examples = problem.loss.of(found.scores + problem.intercept, np.zeros(len(problem.y)), problem.y)
    risk = float(problem.weight @ examples.values)
    check_same(model.certificates_[0], half_square(weighed)[0] + risk, 0.0)
