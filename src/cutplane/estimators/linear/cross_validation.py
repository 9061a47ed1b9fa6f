"""`LinearSVCCV`, `LinearSVRCV` and `LogisticRegressionCV`: C chosen by cross-validation."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from cutplane._runtime.deadline import interrupted, one_wish
from cutplane._types import Array, Arrays, ClassWeight, Device, Document, MatrixLike, Params, RandomState
from cutplane.cluster.examples import for_one_fit
from cutplane.device.arrays import on_host
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.common.stored import finite
from cutplane.estimators.common.validation.scattered import scattered_examples
from cutplane.estimators.linear.certified_choice import CertifiedChoice
from cutplane.estimators.linear.certified_cross_validation import choose_certified
from cutplane.estimators.linear.descriptions import CROSS_VALIDATED, LINEAR_CLASSES, LINEAR_TARGETS, LOGISTIC
from cutplane.estimators.linear.folds import CrossValidation, Reached, best_C, choose
from cutplane.estimators.linear.linear_svc import LinearSVC
from cutplane.estimators.linear.linear_svr import LinearSVR
from cutplane.estimators.linear.logistic_regression import LogisticModel, LogisticRegression
from cutplane.estimators.linear.routed import Routed, RoutedChoice, Scoring
from cutplane.estimators.linear.supervised import SupervisedModel
from cutplane.risks.base import Risk
from cutplane.solvers.certificates import AnyStopReason
from cutplane.solvers.result import Step

_DEFAULT_GRID = 13
# Of the time there is, what choosing C may take; and what is left at least for the last fit, which proves little in it.
_FOR_CHOOSING, _LEAST_TIME = 0.5, 1e-9


class _CrossValidated(RoutedChoice, SupervisedModel):
    """What the classes share: `fit`, and the scores in the file."""

    Cs: int | Sequence[float] | None
    cv: CrossValidation
    scoring: Scoring
    certify: float | None = None
    max_fits: int = 200
    _plain: type[LinearSVC] | type[LinearSVR] | type[LogisticRegression]

    @with_callbacks
    @for_one_fit()
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: object) -> Self:
        """Choose C by cross-validation and train with it on all examples.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        **params : dict
            What `cv` and `scoring` ask for, such as ``groups``, where scikit-learn routes metadata.

        Returns
        -------
        self
        """
        sample_weight = on_host(sample_weight)
        grid, routed = self._grid(), self._routed("fit", sample_weight, params)
        shared = self._shared()
        with one_wish():
            grid, scores, best, model = self._chosen(grid, routed, shared, X, y, sample_weight)
        self.__dict__.update({name: value for name, value in vars(model).items() if name not in model.get_params()})
        self.Cs_ = np.array(grid)
        self.scores_ = scores
        self.C_ = float(best)
        return self

    def _chosen(
        self,
        grid: list[float],
        routed: Routed,
        shared: Params,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
    ) -> tuple[list[float], Array, float, Any]:
        """The C that were tried, their scores, the best of them, and the model that it gives."""
        began, limit, reached = time.perf_counter(), self.time_limit, Reached()
        chooser = self._plain(**shared)
        chooser._training()  # settings are checked before any is changed
        if limit is not None:
            chooser.set_params(time_limit=_FOR_CHOOSING * limit)
        # On a cluster, examples are placed but once.
        scattered = scattered_examples(chooser, X, y, sample_weight, labels=is_classifier(self))
        rows: MatrixLike = X if scattered is None else scattered
        self.__dict__.pop("certified_", None)  # of another fit
        if self.certify is None:
            scores, best, reached = choose(chooser, grid, self.cv, self.scoring, routed, rows, y, sample_weight)
        else:
            how = (self.cv, self.scoring, self.certify, self.max_fits, routed)
            tried, scores, self.certified_ = choose_certified(chooser, grid, *how, rows, y, sample_weight)
            grid = tried.tolist()
            best = best_C(grid, scores)
        model = self._plain(C=best, **shared)
        if limit is not None:
            model.set_params(time_limit=max(_LEAST_TIME, limit - (time.perf_counter() - began)))
        if interrupted() or reached.cut:  # the best model of a fold is better than none
            model._start = reached.weights
        model.fit(rows, y, sample_weight)
        model.__dict__.pop("_start", None)
        self._in_haste = reached.cut
        return grid, scores, best, model

    @property
    def stop_reason_(self) -> AnyStopReason:
        """Why training ended: "time_limit" also where C was chosen without all scores, or by models cut short."""
        reason: AnyStopReason = super().stop_reason_
        hasty = getattr(self, "_in_haste", False) or bool(np.isnan(self.scores_).any())
        return "time_limit" if reason == "gap" and hasty and self.certify is None else reason

    def _shared(self) -> Params:
        """The parameters that the plain model has too."""
        known = inspect.signature(self._plain).parameters
        return {name: value for name, value in self.get_params(deep=False).items() if name in known}

    def _grid(self) -> list[float]:
        """The values of C to choose from."""
        return np.logspace(-4.0, 2.0, _DEFAULT_GRID).tolist() if self.Cs is None else validation.check_grid(self.Cs)

    def _proving(self) -> AnyProving:
        """As the plain model with the C that was chosen."""
        own = self.get_params(deep=False)
        model = self._plain(C=self.C_, **self._shared())
        model.__dict__.update({name: value for name, value in vars(self).items() if name not in own})
        return model._proving()

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, stored = super()._to_file()
        proven, said = self.certified_.to_file() if hasattr(self, "certified_") else ({}, {})
        return {**arrays, **proven, "Cs": self.Cs_, "scores": self.scores_}, {**stored, **said, "C": self.C_}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        self.Cs_ = finite(arrays, "Cs", arrays["Cs"].shape[:1])
        self.scores_ = finite(arrays, "scores", (len(self.Cs_), arrays["scores"].shape[-1]))
        self.C_ = float(stored["C"])
        if "certified" in stored:
            self.certified_ = CertifiedChoice.from_file(arrays, stored)


@documented(LINEAR_CLASSES | CROSS_VALIDATED)
class LinearSVCCV(_CrossValidated, LinearSVC):
    """`LinearSVC` with C chosen by cross-validation.

    In each fold the models for all C share their planes (see `LinearSVC.path`); folds run side by side on the rows of
    one X.

    Parameters
    ----------
    Cs, cv, scoring, certify, max_fits, loss, loss_options, calibration, multi_class, cost_matrix, rescaling,
    class_features, tol, absolute_tol, risk_tol, method, line_search, fit_intercept, intercept_scaling, prior,
    nonnegative, class_weight, max_iter, time_limit, n_jobs, device, random_state, on_step

    Attributes
    ----------
    C_, Cs_, scores_, certified_, coef_, intercept_, classes_, certificates_, objective_, lower_bound_, gap_, n_iter_,
    history_, stop_reason_,
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
        Cs: Sequence[float] | None = None,
        *,
        cv: CrossValidation = None,
        scoring: Scoring = None,
        certify: float | None = None,
        max_fits: int = 200,
        loss: str | Callable[..., Risk] = "hinge",
        loss_options: Mapping[str, object] | None = None,
        calibration: str | None = None,
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
        device: Device = None,
        random_state: RandomState = None,
        on_step: Callable[[Step], object] | None = None,
    ) -> None:
        keep_parameters(locals())


