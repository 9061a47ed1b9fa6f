"""`LinearOneClassSVM`: what is unlike the examples, by a plane that has most of them on one side."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from cutplane._runtime.warned import users_line
from cutplane._types import Array, Arrays, Document, Matrix, MatrixLike
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.lazy import also_lazily
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.common.stored import finite
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.descriptions import LINEAR
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.estimators.linear.problems import Prepared
from cutplane.plain.decisions import Inside
from cutplane.plain.form import PlainForm
from cutplane.plain.scores import LinearScores
from cutplane.risks.one_class import OneClass
from cutplane.solvers.result import Step
from cutplane.solvers.run import Settings
from cutplane.sources import Source, as_source

# Where the examples surround the origin the objective ends at zero, and no relative gap can be proven: then this much
# of the largest squared length is close enough, times tol.
_NOTHING = 1e-6


@documented(LINEAR)
class LinearOneClassSVM(OutlierMixin, LinearModel):
    """Linear one-class support vector machine, proven optimal up to `tol`.

    Minimises ½|w|² - rho + Σ max(0, rho - ⟨w, xᵢ⟩) / (nu·n) over w and rho (Schölkopf et al. 2001): the plane
    furthest from the origin that has all but a share nu of the examples beyond it. The same problem as scikit-learn's
    ``OneClassSVM(kernel="linear")``.

    Parameters
    ----------
    nu : float, default=0.5
        The share of the examples that may be told apart as outliers: above 0, at most 1.
    tol : float, default=1e-3
        The relative gap (upper - lower) / |upper| at which training ends.
    absolute_tol
    method : {"auto", "oca", "cpa"}, default="auto"
        How planes are found.
    line_search, max_iter, time_limit, n_jobs
    warm_start : bool, default=False
        Whether a fit on the same data with another tol goes on from the planes of the last one.
    on_step, checkpoint, checkpoint_every, keep_proof

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Weights.
    offset_ : array of shape (1,)
        Rho: the decision function is ⟨w, x⟩ - rho.
    intercept_ : array of shape (1,)
        Minus rho.
    certificates_
    objective_, lower_bound_, gap_ : float
        The objective at the model (never above zero), a proven lower bound on its least value, and their relative
        difference. Where examples surround the origin, no plane has them beyond it: the model is w = 0, its objective
        0, and no relative gap but inf can be stated; training ends when the bounds are within tol·1e-6·max|xᵢ|².
    n_iter_, history_, stop_reason_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import LinearOneClassSVM
    >>> model = LinearOneClassSVM(nu=0.25).fit([[3.0, 3.1], [3.2, 3.0], [2.9, 3.0], [0.5, 0.2]])
    >>> model.predict([[3.0, 3.0], [0.1, 0.1]])
    array([ 1, -1])
    """

    nu: float
    fit_intercept = False

    def __init__(
        self,
        nu: float = 0.5,
        *,
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        on_step: Callable[[Step], object] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
        keep_proof: bool = False,
    ) -> None:
        keep_parameters(locals())

    @with_callbacks
    def fit(self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (dense, CSR, memory-mapped, DataFrame, a source, an array on a GPU); y is ignored.

        Returns
        -------
        self
        """
        training, rows, weights, risk = self._sample(self._training(), X, sample_weight)
        given = None if y is None else np.asarray(y)
        (result,) = self._train(training, Prepared(rows, given, weights, [lambda part: risk], (None, self.nu)))
        rho = risk.threshold(as_source(rows, n_threads=training.n_threads).scores(result.w))
        self.offset_ = np.array([rho])
        self.intercept_ = -self.offset_
        if not result.w.any():
            warnings.warn(
                "LinearOneClassSVM decides nothing: the examples surround the origin, so the best plane has w = 0 and "
                "every example counts as an inlier. OneClassSVM with an RBF kernel knows no origin.",
                UserWarning,
                stacklevel=users_line(),
            )
        return self.proof(rows, None, sample_weight) if self.keep_proof else self

    def _sample(
        self, training: Settings, X: MatrixLike, sample_weight: ArrayLike | None
    ) -> tuple[Settings, Matrix | Source, Array | None, OneClass]:
        """The settings for these examples, the examples and weights, checked, and the risk."""
        if not isinstance(self.nu, (int, float, np.floating)) or isinstance(self.nu, bool) or not 0.0 < self.nu <= 1.0:
            raise ValueError(f"nu={self.nu!r} must be a number greater than 0, at most 1.")
        source = validation.source_of(X)
        if source is None:
            rows = validation.check_rows(self, X, reset=True)
        else:
            rows = validation.check_examples(self, source, np.zeros(source.shape[0]))[0]
        weights = validation.check_sample_weight(sample_weight, rows)
        square = as_source(rows, n_threads=training.n_threads).extent.reach ** 2  # of the longest example
        stopping = training.stopping
        close = max(stopping.absolute_gap, _NOTHING * stopping.relative_gap * square)
        training = replace(training, stopping=replace(stopping, absolute_gap=close))
        # Points no worse than w = 0 have |w| <= 2 max|x|, so that the risk there is at least -2 max|x|².
        n, threads = rows.shape[0], training.n_threads
        risk = OneClass(n, weights, nu=float(self.nu), lower_bound=-2.0 * square, n_threads=threads)
        return training, rows, weights, risk

    def _proving(self) -> AnyProving:
        from cutplane.estimators.linear.one_class_proofs import OneClassProofs

        return OneClassProofs(self)

    @also_lazily
    def score_samples(self, X: MatrixLike) -> NDArray[np.float64]:
        """⟨w, x⟩ of each example."""
        check_is_fitted(self)
        return self._products(X, dense(self.coef_)[0])

    @also_lazily
    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """⟨w, x⟩ - rho of each example: negative for outliers."""
        return np.asarray(self.score_samples(X) - self.offset_[0])

    @also_lazily
    def predict(self, X: MatrixLike) -> NDArray[np.intp]:
        """+1 for what is like the examples, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def _plain_model(self) -> PlainForm:
        scores = LinearScores(dense(self.coef_), -np.asarray(self.offset_))
        return PlainForm(type(self).__name__, "one_class", scores, Inside(float(self.offset_[0]), border=True))

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self._weights_from_file(arrays, (1, self.n_features_in_))
        self.offset_ = -finite(arrays, "intercept", (1,))
