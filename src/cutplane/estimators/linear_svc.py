"""`LinearSVC`: binary and one-vs-rest linear classification with a certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils.multiclass import check_classification_targets

from cutplane.estimators import validation
from cutplane.estimators.callbacks import CallbackSupportMixin, StepHooks, with_callbacks
from cutplane.estimators.savable import Arrays, Savable, finite, labels_from_file, labels_to_file
from cutplane.estimators.training import LINE_SEARCHES, METHODS, Training, warn_unless_proven
from cutplane.objective import SmoothObjective
from cutplane.risks.hinge import Hinge
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import Result, Step
from cutplane.solvers.stopping import Stopping
from cutplane.sources import Source, as_source
from cutplane.sources.augmented import AugmentedSource


class LinearSVC(Savable, CallbackSupportMixin, LinearClassifierMixin, SparseCoefMixin, BaseEstimator):
    """Linear support vector classification, proven optimal up to `tol`.

    Minimises ½|w|² + C·Σ max(0, 1 - yᵢ(⟨w, xᵢ⟩ + b)) over w and the intercept b, which is not penalised.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the margin, per example.
    loss : {"hinge"}, default="hinge"
        The loss.
    tol : float, default=1e-3
        The relative gap (upper - lower) / upper at which training ends.
    absolute_tol : float, default=0.0
        Training also ends when upper - lower is at most this.
    risk_tol : float, default=0.0
        Training also ends when the mean loss is proven within this of its value at the optimum: SVM-perf's epsilon.
    method : {"auto", "newton", "oca", "cpa"}, default="auto"
        How planes are found: the fastest way known for the data at hand, smoothed Newton, optimised cutting planes
        (Franc and Sonnenburg 2009) or plain ones (Joachims 2006).
    line_search : {"exact", "three-point"}, default="exact"
        For ``method="oca"``.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float or None, default=None
        None leaves the intercept free. A number makes it the weight of a constant feature of that size and penalises
        it, as LIBLINEAR does.
    class_weight : dict, "balanced" or None, default=None
        Factors on C by class.
    max_iter : int or None, default=10_000
        Iterations at most.
    time_limit : float or None, default=None
        Seconds at most, per binary problem.
    n_jobs : int or None, default=None
        Threads; None leaves it to OpenMP (``OMP_NUM_THREADS``, threadpoolctl), -1 takes all processors. The model
        does not depend on it.
    warm_start : bool, default=False
        Whether a fit on the same data with another C or tol goes on from the planes of the last one.
    random_state : int, RandomState or None, default=None
        For the order of examples and the samples Newton's method starts from. None is a fixed seed: the same data
        give the same model.
    on_step : callable or None, default=None
        Called with a `Step` after every iteration; returning True ends the fit.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    objective_, lower_bound_, gap_ : float
        The objective at the model, a proven lower bound on its least value, and their relative difference. With more
        than two classes: arrays, one entry for each class against the rest.
    n_iter_ : int
        Iterations (the most over the classes).
    history_ : list of Step
        What each iteration reached; a list for each class if there are more than two.
    stop_reason_ : str
        "gap", "max_iter", "time_limit", "interrupted" or "stalled"; a list if there are more than two classes.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has names.

    Examples
    --------
    >>> from cutplane import LinearSVC
    >>> model = LinearSVC(C=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [2.5]])
    array([0, 1])
    >>> bool(model.gap_ <= 1e-3)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "exact",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        class_weight: Any = None,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        on_step: Callable[[Step], Any] | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.tol = tol
        self.absolute_tol = absolute_tol
        self.risk_tol = risk_tol
        self.method = method
        self.line_search = line_search
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.random_state = random_state
        self.on_step = on_step

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X (dense, CSR, memory-mapped, DataFrame) and labels y of any type.

        Returns
        -------
        self
        """
        training = self._training()
        X, y = validation.check_examples(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = validation.check_labels(y)
        weights = validation.check_weights(sample_weight, X, self.class_weight, self.classes_, y)
        source = as_source(X, n_threads=training.n_threads)
        if self._penalised:
            source = AugmentedSource(source, float(self.intercept_scaling or 0.0))
        warm = self._warm_results(source, codes, weights)
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        results: list[Result] = []
        books: list[Ledger] = []

        def so_far() -> dict[str, Any] | None:
            open_run = [books[-1].result("interrupted")] if len(books) > len(results) else []
            return self._fitted(results + open_run) if len(results + open_run) == len(positives) else None

        hooks = StepHooks(self, self.on_step, X, y, so_far)
        for index, positive in enumerate(positives):
            labels = np.where(codes == positive, 1, -1).astype(np.int8)
            _check_both_sides(labels, weights, self.classes_[positive])
            risk = Hinge(labels, weights, n_threads=training.n_threads)
            objective = SmoothObjective(source, risk, intercept=self.fit_intercept and not self._penalised)
            run = training.for_risk(risk.total_weight, hooks if hooks.wanted else None)
            results.append(run.run(objective, warm[index] if warm else None, books.append))
            warn_unless_proven(results[-1], type(self).__name__)
            if results[-1].stop_reason == "interrupted" and len(results) < len(positives):
                raise KeyboardInterrupt
        self._keep(results)
        hooks.close()
        return self

    @property
    def _penalised(self) -> bool:
        return bool(self.fit_intercept) and self.intercept_scaling is not None

    def _training(self) -> Training:
        """The settings, checked."""
        validation.check_choice("loss", self.loss, ("hinge",))
        if self.intercept_scaling is not None:
            validation.check_positive("intercept_scaling", self.intercept_scaling)
        if self.max_iter is not None:
            validation.check_count("max_iter", self.max_iter)
        if self.time_limit is not None:
            validation.check_positive("time_limit", self.time_limit)
        seed = 0
        if self.random_state is not None:
            from sklearn.utils import check_random_state

            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Training(
            validation.check_positive("C", self.C),
            Stopping(
                validation.check_positive("tol", self.tol),
                validation.check_not_negative("absolute_tol", self.absolute_tol),
                validation.check_not_negative("risk_tol", self.risk_tol),
                self.max_iter,
                self.time_limit,
            ),
            validation.check_choice("method", self.method, METHODS),
            validation.check_choice("line_search", self.line_search, LINE_SEARCHES),
            seed,
            validation.check_threads(self.n_jobs),
        )

    def _keep(self, results: list[Result]) -> None:
        for name, value in self._fitted(results).items():
            setattr(self, name, value)
        several = len(results) > 1
        self.objective_ = _each([r.upper for r in results])
        self.lower_bound_ = _each([r.lower for r in results])
        self.gap_ = _each([r.gap for r in results])
        self.n_iter_ = max(len(r.history) for r in results)
        self.history_ = [r.history for r in results] if several else results[0].history
        self.stop_reason_ = [r.stop_reason for r in results] if several else results[0].stop_reason
        if self._warm_key is not None:
            self._warm = (self._warm_key, results)
        else:
            self.__dict__.pop("_warm", None)

    def _fitted(self, results: list[Result]) -> dict[str, Any]:
        """The attributes that predictions need."""
        w = np.vstack([r.w for r in results])
        intercept = np.array([r.intercept for r in results])
        if self._penalised:
            intercept = float(self.intercept_scaling or 0.0) * w[:, -1]
            w = np.ascontiguousarray(w[:, :-1])
        return {"coef_": w, "intercept_": intercept, "classes_": self.classes_}

    def _warm_results(self, source: Source, codes: NDArray[np.intp], weights: Any) -> list[Result] | None:
        """The results of the last fit if it was on the same data, recognised by the scores of a fixed vector."""
        self._warm_key: tuple[Any, ...] | None = None
        if not self.warm_start:
            return None
        probe = np.random.default_rng(0).standard_normal(source.shape[1])
        digest = hashlib.sha256(source.scores(probe).tobytes())
        digest.update(codes.tobytes())
        digest.update(b"" if weights is None else weights.tobytes())
        self._warm_key = (digest.hexdigest(), self.fit_intercept, self.intercept_scaling)
        key, results = getattr(self, "_warm", (None, None))
        return results if key == self._warm_key else None

    def _to_file(self) -> tuple[Arrays, dict[str, Any]]:
        arrays, classes = labels_to_file(self.classes_)
        weights: Any = self.coef_  # sparse after `sparsify`
        coef = weights.toarray() if sparse.issparse(weights) else np.asarray(weights)
        return {"coef": coef, "intercept": np.asarray(self.intercept_), **arrays}, {"classes": classes}

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        self.classes_ = labels_from_file(arrays, stored["classes"])
        problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.coef_ = finite(arrays, "coef", (problems, self.n_features_in_))
        self.intercept_ = finite(arrays, "intercept", (problems,))
        if np.size(self.gap_) != problems:
            raise ValueError("the certificate is not one number per problem")

    def __sklearn_tags__(self) -> Any:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _each(values: list[float]) -> Any:
    """The value of a binary problem, or an array of those of several."""
    return float(values[0]) if len(values) == 1 else np.array(values)


def _check_both_sides(labels: NDArray[np.int8], weights: Any, positive: Any) -> None:
    """An intercept without penalty needs weight on both sides, and so does a classifier."""
    if weights is None:
        return
    shown = positive.item() if isinstance(positive, np.generic) else positive
    for sign, name in ((1, f"class {shown!r}"), (-1, f"the classes other than {shown!r}")):
        if not weights[labels == sign].any():
            raise ValueError(f"All examples of {name} have weight zero; each side needs at least one with weight.")
