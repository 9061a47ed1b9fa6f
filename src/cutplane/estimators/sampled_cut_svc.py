"""`SampledCutSVC`: kernel classifiers on more examples than a kernel matrix can have."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from cutplane.estimators import validation
from cutplane.estimators.kernel_choice import make_kernel
from cutplane.kernels.cut_finders import ConstantTimeCuts, CutFinder, ExactCuts, LinearTimeCuts
from cutplane.kernels.expansions import KernelRows
from cutplane.kernels.factored import BinaryHinge, FactoredRisk, MulticlassHinge
from cutplane.kernels.functions import Kernel
from cutplane.kernels.matrix import free_memory
from cutplane.kernels.sampled_cuts import CutStep, Outcome, minimise

ALGORITHMS = ("linear", "constant", "exact")
_SAMPLE = 400


class SampledCutSVC(ClassifierMixin, BaseEstimator):
    """Support vector classification with a kernel, by cutting planes made of sampled examples.

    Minimises ½|w|² + C·Σ lossᵢ in the feature space of the kernel: the hinge for two classes, Crammer and Singer's
    loss for more (Yu and Joachims 2008).

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the margin, per example.
    kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "chi2", "precomputed"} or callable, default="rbf"
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
        instead of at the minimiser as the paper does. Fewer cuts are needed.
    intercept_scaling : float or None, default=None
        A number adds a constant feature of that size (two classes only); None: no intercept.
    memory : int or None, default=None
        Bytes for the products of cuts with all examples, 4·n·classes for each cut ("linear" and "exact"); None: a
        quarter of what is free.
    max_iter : int, default=10_000
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
        ½|w|² + C·Σ lossᵢ of the model; with "constant", an estimate from the last sample.
    violation_ : float
        By how much the mean loss is above the cuts' model of it.
    bound_, bound_probability_ : float
        With at least this probability, `objective_` (the true one) exceeds the optimum by at most `bound_`: the
        paper's Theorems 2 and 3, which are coarse. With "exact": the gap, with certainty.
    lower_bound_, gap_ : float
        A proven bound on the optimum and the relative gap: with "exact" only, because cuts of samples prove none.
    n_iter_ : int
    history_ : list of CutStep
    stop_reason_ : {"epsilon", "max_iter", "time_limit", "interrupted"}

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
        C = validation.check_positive("C", self.C)
        epsilon = validation.check_positive("epsilon", self.epsilon)
        validation.check_choice("algorithm", self.algorithm, ALGORITHMS)
        max_iter = validation.check_count("max_iter", self.max_iter)
        threads = validation.check_threads(self.n_jobs)
        if self.time_limit is not None:
            validation.check_positive("time_limit", self.time_limit)
        X, y = validation.check_examples(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = validation.check_labels(y)
        r = self._sample_size(X.shape[0])
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)
        if kernel.name == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"A precomputed kernel matrix must be square; X has shape {X.shape}.")
        risk = self._risk(codes, threads)
        finder = self._finder(risk, X, kernel, r, threads)
        outcome = minimise(
            finder,
            C * X.shape[0],
            epsilon=epsilon,
            max_iter=max_iter,
            time_limit=self.time_limit,
            on_step=self.on_step,
        )
        self._keep(outcome, X, kernel)
        return self

    def _sample_size(self, n: int) -> int:
        if self.r is None:
            return min(_SAMPLE, n)
        r = validation.check_count("r", self.r)
        if r > n:
            raise ValueError(f"r={r} is more than the {n} examples of X; a sample has at most as many.")
        return r

    def _risk(self, codes: NDArray[np.intp], threads: int) -> FactoredRisk:
        if len(self.classes_) == 2:
            bias = 0.0
            if self.intercept_scaling is not None:
                bias = validation.check_positive("intercept_scaling", self.intercept_scaling)
            return BinaryHinge(np.where(codes == 1, 1, -1).astype(np.int8), bias, threads)
        if self.intercept_scaling is not None:
            raise ValueError(
                f"intercept_scaling={self.intercept_scaling!r} is for two classes; y has {len(self.classes_)}."
            )
        return MulticlassHinge(codes.astype(np.int64), 1.0 - np.eye(len(self.classes_)))

    def _finder(self, risk: FactoredRisk, X: Any, kernel: Kernel, r: int, threads: int) -> CutFinder:
        seed = validation.check_seed(self.random_state)
        if self.algorithm == "constant":
            return ConstantTimeCuts(risk, KernelRows(X, kernel, n_threads=threads, like=np.arange(r)), r, seed)
        rows = KernelRows(X, kernel, n_threads=threads)
        memory = free_memory() // 4 if self.memory is None else validation.check_count("memory", self.memory)
        if self.algorithm == "exact":
            return ExactCuts(risk, rows, memory=memory, stabilised=bool(self.stabilised))
        return LinearTimeCuts(risk, rows, r, seed, memory=memory, stabilised=bool(self.stabilised))

    def _keep(self, outcome: Outcome, X: Any, kernel: Kernel) -> None:
        self._kernel = kernel
        self.support_ = outcome.rows
        self.support_vectors_ = X[outcome.rows] if kernel.name != "precomputed" else np.zeros((0, 0))
        self.dual_coef_ = outcome.coef
        self.intercept_ = float(self.intercept_scaling or 0.0) * float(outcome.explicit.sum())
        self.objective_ = outcome.objective
        self.violation_ = outcome.violation
        self.bound_ = outcome.bound
        self.bound_probability_ = outcome.probability
        if outcome.lower_bound is not None:
            self.lower_bound_ = min(outcome.lower_bound, outcome.objective)
            self.gap_ = (self.objective_ - self.lower_bound_) / self.objective_ if self.objective_ > 0.0 else 0.0
        self.n_iter_ = len(outcome.history)
        self.history_ = outcome.history
        self.stop_reason_ = outcome.reason
        if outcome.reason != "epsilon":
            warnings.warn(
                f"SampledCutSVC ended by {outcome.reason} after {self.n_iter_} iterations; its mean loss is "
                f"{outcome.violation:.2g} above the model of its cuts, where {self.epsilon:g} was asked for.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each example, or of each class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        threads = validation.check_threads(self.n_jobs)
        if not len(self.support_):
            scores = np.zeros((X.shape[0], self.dual_coef_.shape[1]))
        elif self._kernel.name == "precomputed":
            scores = np.asarray(X[:, self.support_] @ self.dual_coef_)
        else:
            scores = self._kernel.product(X, self.support_vectors_, self.dual_coef_, n_threads=threads)
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
