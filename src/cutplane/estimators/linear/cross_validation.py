"""`LinearSVCCV` and `LinearSVRCV`: C chosen by cross-validation, every fold a path of planes over one copy of X."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import check_cv
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.threads import openmp_threads
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.stored import Arrays, finite
from cutplane.estimators.common.training import Training
from cutplane.estimators.linear.c_path import path_results
from cutplane.estimators.linear.descriptions import LINEAR_CLASSES, LINEAR_TARGETS
from cutplane.estimators.linear.linear_model import Prepared
from cutplane.estimators.linear.linear_svc import LinearSVC
from cutplane.estimators.linear.linear_svr import LinearSVR
from cutplane.risks.base import Risk
from cutplane.risks.logistic import probabilities
from cutplane.solvers.result import Result, Step
from cutplane.sources import Source

Array = NDArray[np.float64]

_DEFAULT_GRID = 13
# Of the time there is, what choosing C may take; and what is left at least for the last fit, which proves little in it.
_FOR_CHOOSING, _LEAST_TIME = 0.5, 1e-9


class _Scored:
    """A fitted model that answers with scores it has already, whatever it is asked about.

    Scorers want an estimator and its X; the scores of a fold are one pass over rows that are not copied.
    """

    def __init__(self, model: Any, scores: Array) -> None:
        self._model = model
        self._scores = scores
        if is_classifier(model):
            self.classes_ = model.classes_

    def __sklearn_tags__(self) -> Any:
        return self._model.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> Self:
        """Scorers want to see one."""
        return self

    def decision_function(self, X: Any) -> Array:
        """The scores."""
        return self._scores

    def predict(self, X: Any) -> Any:
        """What the model would predict from the scores."""
        return self._model._predict_from(self._scores)

    @available_if(lambda self: hasattr(self._model, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """What the model makes of the scores, where it can."""
        return probabilities(self._scores)


class _Fold:
    """One fold: the path on its training rows, scored on the others."""

    def __init__(
        self,
        model: Any,
        training: Training,
        prepared: Prepared,
        source: Source,
        scorer: Any,
        sample_weight: Array | None = None,
    ) -> None:
        self._model, self._training, self._prepared = model, training, prepared
        self._source, self._scorer, self._sample_weight = source, scorer, sample_weight

    def scores(self, grid: Sequence[float], train: Any, test: Any) -> list[float]:
        """The score of each C of the grid."""
        rows, others = (np.sort(np.asarray(part, dtype=np.int64)) for part in (train, test))
        with openmp_threads(self._training.n_threads):
            return self._balanced(rows)._scores(grid, rows, others)

    def _balanced(self, rows: Any) -> _Fold:
        """With ``class_weight="balanced"``: weights by the classes of the training rows, as a fit on these has them."""
        if getattr(self._model, "class_weight", None) != "balanced":
            return self
        y, given = self._prepared.y, self._sample_weight
        part = None if given is None else given[rows]
        present = np.unique(y[rows])
        factors = compute_class_weight("balanced", classes=present, y=y[rows], sample_weight=part)
        weights = np.ones(len(y)) if given is None else given.copy()
        weights[rows] *= factors[np.searchsorted(present, y[rows])]
        model = clone(self._model).set_params(class_weight=None)
        prepared = model._prepare(self._training, self._prepared.X, y, weights)
        return _Fold(model, self._training, prepared, self._source, self._scorer)

    def _scores(self, grid: Sequence[float], rows: Any, others: Any) -> list[float]:
        runs = path_results(self._model, self._training, self._prepared, self._source.take(rows), grid, rows)
        beyond = self._source.take(others)
        return [self._score(beyond, others, [run[k] for run in runs]) for k in range(len(grid))]

    def _score(self, beyond: Source, rows: Any, results: list[Result]) -> float:
        fitted = self._model._fitted(results)
        coef = np.atleast_2d(fitted["coef_"])
        if self._model._penalised:  # rows have a constant feature, which the intercept accounts for
            coef = np.column_stack([coef, np.zeros(len(coef))])
        scores = beyond.scores(np.ascontiguousarray(coef.T)) + fitted["intercept_"]
        model = clone(self._model)
        vars(model).update(vars(self._model))
        scored: Any = _Scored(model, scores[:, 0] if scores.shape[1] == 1 else scores)
        X: Any = rows.reshape(-1, 1)
        if not isinstance(self._scorer, _BaseScorer):  # a user's own function may look at X
            X, scored = self._prepared.X[rows], self._model
            scored._warm_key = None
            scored._keep(results)
        return float(self._scorer(scored, X, self._prepared.y[rows]))


def _choose(
    model: Any, grid: Sequence[float], cv: Any, scoring: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Array, float]:
    """The scores, one row for each C and one column for each fold, and the best C."""
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise ValueError(
            f"scoring={scoring!r} is no scorer of scikit-learn; 'accuracy', 'roc_auc', 'r2' and all of "
            "sklearn.metrics.get_scorer_names() are."
        )
    training = model._training()
    prepared = model._prepare(training, X, y, sample_weight)
    folds = list(check_cv(cv, prepared.y, classifier=is_classifier(model)).split(np.zeros(len(prepared.y)), prepared.y))
    scorer = check_scoring(model, scoring or ("accuracy" if is_classifier(model) else "r2"))
    threads = _core.thread_count(training.n_threads)
    own = isinstance(scorer, _BaseScorer)
    workers = min(threads, len(folds)) if own and model.on_step is None else 1
    each = max(1, threads // workers)
    model.set_params(n_jobs=each)
    source, given = model._source(prepared.X, 0), None if sample_weight is None else np.asarray(sample_weight)
    fold = _Fold(model, replace(training, n_threads=each), prepared, source, scorer, given)
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        runs = [pool.submit(fold.scores, grid, train, test) for train, test in folds]
        scores = np.array([run.result() for run in runs]).T
    means = scores.mean(axis=1)
    best = min(C for C, mean in zip(grid, means, strict=True) if mean == means.max())
    return scores, best


class _CrossValidated:
    """What the two classes share: `fit`, and the scores in the file."""

    Cs: Any
    cv: Any
    scoring: Any
    _plain: type[LinearSVC] | type[LinearSVR]

    @with_callbacks
    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Choose C by cross-validation and train with it on all examples.

        Returns
        -------
        self
        """
        grid = np.logspace(-4.0, 2.0, _DEFAULT_GRID).tolist() if self.Cs is None else validation.check_grid(self.Cs)
        shared = {name: value for name, value in self.get_params().items() if name not in ("Cs", "cv", "scoring")}
        began, limit = time.perf_counter(), self.time_limit
        chooser = self._plain(**shared)
        chooser._training()  # settings are checked before any is changed
        if limit is not None:
            chooser.set_params(time_limit=_FOR_CHOOSING * limit)
        scores, best = _choose(chooser, grid, self.cv, self.scoring, X, y, sample_weight)
        model = self._plain(best, **shared)
        if limit is not None:
            model.set_params(time_limit=max(_LEAST_TIME, limit - (time.perf_counter() - began)))
        model.fit(X, y, sample_weight)
        vars(self).update({name: value for name, value in vars(model).items() if name not in model.get_params()})
        self.Cs_ = np.array(grid)
        self.scores_ = scores
        self.C_ = float(best)
        return self

    def _proving(self: Any) -> Any:
        """As the plain model with the C that was chosen."""
        own = self.get_params(deep=False)
        shared = {name: value for name, value in own.items() if name not in ("Cs", "cv", "scoring")}
        model = self._plain(C=self.C_, **shared)
        vars(model).update({name: value for name, value in vars(self).items() if name not in own})
        return model._proving()

    def _to_file(self: Any) -> tuple[Arrays, dict[str, Any]]:
        arrays, stored = super()._to_file()  # type: ignore[misc]
        return {**arrays, "Cs": self.Cs_, "scores": self.scores_}, {**stored, "C": self.C_}

    def _from_file(self: Any, arrays: Arrays, stored: dict[str, Any]) -> None:
        super()._from_file(arrays, stored)  # type: ignore[misc]
        self.Cs_ = finite(arrays, "Cs", arrays["Cs"].shape[:1])
        self.scores_ = finite(arrays, "scores", (len(self.Cs_), arrays["scores"].shape[-1]))
        self.C_ = float(stored["C"])


