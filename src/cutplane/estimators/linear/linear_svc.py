"""`LinearSVC`: linear classification of two classes or more with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Arrays, ClassWeight, Codes, Document, Labels, Matrix, MatrixLike, Params, RandomState
from cutplane.cluster.examples import ScatteredExamples
from cutplane.estimators.common import validation
from cutplane.estimators.common.certain import CertainLabels
from cutplane.estimators.common.certain_classes import by_highest, by_highest_difference, by_sign
from cutplane.estimators.common.certificates import one_against_rest
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.lazy import also_lazily
from cutplane.estimators.common.left_out import loss_name
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.probability_bounds import logistic_bounds
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.common.stored import labels_from_file, labels_to_file
from cutplane.estimators.common.validation.partitions import scattered_classes, scattered_examples
from cutplane.estimators.linear.c_path import CPathMixin
from cutplane.estimators.linear.calibrated import CalibratedModel
from cutplane.estimators.linear.certain_joint import apart, joint_balls
from cutplane.estimators.linear.certain_linear import Balls
from cutplane.estimators.linear.certain_training import check_goal, enough_of_gap, train_until_certain
from cutplane.estimators.linear.crammer_singer import MULTI_CLASS, CrammerSinger
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.descriptions import LINEAR_CLASSES
from cutplane.estimators.linear.problems import Prepared, scattered_problem
from cutplane.estimators.linear.supervised import SupervisedModel
from cutplane.objectives.generic import Objective
from cutplane.plain.form import PlainForm
from cutplane.plain.scores import LinearScores
from cutplane.proof.rounding import LEAST_NUMBER, exact_sum
from cutplane.risks.base import Risk, Rows
from cutplane.risks.registry import BINARY, Loss, find_loss, make_risk
from cutplane.shards.scattered import Recipe, ScatteredRisk
from cutplane.solvers.result import Result, Step
from cutplane.solvers.run import Settings
from cutplane.sources import Source, given_source


def _is_logistic(model: LinearSVC) -> bool:
    """Probabilities that are learned beside the model have no optimum to be bounded by."""
    if model.loss == "logistic" and model.calibration is None:
        return True
    raise AttributeError("probability_bounds are of loss='logistic' without calibration.")


@documented(LINEAR_CLASSES)
class LinearSVC(CPathMixin, ClassifierMixin, CertainLabels, CalibratedModel, SupervisedModel):
    """Linear support vector classification, proven optimal up to `tol`.

    Minimises ½|w|² + C·Σ loss(yᵢ(⟨w, xᵢ⟩ + b)) over w and the intercept b, which is not penalised; the loss is
    max(0, 1 - margin) unless `loss` says otherwise.

    Parameters
    ----------
    C, penalty, loss, loss_options, calibration, multi_class, cost_matrix, rescaling, class_features, dual, tol,
    absolute_tol, risk_tol, method, line_search, fit_intercept, intercept_scaling, prior, nonnegative, class_weight,
    max_iter, time_limit, n_jobs, warm_start, random_state, verbose, on_step, keep_proof, certain_on, checkpoint,
    checkpoint_every

    Attributes
    ----------
    coef_, intercept_, classes_, certificates_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_,
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import LinearSVC
    >>> model = LinearSVC(C=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [2.5]])
    array([0, 1])
    >>> bool(model.gap_ <= 1e-3)
    True
    """

    loss: str | Callable[..., Risk]
    loss_options: Mapping[str, object] | None
    multi_class: str
    cost_matrix: ArrayLike | None
    rescaling: str
    class_features: ArrayLike | None
    class_weight: ClassWeight
    certain_on: tuple[MatrixLike, float] | None = None

    # Of the fit: the joint problem of all classes, and a risk that decides in its own way.
    _joint: CrammerSinger | None = None
    _decides: Risk | None = None

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        loss: str | Callable[..., Risk] = "hinge",
        loss_options: Mapping[str, object] | None = None,
        calibration: str | None = None,
        multi_class: str = "ovr",
        cost_matrix: ArrayLike | None = None,
        rescaling: str = "margin",
        class_features: ArrayLike | None = None,
        dual: bool | str = "auto",
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        prior: ArrayLike | None = None,
        nonnegative: ArrayLike | None = None,
        class_weight: ClassWeight = None,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: RandomState = None,
        verbose: bool | int = 0,
        on_step: Callable[[Step], object] | None = None,
        keep_proof: bool = False,
        certain_on: tuple[MatrixLike, float] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        keep_parameters(locals())

    def _train_as_asked(self, training: Settings, prepared: Prepared) -> list[Result]:
        if self.certain_on is None:
            return self._train(training, prepared)
        goal = check_goal(self.certain_on)
        rows = validation.check_new_rows(self, goal.rows)
        if self.checkpoint is not None:
            raise ValueError("certain_on trains several times over, which a checkpoint cannot go on from.")
        if self._intercept_is_free:
            self._refuse_joint_intercepts()
            self._terms(prepared)

        def shrink() -> float | None:
            if self._intercept_is_free:
                self.intercept_bounds_ = self._found_ends(self, prepared)
            ends = self._free_ends()
            if float(np.mean(self._codes_from(rows, ends) >= 0)) >= goal.share:
                return None
            return enough_of_gap(*self._intervals_of(rows, ends).with_intercepts(), goal.share)

        return train_until_certain(self, training, prepared, shrink)

    def _proving(self) -> AnyProving:
        from cutplane.estimators.linear.joint_proofs import JointProofs

        return super()._proving() if self.multi_class == "ovr" else JointProofs(self)

    def _proof_targets(self, y: ArrayLike) -> list[tuple[str, NDArray[np.float64]]]:
        several = len(self.classes_) > 2
        labels = np.asarray(y)
        return [
            (f"class {label}" if several else "", np.where(labels == label, 1.0, -1.0))
            for label in (self.classes_ if several else self.classes_[1:])
        ]

    def _prepare(self, training: Settings, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Prepared:
        loss = find_loss(self.loss, BINARY, self.loss_options, n_threads=training.n_threads)
        self._check_multi_class()
        self._check_calibration()
        scattered = scattered_examples(self, X, y, sample_weight, labels=True)
        if scattered is not None:
            return self._prepare_scattered(scattered)
        rows, labels = validation.check_examples(self, X, y)
        self.classes_, codes = validation.check_many_labels(labels)
        weights = validation.check_weights(sample_weight, rows, self.class_weight, self.classes_, labels)
        if self.multi_class == "crammer_singer":
            return self._prepare_jointly(training, rows, labels, codes, weights)
        self._joint = None
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        problems = [partial(self._risk, loss, codes, positive, weights) for positive in positives]
        prepared = Prepared(rows, labels, weights, problems, (codes, self.loss, self.loss_options))
        self._check_calibrated(prepared)
        return prepared

    def _prepare_scattered(self, examples: ScatteredExamples) -> Prepared:
        """One class against the rest, on the workers that hold the examples."""
        if self.multi_class != "ovr":
            raise ValueError("multi_class='crammer_singer' is trained in one process; on a Dask collection, 'ovr' is.")
        if self.calibration is not None:
            raise ValueError(
                "calibration is learned in one process; on a Dask collection, loss='logistic' has probabilities."
            )
        self._joint = self._decides = None
        self.classes_, factors, weights = scattered_classes(examples, self.class_weight)
        loss = find_loss(self.loss, BINARY, self.loss_options, n_threads=0)
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        for positive in positives:
            validation.check_both_sides(
                validation.signs(np.arange(len(weights)) == positive), weights, self.classes_[positive]
            )
        total = exact_sum(weights)
        risks = [ScatteredRisk(Recipe(loss, self.classes_, positive, factors, total)) for positive in positives]
        if risks[0].own_decision:
            raise ValueError(f"loss={self.loss!r} has a `decide` of its own, which is for examples in this process.")
        key = (examples.marks, self.loss, self.loss_options)
        return Prepared(examples.source, None, None, [scattered_problem(risk) for risk in risks], key)

    def _check_multi_class(self) -> None:
        """Refuse what only one way of having several classes understands, where it is not that way."""
        joint = validation.check_choice("multi_class", self.multi_class, MULTI_CLASS) == "crammer_singer"
        if joint and self.loss != "hinge":
            raise ValueError(f"multi_class='crammer_singer' is for loss='hinge', not loss={self.loss!r}.")
        for name, value in (("prior", self.prior), ("nonnegative", self.nonnegative)):
            if joint and value is not None and self.class_features is not None:
                raise ValueError(f"{name} is for weights of each class of its own: class_features must be None.")
        for name, value, default in (
            ("cost_matrix", self.cost_matrix, None),
            ("class_features", self.class_features, None),
            ("rescaling", self.rescaling, "margin"),
        ):
            if not joint and value is not default and not (isinstance(value, str) and value == default):
                raise ValueError(f"{name} is for multi_class='crammer_singer', not multi_class='ovr'.")

    def _prepare_jointly(
        self,
        training: Settings,
        X: Matrix | Source,
        y: Labels,
        codes: Codes,
        weights: NDArray[np.float64] | None,
    ) -> Prepared:
        """One problem for all classes."""
        self._decides = None
        joint = CrammerSinger.checked(self.classes_, self.cost_matrix, self.rescaling, self.class_features)
        self._joint = joint
        if self.nonnegative is not None and len(self.classes_) == 2:
            raise ValueError(
                "nonnegative with multi_class='crammer_singer' is for three classes and more: of two, `coef_` is the "
                "difference; multi_class='ovr' bounds that."
            )
        validation.check_class_weights(codes, weights, self.classes_)
        problem = partial(joint.risk, codes, weights, training.n_threads)
        return Prepared(X, y, weights, [problem], (codes, self.multi_class, *joint.key))

    def _prior_rows(self, n_problems: int, d: int) -> NDArray[np.float64] | None:
        """Trained together, every class has a row, as in `coef_`."""
        rows = n_problems if self._joint is None or len(self.classes_) == 2 else len(self.classes_)
        return super()._prior_rows(rows, d)

    def _origin(self, index: int, n_problems: int, d: int) -> NDArray[np.float64] | None:
        prior = self._prior_rows(n_problems, d)
        if prior is None or self._joint is None:
            return super()._origin(index, n_problems, d)
        return self._joint.weights_from(prior)

    def _bounds(self, mask: NDArray[np.bool_], origin: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Trained together, every class has the bounds of its features."""
        wide = mask if self._joint is None else np.repeat(mask[:, None], len(self.classes_), axis=1)
        return super()._bounds(wide, origin)

    def _objective(self, source: Source, risk: Risk, origin: NDArray[np.float64] | None = None) -> Objective:
        if self._joint is None:
            return super()._objective(source, risk, origin)
        free = self.fit_intercept and not self._penalised
        return self._joint.objective(source, risk, intercept=free, origin=origin, relative_gap=self.tol)

    def _risk(self, loss: Loss, codes: Codes, positive: int, weights: Array | None, rows: Rows | None) -> Risk:
        """The risk of one class against the rest, on some rows or all."""
        labels = validation.signs((codes if rows is None else codes[rows]) == positive)
        part = weights if rows is None or weights is None else weights[rows]
        validation.check_both_sides(labels, part, self.classes_[positive])
        risk = make_risk(loss, labels, part)
        if risk.binary_only and len(self.classes_) > 2:
            raise ValueError(f"y has {len(self.classes_)} classes, but loss={self.loss!r} is for two.")
        # A user's risk may decide in its own way; the others by the sign.
        self._decides = None if type(risk).decide is Risk.decide else risk
        return risk

    def _problem_labels(self) -> list[object]:
        return [None] if self.multi_class == "crammer_singer" else one_against_rest(self.classes_)

    def _fitted(self, results: list[Result]) -> Params:
        if self._joint is None:
            return {**super()._fitted(results), "classes_": self.classes_}
        coef, intercept = self._joint.weights_of(results[0], self.intercept_scaling if self._penalised else None)
        prior = self._prior_rows(1, coef.shape[1])
        if prior is not None:
            coef = coef + prior
        return {"coef_": coef, "intercept_": intercept, "classes_": self.classes_}

    @also_lazily
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """The score of each example; of each class if there are more than two."""
        check_is_fitted(self)
        source = given_source(X)
        if source is None:
            product = safe_sparse_dot(validation.check_new_rows(self, X), self.coef_.T, dense_output=True)
        elif source.shape[1] != self.n_features_in_:
            found = source.shape[1]
            raise ValueError(f"X has {found} features, but the model was trained with {self.n_features_in_}.")
        else:
            product = source.scores(np.ascontiguousarray(dense(self.coef_).T))
        scores = product + self.intercept_
        return np.asarray(scores.ravel() if scores.shape[1] == 1 else scores)

    @also_lazily
    def predict(
        self, X: MatrixLike, *, return_certain: bool = False
    ) -> NDArray[np.generic] | tuple[NDArray[np.generic], NDArray[np.bool_]]:
        """The class of each example: by the sign of its score, or the highest score where there are several.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        return_certain : bool, default=False
            Whether to return, beside the labels, which of them are proven to be those of the exact optimum. With a
            free intercept that needs `certify_intercept` first.
        """
        labels = self._predict_from(self.decision_function(X))
        return self._with_certainty(X, labels) if return_certain else labels

    def _balls(self) -> Balls:
        if self.multi_class != "crammer_singer":
            return super()._balls()
        prior = self._prior_rows(1, self.n_features_in_)
        return joint_balls(self.certificates_[0], self._class_factors(), prior)

    def _class_factors(self) -> NDArray[np.float64]:
        """What weights that are trained together are multiplied by, a row for each class."""
        if self.class_features is None:
            return np.eye(len(self.classes_))
        return np.asarray(self.class_features, np.float64)

    def _refuse_joint_intercepts(self) -> None:
        if self.multi_class == "crammer_singer" and self._intercept_is_free:
            raise ValueError(
                "Free intercepts of classes that are trained together have no proven bounds; with "
                "intercept_scaling=1.0 or fit_intercept=False scores have."
            )

    def _free_ends(self) -> NDArray[np.float64]:
        self._refuse_joint_intercepts()
        return super()._free_ends()

    def _proven_codes(self, X: MatrixLike) -> Codes:
        if getattr(self, "_decides", None) is not None:
            raise ValueError(f"The predictions of loss={self.loss!r} are its own `decide`: nothing is proven of them.")
        return self._codes_from(validation.check_new_rows(self, X), self._free_ends())

    def _codes_from(self, rows: Matrix, ends: Array) -> Codes:
        if self.multi_class == "crammer_singer" and len(self.classes_) > 2:
            scores, errors, lengths = self._scored(rows)
            factors, (certificate,) = self._class_factors(), self.certificates_
            reach = certificate.ball * np.maximum(lengths, LEAST_NUMBER)
            return by_highest_difference(scores, errors, reach, apart(factors))
        low, high = self._intervals_of(rows, ends).with_intercepts()
        return by_sign(low[:, 0], high[:, 0]) if low.shape[1] == 1 else by_highest(low, high)

    def _predict_from(self, scores: NDArray[np.float64]) -> NDArray[np.generic]:
        if scores.ndim > 1:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        decides = getattr(self, "_decides", None)
        positive = scores > 0 if decides is None else np.asarray(decides.decide(scores)) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def probability_bounds(self, X: MatrixLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Between what the probabilities of the exact optimum lie; only with ``loss="logistic"``.

        Returns
        -------
        low, high : array of shape (n, n_classes)
        """
        return logistic_bounds(*self.decision_bounds(X))

    def _plain_model(self) -> PlainForm:
        if getattr(self, "_decides", None) is not None:
            raise ValueError(f"The predictions of loss={self.loss!r} are its own `decide`, which is code and no data.")
        scores = LinearScores(dense(self.coef_), np.asarray(self.intercept_))
        objective = self.multi_class if self.multi_class == "crammer_singer" else loss_name(self.loss)
        return PlainForm(type(self).__name__, objective, scores, self._decision(), self._made_of_scores())

    def _to_file(self) -> tuple[Arrays, Document]:
        if getattr(self, "_decides", None) is not None:
            raise ValueError(
                f"The predictions of loss={self.loss!r} are its own `decide`, which a model file cannot hold; "
                "models whose predictions are the sign of their scores can be saved."
            )
        arrays, stored = super()._to_file()
        class_arrays, classes = labels_to_file(self.classes_)
        curves, kind = self._curves_to_file()
        return {**arrays, **class_arrays, **curves}, {**stored, "classes": classes, **kind}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self.classes_ = labels_from_file(arrays, stored["classes"])
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        self._weights_from_file(arrays, (rows, self.n_features_in_))
        self._curves_from_file(arrays, stored)
