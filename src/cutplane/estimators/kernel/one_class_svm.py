"""`OneClassSVM`: what the training examples have in common, with a certificate."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from cutplane._types import Array, Arrays, Document, Labels, MatrixLike
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.kernel.descriptions import MACHINE
from cutplane.estimators.kernel.kernel_input import kernel_rows, kernel_weights
from cutplane.estimators.kernel.kernel_machine import KernelMachine
from cutplane.estimators.kernel.kernel_proofs import ProvenMachine
from cutplane.estimators.kernel.machines import Machine
from cutplane.estimators.kernel.placement import answers_in_place
from cutplane.kernels import DualProblem
from cutplane.kernels.functions import KernelFunction
from cutplane.kernels.smo_settings import DEFAULT_SELECTION
from cutplane.plain.decisions import Inside
from cutplane.plain.form import PlainForm
from cutplane.proof.kernel_machines import KernelRisk, Sided, share_of
from cutplane.solvers.result import OnStep


@documented(MACHINE)
class OneClassSVM(OutlierMixin, KernelMachine):
    """The region that holds most of the training examples, for finding outliers.

    Parameters and results are those of `sklearn.svm.OneClassSVM`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol
    nu : float, default=0.5
        An upper bound on the share of training examples left outside and a lower bound on that of support vectors, in
        (0, 1].
    shrinking, cache_size, verbose, max_iter, selection, stopping, working_set, time_limit, n_jobs, device, on_step,
    keep_proof

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
    offset_ : array of shape (1,)
        What `score_samples` is held against: the negative intercept.
    certificates_, objective_, lower_bound_, gap_, certificate_of_, n_iter_, history_, stop_reason_, fit_status_,
    shape_fit_,
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import OneClassSVM
    >>> model = OneClassSVM(gamma=1.0, nu=0.25).fit([[0.0], [0.1], [0.2], [0.3]])
    >>> model.predict([[0.15], [5.0]])
    array([ 1, -1])
    """

    _labelled = False

    def __init__(
        self,
        *,
        kernel: str | KernelFunction = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float | None = None,
        verbose: bool | int = False,
        max_iter: int | None = -1,
        selection: str = DEFAULT_SELECTION,
        stopping: str = "kkt",
        working_set: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        on_step: OnStep | None = None,
        keep_proof: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.selection = selection
        self.stopping = stopping
        self.working_set = working_set
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
        self.on_step = on_step
        self.keep_proof = keep_proof

    def fit(self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (dense, CSR, a kernel matrix, or what a callable kernel takes); y is not looked at.

        Returns
        -------
        self
        """
        training = self._training()
        nu = validation.check_share("nu", self.nu)
        given = X = self._brought(X)
        X = kernel_rows(self, X)
        weights = kernel_weights(sample_weight, X)
        kernel = self._make_kernel(X)
        kept = np.flatnonzero(weights > 0)
        problem = DualProblem.one_class(len(kept), nu, weights[kept])
        matrix, positions = self._arrange(kernel, X, kept)
        machine = Machine(problem, positions)
        result = training.run(matrix, [machine])[0]
        used = np.flatnonzero(result.alpha)
        self.n_support_ = np.array([len(used)], np.int32)
        self._keep(X, kernel, kept[used], result.alpha[None, used], np.array([-result.rho[0]]))
        self.offset_ = -self.intercept_
        self._certify(matrix, [machine], [result], training)
        return self._proven(given, None, sample_weight)

    def _proven_machines(self, y: Labels, weights: Array) -> tuple[NDArray[np.intp], list[ProvenMachine]]:
        kept = np.flatnonzero(weights > 0)
        risk = Sided(np.ones(len(kept)), weights[kept], share_of(float(self.nu), weights[kept]), intercept=False)
        return kept, [ProvenMachine("the machine", np.arange(len(kept)), risk)]

    def _proof_point(
        self, risk: KernelRisk, coef: Array, intercept: float, width: float | None
    ) -> tuple[Array, float, float]:
        return coef, 0.0, -intercept

    @answers_in_place
    def decision_function(self, X: MatrixLike) -> Array:
        """How far inside the region each example lies; below 0 outside."""
        return self._decisions(X)[:, 0]

    @answers_in_place
    def score_samples(self, X: MatrixLike) -> Array:
        """The decision values without the offset."""
        return np.asarray(self._decisions(X)[:, 0] + self.offset_)

    @answers_in_place
    def predict(self, X: MatrixLike) -> NDArray[np.intp]:
        """1 for examples inside, -1 for outliers."""
        return np.where(self._decisions(X)[:, 0] > 0, 1, -1).astype(np.intp)

    def _plain_model(self) -> PlainForm:
        decision = Inside(float(self.offset_[0]), border=False)
        return PlainForm(type(self).__name__, "one_class", self._plain_scores(), decision)

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        self._check_one_machine()
        self.offset_ = -self.intercept_
        self._prepare_predictions()
