"""`LogisticRegression`: probabilities of two classes or more by a linear model, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, ClassWeight, Device, MatrixLike, RandomState
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.probability_bounds import softmax_bounds
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.linear.descriptions import LOGISTIC
from cutplane.estimators.linear.linear_classifier import LinearClassifier
from cutplane.estimators.linear.multinomial import Multinomial
from cutplane.plain.probabilities import Probabilities, Softmax
from cutplane.solvers.result import Step

#: Scikit-learn's: accepted, and without effect.
SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


class LogisticModel(LinearClassifier):
    """What `LogisticRegression` is with and without a C of its own choice."""

    loss = "logistic"
    calibration = None
    solver: str
    l1_ratio: float | None = 0.0

    def _check_like_sklearn(self) -> None:
        """Refuse what scikit-learn's signature has, and no certificate of this kind is of."""
        if self.penalty == "l1" or self.l1_ratio not in (0, None):
            raise ValueError(
                f"penalty={self.penalty!r} with l1_ratio={self.l1_ratio!r}: what is proven here is proven of "
                "½|w|² + C·Σ loss, which is penalty='l2' with l1_ratio=0."
            )
        if self.penalty is None or math.inf == self.C:
            raise ValueError(
                "Without a penalty (C=inf, penalty=None) there may be no optimum, and no certificate of this kind; a "
                "large C, such as 1e6, has both."
            )
        validation.check_choice("penalty", self.penalty, ("l2", "elasticnet", "deprecated"))
        validation.check_choice("solver", self.solver, SOLVERS)
        validation.check_like_liblinear("l2", self.dual, self.verbose)

    @property
    def _together(self) -> bool:
        return len(self.classes_) > 2

    @property
    def _joint_name(self) -> str:
        return "multinomial"

    def _make_joint(self) -> Multinomial:
        return Multinomial(len(self.classes_))

    def _joint_proofs(self) -> AnyProving:
        from cutplane.estimators.linear.multinomial_proofs import MultinomialProofs

        return MultinomialProofs(self)

    def _check_scattered(self) -> None:
        if self._together:
            raise ValueError(
                f"y has {len(self.classes_)} classes: on a Dask collection or several GPUs, {type(self).__name__} is "
                "trained with two; "
                "LinearSVC(loss='logistic') has more, one against the rest."
            )

    def _own_probabilities(self) -> Probabilities:
        return Softmax() if self._together else super()._own_probabilities()

    def probability_bounds(self, X: MatrixLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Between what the probabilities of the exact optimum lie.

        Returns
        -------
        low, high : array of shape (n, n_classes)
        """
        if not self._together:
            found: tuple[Array, Array] = super().probability_bounds(X)
            return found
        return softmax_bounds(*self._bounds_here(X))


@documented(LOGISTIC)
class LogisticRegression(LogisticModel):
    """Logistic regression with an l2 penalty, proven optimal up to `tol`.

    Of two classes, minimises ½|w|² + C·Σ log(1 + exp(-yᵢ(⟨w, xᵢ⟩ + b))) over w and the intercept b, which is not
    penalised. Of more, all are one problem (multinomial): a row of weights w_k and an intercept b_k for each class, and
    ½Σ|w_k|² + C·Σ (log Σ_k exp(s_k(xᵢ)) - s_yᵢ(xᵢ)), s_k(x) = ⟨w_k, x⟩ + b_k. That is scikit-learn's problem.

    Parameters
    ----------
    penalty, C, l1_ratio, dual, tol, absolute_tol, risk_tol, fit_intercept, intercept_scaling, class_weight,
    random_state, solver, max_iter, time_limit, verbose, warm_start, n_jobs, device, on_step, keep_proof, certain_on,
    checkpoint, checkpoint_every

    Attributes
    ----------
    coef_, intercept_, classes_, certificates_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_,
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import LogisticRegression
    >>> model = LogisticRegression(C=10.0).fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 2, 2])
    >>> model.predict([[0.5], [2.5], [4.5]])
    array([0, 1, 2])
    >>> model.predict_proba([[2.5]]).round(1)
    array([[0.1, 0.9, 0.1]])
    >>> bool(model.gap_ <= 1e-3)
    True
    """

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool | str = False,
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        class_weight: ClassWeight = None,
        random_state: RandomState = None,
        solver: str = "lbfgs",
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        verbose: bool | int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: Device = None,
        on_step: Callable[[Step], object] | None = None,
        keep_proof: bool = False,
        certain_on: tuple[MatrixLike, float] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        keep_parameters(locals())

    @property
    def n_iter_(self) -> NDArray[np.int32]:
        """Iterations of the one problem, as an array like scikit-learn's."""
        return np.array([super().n_iter_], np.int32)
