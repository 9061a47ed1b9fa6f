"""`LinearSVC`: linear classification of two classes or more with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Arrays, ClassWeight, Codes, Document, Labels, Matrix, MatrixLike, Params, RandomState
from cutplane.cluster.examples import ScatteredExamples
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.lazy import also_lazily
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.common.stored import labels_from_file, labels_to_file
from cutplane.estimators.common.validation.partitions import scattered_classes, scattered_examples
from cutplane.estimators.linear.c_path import CPathMixin
from cutplane.estimators.linear.crammer_singer import MULTI_CLASS, CrammerSinger, check_class_weights
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.descriptions import LINEAR_CLASSES
from cutplane.estimators.linear.problems import Prepared, scattered_problem
from cutplane.estimators.linear.supervised import SupervisedModel
from cutplane.objectives.generic import Objective
from cutplane.proof.rounding import exact_sum
from cutplane.risks.base import Risk, Rows
from cutplane.risks.logistic import probabilities
from cutplane.risks.registry import BINARY, Loss, find_loss, make_risk
from cutplane.shards.scattered import Recipe
from cutplane.solvers.result import Result, Step
from cutplane.solvers.run import Settings
from cutplane.sources import Source, given_source


def _has_probabilities(model: LinearSVC) -> bool:
    """Only the logistic loss makes probabilities of scores."""
    if model.loss == "logistic":
        return True
    raise AttributeError(f"predict_proba needs loss='logistic', not loss={model.loss!r}.")


@documented(LINEAR_CLASSES)
class LinearSVC(CPathMixin, LinearClassifierMixin, SupervisedModel):
    """Linear support vector classification, proven optimal up to `tol`.

    Minimises ½|w|² + C·Σ loss(yᵢ(⟨w, xᵢ⟩ + b)) over w and the intercept b, which is not penalised; the loss is
    max(0, 1 - margin) unless `loss` says otherwise.

    Parameters
    ----------
    C, loss, loss_options, multi_class, cost_matrix, rescaling, class_features, tol, absolute_tol, risk_tol,
    method, line_search, fit_intercept, intercept_scaling, prior, nonnegative, class_weight, max_iter,
    time_limit, n_jobs, warm_start, random_state, on_step, keep_proof, checkpoint, checkpoint_every

    Attributes
    ----------
    coef_, intercept_, classes_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_,
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

    # Of the fit: the joint problem of all classes, and a risk that decides in its own way.
    _joint: CrammerSinger | None = None
    _decides: Risk | None = None

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str | Callable[..., Risk] = "hinge",
        loss_options: Mapping[str, object] | None = None,
        multi_class: str = "ovr",
        cost_matrix: ArrayLike | None = None,
        rescaling: str = "margin",
        class_features: ArrayLike | None = None,
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
        on_step: Callable[[Step], object] | None = None,
        keep_proof: bool = False,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        keep_parameters(locals())

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
        return Prepared(rows, labels, weights, problems, (codes, self.loss, self.loss_options))

    def _prepare_scattered(self, examples: ScatteredExamples) -> Prepared:
        """One class against the rest, on the workers that hold the examples."""
        if self.multi_class != "ovr":
            raise ValueError("multi_class='crammer_singer' is trained in one process; on a Dask collection, 'ovr' is.")
        self._joint = self._decides = None
        self.classes_, factors, weights = scattered_classes(examples, self.class_weight)
        loss = find_loss(self.loss, BINARY, self.loss_options, n_threads=0)
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        for positive in positives:
            validation.check_both_sides(
                validation.signs(np.arange(len(weights)) == positive), weights, self.classes_[positive]
            )
        recipes = [Recipe(loss, self.classes_, positive, factors, exact_sum(weights)) for positive in positives]
        key = (examples.marks, self.loss, self.loss_options)
        return Prepared(examples.source, None, None, [scattered_problem(recipe) for recipe in recipes], key)

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
        check_class_weights(codes, weights, self.classes_)
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
    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """The class of each example: by the sign of its score, or the highest score where there are several."""
        return self._predict_from(self.decision_function(X))

    def _predict_from(self, scores: NDArray[np.float64]) -> NDArray[np.generic]:
        if scores.ndim > 1:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        decides = getattr(self, "_decides", None)
        positive = scores > 0 if decides is None else np.asarray(decides.decide(scores)) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @also_lazily
    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """The probability of each class; only with ``loss="logistic"``.

        With more than two classes these are of each class against the rest, divided by their sum.
        """
        return probabilities(self.decision_function(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @also_lazily
    def predict_log_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """The logarithm of the probability of each class; only with ``loss="logistic"``."""
        return np.asarray(np.log(self.predict_proba(X)))

    def _to_file(self) -> tuple[Arrays, Document]:
        if getattr(self, "_decides", None) is not None:
            raise ValueError(
                f"The predictions of loss={self.loss!r} are its own `decide`, which a model file cannot hold; "
                "models whose predictions are the sign of their scores can be saved."
            )
        arrays, stored = super()._to_file()
        class_arrays, classes = labels_to_file(self.classes_)
        return {**arrays, **class_arrays}, {**stored, "classes": classes}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self.classes_ = labels_from_file(arrays, stored["classes"])
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        problems = 1 if self.multi_class == "crammer_singer" else rows
        self._weights_from_file(arrays, (rows, self.n_features_in_), problems)
