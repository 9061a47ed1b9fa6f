"""Linear classifiers: classes one against the rest, or all of them as one problem; predictions, proofs, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Arrays, ClassWeight, Codes, Document, Labels, Matrix, MatrixLike, Params
from cutplane.cluster.examples import ScatteredExamples
from cutplane.device.arrays import in_type_of
from cutplane.device.kernels import DeviceArray
from cutplane.device.source import DeviceRows
from cutplane.estimators.common import validation
from cutplane.estimators.common.certificates import one_against_rest
from cutplane.estimators.common.lazy import also_lazily
from cutplane.estimators.common.left_out import loss_name
from cutplane.estimators.common.probability_bounds import logistic_bounds
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.common.scored import ScoredAnywhere
from cutplane.estimators.common.stored import labels_from_file, labels_to_file
from cutplane.estimators.common.validation.partitions import scattered_classes
from cutplane.estimators.common.validation.scattered import scattered_examples
from cutplane.estimators.linear.against_rest import AgainstRest
from cutplane.estimators.linear.c_path import CPathMixin
from cutplane.estimators.linear.certain_classifier import CertainClassifier
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.joint_classes import JointClasses
from cutplane.estimators.linear.problems import Prepared, scattered_problem
from cutplane.objectives.generic import Objective
from cutplane.plain.form import PlainForm
from cutplane.plain.scores import LinearScores
from cutplane.proof.class_losses import ClassLoss
from cutplane.proof.rounding import exact_sum
from cutplane.risks.base import Risk, Rows
from cutplane.risks.labels import signs
from cutplane.risks.registry import BINARY, Loss, find_loss, has_interior, make_risk
from cutplane.shards.scattered import Recipe, ScatteredRisk
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings
from cutplane.sources import Source


class Joint(Protocol):
    """The one problem of all classes: see `cutplane.estimators.linear.crammer_singer.CrammerSinger`."""

    @property
    def key(self) -> tuple[object, ...]: ...  # noqa: D102

    @property
    def costs_there(self) -> Array | None: ...  # noqa: D102

    @property
    def loss(self) -> ClassLoss: ...  # noqa: D102

    def risk(self, codes: Codes, weights: Array | None, n_threads: int, rows: Rows | None = None) -> Risk: ...  # noqa: D102

    def objective(  # noqa: D102
        self, source: Source, risk: Risk, *, intercept: bool, origin: Array | None, relative_gap: float
    ) -> Objective: ...

    def weights_of(self, result: Result, intercept_scaling: float | None) -> tuple[Array, Array]: ...  # noqa: D102

    def weights_from(self, coef: Array) -> Array: ...  # noqa: D102


def _is_logistic(model: LinearClassifier) -> bool:
    """Probabilities that are learned beside the model have no optimum to be bounded by."""
    if model.loss == "logistic" and model.calibration is None:
        return True
    raise AttributeError("probability_bounds are of loss='logistic' without calibration.")


class LinearClassifier(CPathMixin, ScoredAnywhere, ClassifierMixin, CertainClassifier):
    """A linear classifier of two classes or more.

    A subclass says with `_together` whether its classes are one problem, and with `_make_joint` which.
    """

    loss: str | Callable[..., Risk]
    loss_options: Mapping[str, object] | None = None
    class_weight: ClassWeight

    # Of the fit: the joint problem of all classes, and a risk that decides in its own way.
    _joint: Joint | None = None
    _decides: Risk | None = None

    def _check_own(self) -> None:
        """Refuse settings that do not go together, before the examples are looked at."""

    def _make_joint(self) -> Joint:
        """The one problem of the classes in `classes_`."""
        raise NotImplementedError

    def _joint_proofs(self) -> AnyProving:
        """How the one problem of all classes is proven."""
        raise NotImplementedError

    @property
    def _joint_name(self) -> str:
        """What the one problem of all classes is called, in files and errors."""
        raise NotImplementedError

    def _proving(self) -> AnyProving:
        return self._joint_proofs() if self._together else super()._proving()

    def _proof_targets(self, y: ArrayLike) -> list[tuple[str, NDArray[np.float64]]]:
        several = len(self.classes_) > 2
        labels = np.asarray(y)
        return [
            (f"class {label}" if several else "", np.where(labels == label, 1.0, -1.0))
            for label in (self.classes_ if several else self.classes_[1:])
        ]

    def _prepare(self, training: Settings, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Prepared:
        loss = find_loss(self.loss, BINARY, self.loss_options, n_threads=training.n_threads)
        self._check_own()
        self._check_calibration()
        scattered = scattered_examples(self, X, y, sample_weight, labels=True)
        if scattered is not None:
            return self._prepare_scattered(scattered)
        rows, labels = self._checked(X, y)
        classes, codes = validation.check_many_labels(labels, training.n_threads)
        weights = validation.check_weights(sample_weight, rows, self.class_weight, classes, labels)
        by_class = ("prior", "cost_matrix", "class_features")  # has a row for each class of y
        if all(getattr(self, name, None) is None for name in by_class):
            classes, codes = validation.counted_classes(classes, codes, weights)
        self.classes_ = in_type_of(y, classes)
        rows = self._placed(rows)
        if self._together:
            return self._prepare_jointly(training, rows, labels, codes, weights)
        self._joint = None
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        problems = [partial(self._risk, loss, codes, positive, weights) for positive in positives]
        key = (codes, self.loss, self.loss_options)
        self._decides = None
        against = None
        if len(problems) > 1 and not self.loss_options:
            against = AgainstRest(self.loss, loss, codes, weights, len(problems))
        prepared = Prepared(rows, labels, weights, problems, key, in_core=has_interior(loss), against=against)
        self._check_calibrated(prepared)
        return prepared

    def _prepare_scattered(self, examples: ScatteredExamples) -> Prepared:
        """One class against the rest, on the workers that hold the examples."""
        if self.calibration is not None:
            raise ValueError(
                "calibration is learned in one place; on a Dask collection or several GPUs, loss='logistic' has "
                "probabilities."
            )
        self._joint = self._decides = None
        self.classes_, factors, weights = scattered_classes(examples, self.class_weight)
        self._check_scattered()
        loss = find_loss(self.loss, BINARY, self.loss_options, n_threads=0)
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        for positive in positives:
            validation.check_both_sides(
                signs(np.arange(len(weights), dtype=np.int32), positive), weights, self.classes_[positive]
            )
        total = exact_sum(weights)
        risks = [ScatteredRisk(Recipe(loss, self.classes_, positive, factors, total)) for positive in positives]
        if risks[0].own_decision:
            raise ValueError(f"loss={self.loss!r} has a `decide` of its own, which is for examples in this process.")
        key = (examples.marks, self.loss, self.loss_options)
        return Prepared(examples.source, None, None, [scattered_problem(risk) for risk in risks], key)

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
        joint = self._joint = self._make_joint()
        validation.check_class_weights(codes, weights, self.classes_)
        problem = partial(joint.risk, codes, weights, training.n_threads)
        cost = joint.costs_there
        classes = None if cost is None else JointClasses(codes, weights, cost)
        return Prepared(X, y, weights, [problem], (codes, self._joint_name, *joint.key), joint=classes)

    def _check_scattered(self) -> None:
        """Refuse one problem for all classes, where examples are on a cluster."""
        raise NotImplementedError

    def _prior_rows(self, n_problems: int, d: int) -> NDArray[np.float64] | None:
        """Trained together, every class has a row, as in `coef_`."""
        rows = len(self.classes_) if self._together and len(self.classes_) > 2 else n_problems
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
        n_threads = validation.check_threads(self.n_jobs)
        labels = signs(codes if rows is None else codes[rows], positive, n_threads)
        part = weights if rows is None or weights is None else weights[rows]
        validation.check_both_sides(labels, part, self.classes_[positive])
        risk = make_risk(loss, labels, part)
        if risk.binary_only and len(self.classes_) > 2:
            raise ValueError(f"y has {len(self.classes_)} classes, but loss={self.loss!r} is for two.")
        # A user's risk may decide in its own way; the others by the sign.
        self._decides = None if type(risk).decide is Risk.decide else risk
        return risk

    def _problem_labels(self) -> list[object]:
        return [None] if self._together else one_against_rest(self.classes_)

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
        scores = self._products(X, self.coef_) + self.intercept_
        return np.asarray(scores.ravel() if scores.shape[1] == 1 else scores)

    def _decision_function_there(self, rows: DeviceRows) -> DeviceArray:
        """The same of rows on a GPU, where it stays."""
        scores = self._products_there(rows, self.coef_) + rows.kernels.to_device(self.intercept_)
        return scores.ravel() if scores.shape[1] == 1 else scores

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

    def _predict_there(self, rows: DeviceRows) -> DeviceArray | NDArray[np.generic]:
        """The same of rows on a GPU: there, but for classes that are words."""
        scores = self._decision_function_there(rows)
        codes = (scores > 0).astype(np.int8) if scores.ndim == 1 else scores.argmax(axis=1)
        if self.classes_.dtype.kind not in "biuf":
            return np.asarray(self.classes_[rows.kernels.to_host(codes)])
        return rows.kernels.to_device(self.classes_)[codes]

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
        return logistic_bounds(*self._bounds_here(X))

    def _plain_model(self) -> PlainForm:
        if getattr(self, "_decides", None) is not None:
            raise ValueError(f"The predictions of loss={self.loss!r} are its own `decide`, which is code and no data.")
        scores = LinearScores(dense(self.coef_), np.asarray(self.intercept_))
        objective = self._joint_name if self._together else loss_name(self.loss)
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
