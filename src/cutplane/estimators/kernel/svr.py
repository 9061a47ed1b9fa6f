"""`SVR` and `NuSVR`: kernel regression with a certificate."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from cutplane._types import Array, Arrays, Document, Labels, MatrixLike
from cutplane.estimators.common import validation
from cutplane.estimators.common.certain import CertainTargets
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.scored import ScoredAnywhere
from cutplane.estimators.kernel.certain_kernel import KernelCertain
from cutplane.estimators.kernel.descriptions import MACHINE
from cutplane.estimators.kernel.kernel_input import kernel_examples, kernel_weights
from cutplane.estimators.kernel.kernel_machine import KernelMachine
from cutplane.estimators.kernel.kernel_proofs import ProvenMachine
from cutplane.estimators.kernel.machines import Machine
from cutplane.estimators.kernel.placement import answers_in_place
from cutplane.kernels import DualProblem, SMOResult
from cutplane.kernels.functions import KernelFunction
from cutplane.kernels.smo_settings import DEFAULT_SELECTION
from cutplane.plain.decisions import Value
from cutplane.plain.form import PlainForm
from cutplane.proof.kernel_machines import KernelRisk, Tubed, share_of
from cutplane.solvers.result import OnStep


class KernelRegressor(ScoredAnywhere, RegressorMixin, KernelMachine):
    """What `SVR` and `NuSVR` share; a subclass makes the dual problem and reads the offset off its solution."""

    _objective = "epsilon_insensitive"

    def _problem(self, y: Array, weights: Array) -> DualProblem:
        raise NotImplementedError

    def _offset(self, result: SMOResult) -> float:
        raise NotImplementedError

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (dense, CSR, a kernel matrix, or what a callable kernel takes) and targets y.

        Returns
        -------
        self
        """
        training = self._training()
        given = X = self._brought(X)
        X, y = kernel_examples(self, X, y)
        targets = validation.check_targets(y, validation.check_threads(self.n_jobs))
        weights = kernel_weights(sample_weight, X)
        kernel = self._make_kernel(X)
        kept = np.flatnonzero(weights > 0)
        problem = self._problem(targets[kept], weights[kept])
        matrix, positions = self._arrange(kernel, X, kept)
        machine = Machine(problem, positions)
        result = training.run(matrix, [machine])[0]
        plus, minus = np.split(result.alpha, 2)
        used = np.flatnonzero(plus - minus)
        self.n_support_ = np.array([len(used)], np.int32)
        self._keep(X, kernel, kept[used], (plus - minus)[None, used], np.array([-self._offset(result)]))
        self._certify(matrix, [machine], [result], training)
        return self._proven(given, y, sample_weight)

    def _proof_risk(self, y: Array, weights: Array) -> Tubed:
        """What the machine minimises, for the checker."""
        raise NotImplementedError

    def _proven_machines(self, y: Labels, weights: Array) -> tuple[NDArray[np.intp], list[ProvenMachine]]:
        kept = np.flatnonzero(weights > 0)
        risk = self._proof_risk(validation.check_targets(y)[kept], weights[kept])
        return kept, [ProvenMachine("the machine", np.arange(len(kept)), risk)]

    @answers_in_place
    def predict(self, X: MatrixLike) -> Array:
        """The value of the function at each example."""
        return self._decisions(X)[:, 0]

    def _plain_model(self) -> PlainForm:
        return PlainForm(type(self).__name__, self._objective, self._plain_scores(), Value())

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        self._check_one_machine()
        self._prepare_predictions()


@documented(MACHINE)
class SVR(CertainTargets, KernelCertain, KernelRegressor):
    """Kernel support vector regression.

    Minimises ½|w|² + C·Σ max(0, |yᵢ - ⟨w, φ(xᵢ)⟩ - b| - epsilon) by sequential minimal optimisation. Parameters and
    results are those of `sklearn.svm.SVR`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C
    epsilon : float, default=0.1
        Errors up to this cost nothing.
    shrinking, cache_size, verbose, max_iter, selection, stopping, working_set, time_limit, n_jobs, device, on_step,
    keep_proof

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, certificates_, objective_, lower_bound_,
    gap_,
    certificate_of_, n_iter_, history_, stop_reason_, fit_status_, shape_fit_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import SVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> SVR(kernel="poly", degree=2, gamma=1.0, C=10.0, epsilon=0.01).fit(X, y).predict([[2.5]]).round(1)
    array([6.2])
    """

    def __init__(
        self,
        *,
        kernel: str | KernelFunction = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        self.C = C
        self.epsilon = epsilon
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

    def _problem(self, y: Array, weights: Array) -> DualProblem:
        epsilon = validation.check_not_negative("epsilon", self.epsilon)
        return DualProblem.regression(y, self._check_C(self.C) * weights, epsilon)

    def _offset(self, result: SMOResult) -> float:
        return result.rho[0]

    def _proof_risk(self, y: Array, weights: Array) -> Tubed:
        return Tubed(y, self._check_C(self.C) * weights, float(self.epsilon))

    def _proof_point(
        self, risk: KernelRisk, coef: Array, intercept: float, width: float | None
    ) -> tuple[Array, float, float]:
        assert isinstance(risk, Tubed)
        return coef, intercept, risk.epsilon


@documented(MACHINE)
class NuSVR(KernelRegressor):
    """Kernel support vector regression whose tube is as wide as a share of support vectors allows.

    Parameters and results are those of `sklearn.svm.NuSVR`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C
    nu : float, default=0.5
        A lower bound on the share of support vectors and an upper bound on that of errors outside the tube, in (0, 1].
    shrinking, cache_size, verbose, max_iter, selection, stopping, working_set, time_limit, n_jobs, device, on_step,
    keep_proof

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, certificates_, objective_, lower_bound_,
    gap_,
    certificate_of_, n_iter_, history_, stop_reason_, fit_status_, shape_fit_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import NuSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> NuSVR(kernel="poly", degree=2, gamma=1.0, C=10.0).fit(X, y).predict([[2.5]]).round(1)
    array([6.2])
    """

    _free_width = True
    _objective = "nu_epsilon_insensitive"

    def __init__(
        self,
        *,
        kernel: str | KernelFunction = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
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
        self.C = C
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

    def _problem(self, y: Array, weights: Array) -> DualProblem:
        nu = validation.check_share("nu", self.nu)
        return DualProblem.nu_regression(y, self._check_C(self.C) * weights, nu)

    def _offset(self, result: SMOResult) -> float:
        return (result.rho[0] + result.rho[1]) / 2.0

    def _proof_risk(self, y: Array, weights: Array) -> Tubed:
        each = self._check_C(self.C) * weights
        return Tubed(y, each, total=share_of(float(self.nu), each))

    def _proof_point(
        self, risk: KernelRisk, coef: Array, intercept: float, width: float | None
    ) -> tuple[Array, float, float]:
        return coef, intercept, float(width or 0.0)
