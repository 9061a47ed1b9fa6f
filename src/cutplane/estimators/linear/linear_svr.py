"""`LinearSVR`: linear regression by support vectors, quantiles or Huber's loss, with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Device, Document, MatrixLike, Params, RandomState
from cutplane.device.kernels import DeviceArray
from cutplane.device.source import DeviceRows
from cutplane.estimators.common import validation
from cutplane.estimators.common.certain import CertainTargets
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.lazy import also_lazily
from cutplane.estimators.common.left_out import loss_name
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.scored import ScoredAnywhere
from cutplane.estimators.common.validation.scattered import scattered_examples
from cutplane.estimators.linear.c_path import CPathMixin
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.descriptions import LINEAR_TARGETS
from cutplane.estimators.linear.problems import Prepared, scattered_problem
from cutplane.estimators.linear.supervised import SupervisedModel
from cutplane.plain.decisions import Value
from cutplane.plain.form import PlainForm
from cutplane.plain.scores import LinearScores
from cutplane.risks.base import Risk, Rows
from cutplane.risks.registry import REGRESSION, Loss, check_loss_options, find_loss, make_risk, takes_option
from cutplane.shards.scattered import Recipe, ScatteredRisk
from cutplane.solvers.result import Result, Step
from cutplane.solvers.run import Settings


@documented(LINEAR_TARGETS)
class LinearSVR(CPathMixin, ScoredAnywhere, RegressorMixin, CertainTargets, SupervisedModel):
    """Linear support vector regression, proven optimal up to `tol`.

    Minimises ½|w|² + C·Σ loss(⟨w, xᵢ⟩ + b, yᵢ) over w and the intercept b, which is not penalised.

    Parameters
    ----------
    C, loss, epsilon, loss_options, dual, tol, absolute_tol, risk_tol, method, line_search, fit_intercept,
    intercept_scaling, prior, nonnegative, max_iter, time_limit, n_jobs, device, warm_start, random_state, verbose,
    on_step, keep_proof, checkpoint, checkpoint_every

    Attributes
    ----------
    coef_, intercept_, certificates_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_, n_features_in_,
    feature_names_in_

    Examples
    --------
    >>> from cutplane import LinearSVR
    >>> model = LinearSVR(C=10.0, tol=1e-6).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 70.0])
    >>> model.predict([[4.0]]).round(2)  # the line through the first three
    array([9.])
    >>> bool(model.gap_ <= 1e-6)
    True
    """

    loss: str | Callable[..., Risk]
    epsilon: float
    loss_options: Mapping[str, object] | None

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str | Callable[..., Risk] = "epsilon_insensitive",
        epsilon: float = 0.0,
        loss_options: Mapping[str, object] | None = None,
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
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: Device = None,
        warm_start: bool = False,
        random_state: RandomState = None,
        verbose: bool | int = 0,
        on_step: Callable[[Step], object] | None = None,
        keep_proof: bool = False,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        keep_parameters(locals())

    def _proof_targets(self, y: ArrayLike) -> list[tuple[str, NDArray[np.float64]]]:
        return [("", np.asarray(y, np.float64))]

    def _prepare(self, training: Settings, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Prepared:
        loss = self._loss(training.n_threads)
        scattered = scattered_examples(self, X, y, sample_weight, labels=False)
        if scattered is not None:
            whole = ScatteredRisk(Recipe(self._loss(0), None, 0, None, scattered.whole.weight))
            key = (scattered.marks, self.loss, self.epsilon, self.loss_options)
            return Prepared(scattered.source, None, None, [scattered_problem(whole)], key)
        examples, given = self._checked(X, y)
        targets = validation.check_targets(given, training.n_threads)
        weights = validation.check_sample_weight(sample_weight, examples)
        examples = self._placed(examples)

        def risk(rows: Rows | None) -> Risk:
            if rows is None:
                return make_risk(loss, targets, weights)
            return make_risk(loss, targets[rows], None if weights is None else weights[rows])

        return Prepared(examples, given, weights, [risk], (targets, self.loss, self.epsilon, self.loss_options))

    def _loss(self, n_threads: int) -> Loss:
        """The loss, its options checked."""
        validation.check_not_negative("epsilon", self.epsilon)
        options = check_loss_options(self.loss_options)
        if isinstance(self.loss, str) and self.loss in REGRESSION and takes_option(REGRESSION[self.loss], "epsilon"):
            options.setdefault("epsilon", self.epsilon)
        elif self.epsilon != 0.0:
            raise ValueError(
                f"epsilon={self.epsilon!r} is for epsilon-insensitive losses; with {self.loss!r} it must be 0."
            )
        return find_loss(self.loss, REGRESSION, options, n_threads=n_threads)

    def _fitted(self, results: list[Result]) -> Params:
        fitted = super()._fitted(results)
        return {"coef_": fitted["coef_"][0], "intercept_": fitted["intercept_"]}

    @also_lazily
    def predict(self, X: MatrixLike) -> NDArray[np.float64]:
        """The predicted target of each example."""
        check_is_fitted(self)
        return np.asarray(self._products(X, dense(self.coef_).ravel()) + self.intercept_[0])

    def _predict_there(self, rows: DeviceRows) -> DeviceArray:
        """The same of rows on a GPU, where it stays."""
        return self._products_there(rows, dense(self.coef_).ravel()) + float(self.intercept_[0])

    def _predict_from(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores

    def _plain_model(self) -> PlainForm:
        scores = LinearScores(dense(self.coef_).reshape(1, -1), np.asarray(self.intercept_))
        return PlainForm(type(self).__name__, loss_name(self.loss), scores, Value())

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self._weights_from_file(arrays, (self.n_features_in_,))