@documented(LINEAR_CLASSES)
class LinearSVCCV(_CrossValidated, LinearSVC):
    """`LinearSVC` with C chosen by cross-validation.

    In each fold the models for all C share their planes (see `LinearSVC.path`); folds run side by side on the rows of
    one X.

    Parameters
    ----------
    Cs : sequence of float or None, default=None
        The values of C to choose from; None: 13 from 1e-4 to 1e2.
    cv : int, splitter or iterable, default=None
        As in scikit-learn: None is 5 folds, stratified by class.
    scoring : str, callable or None, default=None
        A scikit-learn scorer; None is the accuracy.
    loss, loss_options, multi_class, cost_matrix, rescaling, class_features, tol, absolute_tol, risk_tol,
    method, line_search, fit_intercept, intercept_scaling, prior, nonnegative, class_weight, max_iter
    time_limit : float or None, default=None
        Seconds at most, for all of `fit`; choosing C takes half of them at most.
    n_jobs, random_state, on_step

    Attributes
    ----------
    C_ : float
        The C with the best mean score; the smallest, if several have it.
    Cs_ : array of shape (n_Cs,)
        The values of C that were tried.
    scores_ : array of shape (n_Cs, n_folds)
        Of each on the rows that a fold holds out; all below are of the model trained with `C_` on all examples.
    coef_, intercept_, classes_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_,
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import LinearSVCCV
    >>> from cutplane.datasets import load_adult
    >>> X, y = load_adult()
    >>> model = LinearSVCCV([0.001, 0.01, 0.1], cv=3).fit(X, y)
    >>> model.scores_.shape
    (3, 3)
    """

    _plain = LinearSVC

    def __init__(
        self,
        Cs: Any = None,
        *,
        cv: Any = None,
        scoring: Any = None,
        loss: str | Callable[..., Risk] = "hinge",
        loss_options: Mapping[str, Any] | None = None,
        multi_class: str = "ovr",
        cost_matrix: Any = None,
        rescaling: str = "margin",
        class_features: Any = None,
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        prior: Any = None,
        nonnegative: Any = None,
        class_weight: Any = None,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        on_step: Callable[[Step], Any] | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.loss = loss
        self.loss_options = loss_options
        self.multi_class = multi_class
        self.cost_matrix = cost_matrix
        self.rescaling = rescaling
        self.class_features = class_features
        self.tol = tol
        self.absolute_tol = absolute_tol
        self.risk_tol = risk_tol
        self.method = method
        self.line_search = line_search
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.prior = prior
        self.nonnegative = nonnegative
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_step = on_step


@documented(LINEAR_TARGETS)
class LinearSVRCV(_CrossValidated, LinearSVR):
    """`LinearSVR` with C chosen by cross-validation.

    In each fold the models for all C share their planes (see `LinearSVR.path`); folds run side by side on the rows of
    one X.

    Parameters
    ----------
    Cs : sequence of float or None, default=None
        The values of C to choose from; None: 13 from 1e-4 to 1e2.
    cv : int, splitter or iterable, default=None
        As in scikit-learn: None is 5 folds.
    scoring : str, callable or None, default=None
        A scikit-learn scorer; None is R².
    loss, epsilon, loss_options, tol, absolute_tol, risk_tol, method, line_search, fit_intercept,
    intercept_scaling, prior, nonnegative, max_iter
    time_limit : float or None, default=None
        Seconds at most, for all of `fit`; choosing C takes half of them at most.
    n_jobs, random_state, on_step

    Attributes
    ----------
    C_ : float
        The C with the best mean score; the smallest, if several have it.
    Cs_ : array of shape (n_Cs,)
        The values of C that were tried.
    scores_ : array of shape (n_Cs, n_folds)
        Of each on the rows that a fold holds out; all below are of the model trained with `C_` on all examples.
    coef_, intercept_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_, n_features_in_,
    feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane import LinearSVRCV
    >>> X = np.linspace(0.0, 1.0, 60).reshape(-1, 1)
    >>> LinearSVRCV([0.001, 10.0], cv=3, tol=1e-5).fit(X[::-1], 3.0 * X[::-1, 0]).C_
    10.0
    """

    _plain = LinearSVR

    def __init__(
        self,
        Cs: Any = None,
        *,
        cv: Any = None,
        scoring: Any = None,
        loss: str | Callable[..., Risk] = "epsilon_insensitive",
        epsilon: float = 0.0,
        loss_options: Mapping[str, Any] | None = None,
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        prior: Any = None,
        nonnegative: Any = None,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        on_step: Callable[[Step], Any] | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.loss = loss
        self.epsilon = epsilon
        self.loss_options = loss_options
        self.tol = tol
        self.absolute_tol = absolute_tol
        self.risk_tol = risk_tol
        self.method = method
        self.line_search = line_search
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.prior = prior
        self.nonnegative = nonnegative
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_step = on_step
