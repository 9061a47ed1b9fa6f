"""`LinearSVR`: linear regression by support vectors, quantiles or Huber's loss, with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.stored import Arrays
from cutplane.estimators.common.training import Training
from cutplane.estimators.linear.c_path import CPathMixin
from cutplane.estimators.linear.linear_model import LinearModel, Prepared
from cutplane.risks.base import Risk, Rows
from cutplane.risks.registry import REGRESSION, Loss, check_loss_options, find_loss, make_risk, takes_option
from cutplane.solvers.result import Result, Step


class LinearSVR(CPathMixin, RegressorMixin, LinearModel):
    """Linear support vector regression, proven optimal up to `tol`.

    Minimises ½|w|² + C·Σ loss(⟨w, xᵢ⟩ + b, yᵢ) over w and the intercept b, which is not penalised.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the length of w, per example.
    loss : str or callable, default="epsilon_insensitive"
        "epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile", or your own: a subclass of
        `cutplane.risks.base.Risk` (or a function that returns one) that is called as ``loss(y, sample_weight)``.
    epsilon : float, default=0.0
        Errors up to this cost nothing, where the loss is one of the first two.
    loss_options : dict or None, default=None
        Further keyword arguments of the loss, such as ``{"quantile": 0.9}`` or ``{"delta": 1.35}``.
    tol : float, default=1e-3
        The relative gap (upper - lower) / upper at which training ends.
    absolute_tol : float, default=0.0
        Training also ends when upper - lower is at most this.
    risk_tol : float, default=0.0
        Training also ends when the mean loss is proven within this of its value at the optimum.
    method : {"auto", "newton", "oca", "cpa"}, default="auto"
        How planes are found: the fastest way known, Newton's method, optimised cutting planes (Franc and Sonnenburg
        2009) or plain ones (Joachims 2006).
    line_search : {"adaptive", "exact", "three-point"}, default="adaptive"
        For ``method="oca"``. ``"exact"`` and ``"three-point"`` are the papers' searches, with every plane a tenth of
        the way ahead; ``"adaptive"`` is exact too and takes planes closer after short steps.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float or None, default=None
        None leaves the intercept free. A number makes it the weight of a constant feature of that size and penalises
        it, as LIBLINEAR does.
    prior : array of shape (n_features,) or None, default=None
        Weights w0 to stay close to: ½|w - w0|² takes the place of ½|w|².
    nonnegative : bool, array of indices or of booleans, or None, default=None
        Features whose weights must not be negative; True is all of them. Planes are then found by cutting planes
        (``method="oca"`` or ``"cpa"``) alone.
    max_iter : int or None, default=10_000
        Iterations at most.
    time_limit : float or None, default=None
        Seconds at most.
    n_jobs : int or None, default=None
        Threads; None leaves it to OpenMP, -1 takes all processors. The model does not depend on it.
    warm_start : bool, default=False
        Whether a fit on the same data with another C or tol goes on from the planes of the last one.
    random_state : int, RandomState or None, default=None
        For the samples Newton's method starts from. None is a fixed seed.
    on_step : callable or None, default=None
        Called with a `Step` after every iteration; returning True ends the fit.
    keep_proof : bool, default=False
        Whether dual variables that prove the bounds are kept as `proof_`, for `save` and `cutplane.verify`.
    checkpoint : path-like or None, default=None
        A file to keep what `fit` has reached, while it runs. If the process is killed, the same fit goes on from there.
        See docs/files.md.
    checkpoint_every : float, default=30.0
        Seconds between two checkpoints, or more where one takes long to write.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : array of shape (1,)
    objective_, lower_bound_, gap_ : float
        The objective at the model, a proven lower bound on its least value, and their relative difference.
    n_iter_ : int
    history_ : list of Step
        What each iteration reached.
    stop_reason_ : str
        "gap", "max_iter", "time_limit", "interrupted" or "stalled".
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has names.

    Examples
    --------
    >>> from cutplane import LinearSVR
    >>> model = LinearSVR(C=10.0, tol=1e-6).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 70.0])
    >>> model.predict([[4.0]]).round(2)  # the line through the first three
    array([9.])
    >>> bool(model.gap_ <= 1e-6)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
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
        warm_start: bool = False,
        random_state: Any = None,
        on_step: Callable[[Step], Any] | None = None,
        keep_proof: bool = False,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        self.C = C
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
        self.warm_start = warm_start
        self.random_state = random_state
        self.on_step = on_step
        self.keep_proof = keep_proof
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X (dense, CSR, memory-mapped, DataFrame) and targets y.

        Returns
        -------
        self
        """
        training = self._training()
        prepared = self._prepare(training, X, y, sample_weight)
        if self.keep_proof:
            self._proving().refuse(prepared)
        self._train(training, prepared)
        return self.proof(X, y, sample_weight) if self.keep_proof else self

    def _proving(self) -> Any:
        from cutplane.estimators.linear.linear_proofs import LinearProofs

        return LinearProofs(self)

    def _proof_targets(self, y: Any) -> list[tuple[str, NDArray[np.float64]]]:
        """For each problem its name and the targets or labels, -1 and +1, of the examples."""
        return [("", np.asarray(y, np.float64))]

    def _prepare(self, training: Training, X: Any, y: Any, sample_weight: Any) -> Prepared:
        loss = self._loss(training.n_threads)
        X, y = validation.check_examples(self, X, y)
        targets = validation.check_targets(y)
        weights = validation.check_sample_weight(sample_weight, X)

        def risk(rows: Rows | None) -> Risk:
            if rows is None:
                return make_risk(loss, targets, weights)
            return make_risk(loss, targets[rows], None if weights is None else weights[rows])

        return Prepared(X, y, weights, [risk], (targets, self.loss, self.epsilon, self.loss_options))

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

    def _fitted(self, results: list[Result]) -> dict[str, Any]:
        fitted = super()._fitted(results)
        return {"coef_": fitted["coef_"][0], "intercept_": fitted["intercept_"]}

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted target of each example."""
        check_is_fitted(self)
        X = validation.check_new_rows(self, X)
        scores = safe_sparse_dot(X, np.ravel(_dense(self.coef_)), dense_output=True)
        return np.asarray(scores + self.intercept_[0])

    def _predict_from(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        self._weights_from_file(arrays, (self.n_features_in_,))


def _dense(weights: Any) -> Any:
    """The weights as an array, also after `sparsify`."""
    return weights.toarray() if hasattr(weights, "toarray") else weights
