"""`SampledCutSVC`: kernel classifiers on more examples than a kernel matrix can have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cutplane.estimators import validation
from cutplane.estimators.sampled_cut_training import SampledCutEstimator
from cutplane.estimators.savable import Arrays, labels_from_file, labels_to_file
from cutplane.kernels.sampled_cuts import CutStep
from cutplane.structured.factored import BinaryHinge, ClassHinge, FactoredRisk


class SampledCutSVC(ClassifierMixin, SampledCutEstimator):
    """Support vector classification with a kernel, by cutting planes made of sampled examples.

    Minimises ½|w|² + C·Σ lossᵢ in the feature space of the kernel: the hinge for two classes, Crammer and Singer's
    loss for more (Yu and Joachims 2008).

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the margin, per example.
    kernel : str (a key of `cutplane.kernels.FORMULAS`, or "precomputed") or callable, default="rbf"
    gamma : {"scale", "auto"} or float, default="scale"
    degree : int, default=3
    coef0 : float, default=0.0
    algorithm : {"linear", "constant", "exact"}, default="linear"
        "linear": every example is looked at, cuts are made of `r` of those with a loss: n·r kernel values an
        iteration. "constant": nothing but `r` sampled examples is looked at: the cost of an iteration does not depend
        on n, and no more is known of the result than samples tell. "exact": cuts of all examples, n² kernel values.
    r : int or None, default=None
        Examples in a sample, at most n; None: 400, or all if there are fewer.
    epsilon : float, default=1e-3
        Training ends when the mean loss is within this of the cuts' model of it; "constant": in four samples in a row.
    stabilised : bool, default=True
        Whether "linear" and "exact" take cuts near the best point on the line to the model's minimiser, as OCA does,
        instead of at the minimiser as the paper does: fewer cuts are needed. With "constant", whether the model is the
        mean of the minimisers in the last part of the run instead of the last one: errors are smaller, and there are
        more support vectors.
    intercept_scaling : float or None, default=None
        A number adds a constant feature of that size (two classes only); None: no intercept.
    memory : int or None, default=None
        Bytes for the products of cuts with all examples, 4·n·classes for each cut ("linear" and "exact"); None: a
        quarter of what is free.
    max_iter : int, default=10_000
        Iterations; 1,000 at most where the kernel turns out not to be positive semi-definite.
    time_limit : float or None, default=None
        Seconds.
    n_jobs : int or None, default=None
        Threads; None leaves it to OpenMP, -1 takes all processors. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        For the samples; None is a fixed seed.
    on_step : callable or None, default=None
        Called with a `CutStep` after every iteration; returning True ends the fit.

    Attributes
    ----------
    classes_ : array
    support_, support_vectors_ : array
        The examples in the model, by position and as rows.
    dual_coef_ : array of shape (n_support, 1) or (n_support, n_classes)
    intercept_ : float
    objective_ : float
        ½|w|² + C·Σ lossᵢ of the model; with "constant", an estimate from samples.
    violation_ : float
        By how much the mean loss is above the cuts' model of it; "constant" and stabilised, the mean of the violations.
    bound_, bound_probability_ : float
        With at least this probability, `objective_` (the true one) exceeds the optimum by at most `bound_`: the
        paper's Theorems 2 and 3, which are coarse. With "exact": the gap, with certainty.
    lower_bound_, gap_ : float
        A proven bound on the optimum and the relative gap: with "exact" only, because cuts of samples prove none.
    certificate_of_ : str
        With "exact": what the bounds are for. "kernel": evaluated in double precision, with all rounding charged.
        "single-precision kernel matrix": where that would cost much beside the training, those of the run with an
        allowance. As for `SVC`, it says where the kernel is assumed, or found not, to be positive semi-definite.
    n_iter_ : int
    history_ : list of CutStep
    stop_reason_ : {"epsilon", "max_iter", "time_limit", "interrupted", "stalled"}
        "stalled": the run seemed to be within epsilon, but in double precision it is not.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from cutplane import SampledCutSVC
    >>> X, y = make_moons(1000, noise=0.1, random_state=0)
    >>> model = SampledCutSVC(gamma=5.0, r=100).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        algorithm: str = "linear",
        r: int | None = None,
        epsilon: float = 1e-3,
        stabilised: bool = True,
        intercept_scaling: float | None = None,
        memory: int | None = None,
        max_iter: int = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        on_step: Callable[[CutStep], Any] | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.algorithm = algorithm
        self.r = r
        self.epsilon = epsilon
        self.stabilised = stabilised
        self.intercept_scaling = intercept_scaling
        self.memory = memory
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_step = on_step

    def fit(self, X: Any, y: Any) -> Self:
        """Train on X (dense or CSR; a square kernel matrix if precomputed) and labels y of any type.

        Returns
        -------
        self
        """
        self._check_settings()
        X, y = validation.check_examples(self, X, y)
        self.classes_, codes = validation.check_many_labels(y)
        outcome = self._train(self._risk(codes), X, self._make_kernel(X))
        self.intercept_ = float(self.intercept_scaling or 0.0) * float(outcome.explicit.sum())
        return self

    def _risk(self, codes: NDArray[Any]) -> FactoredRisk:
        if len(self.classes_) == 2:
            bias = 0.0
            if self.intercept_scaling is not None:
                bias = validation.check_positive("intercept_scaling", self.intercept_scaling)
            return BinaryHinge(validation.signs(codes == 1), bias, validation.check_threads(self.n_jobs))
        if self.intercept_scaling is not None:
            raise ValueError(
                f"intercept_scaling={self.intercept_scaling!r} is for two classes; y has {len(self.classes_)}."
            )
        return ClassHinge(codes.astype(np.int64), 1.0 - np.eye(len(self.classes_)))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each example, or of each class."""
        check_is_fitted(self)
        X = validation.check_rows(self, X, reset=False)
        scores = self._row_scores(X)
        return scores[:, 0] + self.intercept_ if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each example."""
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def __sklearn_tags__(self) -> Any:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _to_file(self) -> tuple[Arrays, dict[str, Any]]:
        arrays, described = super()._to_file()
        labels, classes = labels_to_file(self.classes_)
        return arrays | labels, described | {"classes": classes, "intercept": self.intercept_}

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        super()._from_file(arrays, stored)
        self.classes_ = labels_from_file(arrays, stored["classes"])
        self.intercept_ = float(stored["intercept"])
        count = len(self.classes_)
        if self.dual_coef_.shape[1] != (1 if count == 2 else count) or not np.isfinite(self.intercept_):
            raise ValueError("the coefficients do not fit the classes")
