"""`SampledCutSVC`: kernel classifiers on more examples than a kernel matrix can have."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Codes, Document, Labels, MatrixLike, RandomState
from cutplane.device.arrays import in_type_of
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.scored import ScoredAnywhere
from cutplane.estimators.common.stored import labels_from_file, labels_to_file
from cutplane.estimators.kernel.descriptions import CUTS
from cutplane.estimators.kernel.placement import answers_in_place, brought, is_asked_there
from cutplane.estimators.kernel.plain_scores import Support, plain_scores
from cutplane.estimators.kernel.sampled_cut_training import SampledCutEstimator
from cutplane.kernels.functions import KernelFunction
from cutplane.plain.decisions import Highest, Sign
from cutplane.plain.form import PlainForm
from cutplane.risks.labels import signs
from cutplane.solvers.result import OnStep
from cutplane.structured.factored import BinaryHinge, ClassHinge, FactoredRisk
from cutplane.structured.weighted import WeightedRisk


@documented(CUTS)
class SampledCutSVC(ScoredAnywhere, ClassifierMixin, SampledCutEstimator):
    """Support vector classification with a kernel, by cutting planes made of sampled examples.

    Minimises ½|w|² + C·Σ lossᵢ in the feature space of the kernel: the hinge for two classes, Crammer and Singer's
    loss for more (Yu and Joachims 2008).

    Parameters
    ----------
    C, kernel, gamma, degree, coef0, method, n_samples_cut, risk_tol, stabilised
    intercept_scaling : float or None, default=None
        A number adds a constant feature of that size (two classes only); None: no intercept.
    memory, max_iter, time_limit, n_jobs, device, random_state, on_step

    Attributes
    ----------
    classes_
    support_, support_vectors_ : array
        The examples in the model, by position and as rows.
    dual_coef_ : array of shape (n_support, 1) or (n_support, n_classes)
        Their coefficients.
    intercept_ : float
        What is added to the scores of two classes.
    certificates_, objective_, violation_, bound_, bound_probability_, lower_bound_, gap_, certificate_of_,
    n_iter_, history_,
    stop_reason_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from cutplane import SampledCutSVC
    >>> X, y = make_moons(1000, noise=0.1, random_state=0)
    >>> model = SampledCutSVC(gamma=5.0, n_samples_cut=100).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        method: str = "linear",
        n_samples_cut: int | None = None,
        risk_tol: float = 1e-3,
        stabilised: bool = True,
        intercept_scaling: float | None = None,
        memory: int | None = None,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        random_state: RandomState = None,
        on_step: OnStep | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.n_samples_cut = n_samples_cut
        self.risk_tol = risk_tol
        self.stabilised = stabilised
        self.intercept_scaling = intercept_scaling
        self.memory = memory
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.on_step = on_step

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (dense or CSR; a square kernel matrix if precomputed) and labels y of any type.

        Samples are drawn from all examples, whatever they weigh: `bound_` grows with the largest `sample_weight`,
        relative to the mean.

        Returns
        -------
        self
        """
        with self._settings_checked():
            examples, labels = validation.check_examples(self, brought(X), y, for_kernel=True)
            classes, codes = validation.check_many_labels(labels, validation.check_threads(self.n_jobs))
            weights = validation.check_weights(sample_weight, examples, None, classes, labels)
            classes, codes = validation.counted_classes(classes, codes, weights)
            self.classes_ = in_type_of(y, classes)
            risk = self._risk(codes)
            if weights is not None:
                validation.check_class_weights(codes, weights, self.classes_)
                risk = WeightedRisk(risk, weights)
            outcome = self._train(risk, examples, self._make_kernel(examples), there=is_asked_there(self.device, X))
            self.intercept_ = float(self.intercept_scaling or 0.0) * float(outcome.explicit.sum())
        return self

    def _risk(self, codes: Codes) -> FactoredRisk:
        if len(self.classes_) == 2:
            bias = 0.0
            if self.intercept_scaling is not None:
                bias = validation.check_positive("intercept_scaling", self.intercept_scaling)
            n_threads = validation.check_threads(self.n_jobs)
            return BinaryHinge(signs(codes, 1, n_threads), bias, n_threads)
        if self.intercept_scaling is not None:
            raise ValueError(
                f"intercept_scaling={self.intercept_scaling!r} is for two classes; y has {len(self.classes_)}."
            )
        return ClassHinge(codes.astype(np.int64), 1.0 - np.eye(len(self.classes_)))

    @answers_in_place
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """The score of each example, or of each class."""
        return self._decisions(X)

    @answers_in_place
    def predict(self, X: MatrixLike) -> Labels:
        """The class of each example."""
        scores = self._decisions(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _decisions(self, X: MatrixLike) -> NDArray[np.float64]:
        """The scores, on the host."""
        check_is_fitted(self)
        scores = self._scores(X)
        return scores[:, 0] + self.intercept_ if len(self.classes_) == 2 else scores

    def __sklearn_tags__(self) -> Tags:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _plain_model(self) -> PlainForm:
        coef = np.ascontiguousarray(self.dual_coef_.T)
        two = len(self.classes_) == 2
        rows = Support(self.support_, self.support_vectors_, self.n_features_in_)  # of a kernel matrix: its columns
        scores = plain_scores(self._kernel, rows, coef, np.full(len(coef), self.intercept_ if two else 0.0))
        decision = Sign(self.classes_) if two else Highest(self.classes_)
        return PlainForm(type(self).__name__, "hinge" if two else "crammer_singer", scores, decision)

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, described = super()._to_file()
        labels, classes = labels_to_file(self.classes_)
        return arrays | labels, described | {"classes": classes, "intercept": self.intercept_}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        self.classes_ = labels_from_file(arrays, stored["classes"])
        self.intercept_ = float(stored["intercept"])
        count = len(self.classes_)
        if self.dual_coef_.shape[1] != (1 if count == 2 else count) or not np.isfinite(self.intercept_):
            raise ValueError("the coefficients do not fit the classes")