@documented(LINEAR_TARGETS | CROSS_VALIDATED)
class LinearSVRCV(_CrossValidated, LinearSVR):
    """`LinearSVR` with C chosen by cross-validation.

    In each fold the models for all C share their planes (see `LinearSVR.path`); folds run side by side on the rows of
    one X.

    Parameters
    ----------
    Cs, cv, scoring, loss, epsilon, loss_options, tol, absolute_tol, risk_tol, method, line_search, fit_intercept,
    intercept_scaling, prior, nonnegative, max_iter, time_limit, n_jobs, device, random_state, on_step

    Attributes
    ----------
    C_, Cs_, scores_, coef_, intercept_, certificates_, objective_, lower_bound_, gap_, n_iter_, history_,
    stop_reason_,
    n_features_in_, feature_names_in_

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
        Cs: Sequence[float] | None = None,
        *,
        cv: CrossValidation = None,
        scoring: Scoring = None,
        loss: str | Callable[..., Risk] = "epsilon_insensitive",
        epsilon: float = 0.0,
        loss_options: Mapping[str, object] | None = None,
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        prior: ArrayLike | None = None,
        nonnegative: ArrayLike | None = None,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: Device = None,
        random_state: RandomState = None,
        on_step: Callable[[Step], object] | None = None,
    ) -> None:
        keep_parameters(locals())


@documented(LOGISTIC | CROSS_VALIDATED)
class LogisticRegressionCV(_CrossValidated, LogisticModel):
    """`LogisticRegression` with C chosen by cross-validation.

    In each fold the models for all C start from each other (see `LogisticRegression.path`); folds run side by side on
    the rows of one X.

    Parameters
    ----------
    Cs : int, sequence of float or None, default=10
        The values of C to choose from, or how many, from 1e-4 to 1e4; None is 13 from 1e-4 to 1e2.
    l1_ratios : sequence of float or None, default=None
        For the sake of scikit-learn's signature: none but 0 is accepted.
    fit_intercept, cv, dual, penalty, scoring, solver, tol, absolute_tol, risk_tol, max_iter, time_limit, class_weight,
    n_jobs, device, verbose
    refit : bool, default=True
        For the sake of scikit-learn's signature: the model that is kept is always trained on all examples.
    intercept_scaling, random_state
    use_legacy_attributes : bool, default=False
        For the sake of scikit-learn's signature: `C_` is a number, and scores are `scores_`, whatever it is.
    on_step

    Attributes
    ----------
    C_, Cs_, scores_, coef_, intercept_, classes_, certificates_, objective_, lower_bound_, gap_, n_iter_, history_,
    stop_reason_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import LogisticRegressionCV
    >>> from cutplane.datasets import load_adult
    >>> X, y = load_adult()
    >>> model = LogisticRegressionCV(Cs=[0.01, 0.1], cv=3, scoring="neg_log_loss").fit(X, y)
    >>> model.scores_.shape
    (2, 3)
    """

    _plain = LogisticRegression
    _weights_judge = True  # as in scikit-learn's

    def __init__(
        self,
        *,
        Cs: int | Sequence[float] | None = 10,
        l1_ratios: Sequence[float] | None = None,
        fit_intercept: bool = True,
        cv: CrossValidation = None,
        dual: bool | str = False,
        penalty: str | None = "deprecated",
        scoring: Scoring = None,
        solver: str = "lbfgs",
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        device: Device = None,
        verbose: bool | int = 0,
        refit: bool = True,
        intercept_scaling: float | None = None,
        random_state: RandomState = None,
        use_legacy_attributes: bool = False,
        on_step: Callable[[Step], object] | None = None,
    ) -> None:
        keep_parameters(locals())

    def _grid(self) -> list[float]:
        if self.l1_ratios is not None and any(ratio != 0 for ratio in self.l1_ratios):
            raise ValueError(
                f"l1_ratios={self.l1_ratios!r}: what is proven here is proven of ½|w|² + C·Σ loss, l1_ratio=0."
            )
        if isinstance(self.Cs, int):
            return list(map(float, np.logspace(-4.0, 4.0, validation.check_count("Cs", self.Cs))))
        return super()._grid()
