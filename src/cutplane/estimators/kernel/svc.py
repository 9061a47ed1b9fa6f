"""`SVC` and `NuSVC`: kernel classification with a certificate."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from cutplane._runtime.warned import users_line
from cutplane._types import Array, ClassWeight, Codes, Labels, Matrix, MatrixLike, RandomState
from cutplane.estimators.common import validation
from cutplane.estimators.common.certain import CertainLabels
from cutplane.estimators.common.certain_classes import by_highest, by_sign, by_votes
from cutplane.estimators.common.documented import documented
from cutplane.estimators.kernel.certain_kernel import KernelCertain
from cutplane.estimators.kernel.descriptions import MACHINES
from cutplane.estimators.kernel.kernel_classifier import KernelClassifier
from cutplane.estimators.kernel.placement import answers_in_place
from cutplane.estimators.kernel.splits import Split
from cutplane.kernels import DualProblem, SMOResult
from cutplane.kernels.functions import Kernel, KernelFunction
from cutplane.kernels.smo_settings import DEFAULT_SELECTION
from cutplane.proof.kernel_machines import KernelRisk, Sided, share_of
from cutplane.solvers.result import OnStep


@documented(MACHINES)
class SVC(CertainLabels, KernelCertain, KernelClassifier):
    """Kernel support vector classification.

    Minimises ½|w|² + C·Σ max(0, 1 - yᵢ(⟨w, φ(xᵢ)⟩ + b)) for each pair of classes, by sequential minimal optimisation.
    Parameters and results are those of `sklearn.svm.SVC`.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter,
    decision_function_shape, break_ties, random_state, multi_class, selection, stopping, working_set,
    time_limit, n_jobs, device, on_step, keep_proof

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_,
    certificates_, objective_,
    lower_bound_, gap_, certificate_of_, n_iter_, history_, stop_reason_, fit_status_, shape_fit_,
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import SVC
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> model = SVC(C=10.0, gamma=2.0).fit(X, y)
    >>> model.predict([[0.1, 0.1], [0.1, 0.9]])
    array([0, 1])
    >>> bool(model.gap_ < 1e-2), model.stop_reason_
    (True, 'kkt')
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: ClassWeight = None,
        verbose: bool | int = False,
        max_iter: int | None = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: RandomState = None,
        multi_class: str = "ovo",
        selection: str = DEFAULT_SELECTION,
        stopping: str = "kkt",
        working_set: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        on_step: OnStep | None = None,
        keep_proof: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.selection = selection
        self.stopping = stopping
        self.working_set = working_set
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
        self.on_step = on_step
        self.keep_proof = keep_proof

    @answers_in_place
    def predict(  # type: ignore[override]  # what more is asked for is returned beside
        self, X: MatrixLike, *, return_certain: bool = False
    ) -> Labels | tuple[Labels, NDArray[np.bool_]]:
        """The class of each example: by the sign, by votes, or of the largest decision value.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        return_certain : bool, default=False
            Whether to return, beside the labels, which of them are proven to be those of the exact optimum; that needs
            `certify_intercept` first.
        """
        labels = self._labels(X)
        return self._with_certainty(X, labels) if return_certain else labels

    def _proven_codes(self, X: MatrixLike) -> Codes:
        low, high = self._intervals(X).with_intercepts()
        if self._pairwise:
            return by_votes(low, high, len(self.classes_))
        return by_sign(low[:, 0], high[:, 0]) if low.shape[1] == 1 else by_highest(low, high)

    def _check_own(self) -> None:
        self._check_C(self.C)

    def _problem(self, split: Split) -> DualProblem:
        return self._problems([split])[0]

    def _problems(self, splits: list[Split]) -> list[DualProblem]:
        C = self._check_C(self.C)
        return DualProblem.classifications([split.signs for split in splits], [C * split.weights for split in splits])

    def _scale(self, result: SMOResult) -> tuple[float, float]:
        return 1.0, -result.rho[0]

    def _proof_risk(self, split: Split) -> Sided:
        return Sided(split.signs.astype(np.float64), self._check_C(self.C) * split.weights)

    def _proof_point(
        self, risk: KernelRisk, coef: Array, intercept: float, width: float | None
    ) -> tuple[Array, float, float]:
        return coef, intercept, 1.0


@documented(MACHINES)
class NuSVC(KernelClassifier):
    """Kernel support vector classification with a bound on the share of support vectors.

    Parameters and results are those of `sklearn.svm.NuSVC`.

    Parameters
    ----------
    nu : float, default=0.5
        A lower bound on the share of support vectors and an upper bound on that of margin errors, in (0, 1]; at most
        twice the share of the smaller class of each pair.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter,
    decision_function_shape, break_ties, random_state, multi_class, selection, stopping, working_set,
    time_limit, n_jobs, device, on_step, keep_proof

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_,
    certificates_, objective_,
    lower_bound_, gap_, certificate_of_, n_iter_, history_, stop_reason_, fit_status_, shape_fit_,
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import NuSVC
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> NuSVC(nu=0.5, gamma=2.0).fit(X, y).predict([[0.1, 0.1], [0.1, 0.9]])
    array([0, 1])
    """

    _free_width = True
    _needs_two = "a classifier needs two (specified nu is infeasible)"
    _objective = "nu_hinge"

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | KernelFunction = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: ClassWeight = None,
        verbose: bool | int = False,
        max_iter: int | None = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: RandomState = None,
        multi_class: str = "ovo",
        selection: str = DEFAULT_SELECTION,
        stopping: str = "kkt",
        working_set: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        on_step: OnStep | None = None,
        keep_proof: bool = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.selection = selection
        self.stopping = stopping
        self.working_set = working_set
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
        self.on_step = on_step
        self.keep_proof = keep_proof

    def _check_own(self) -> None:
        validation.check_share("nu", self.nu)

    def _feasible_nu(self, split: Split) -> float:
        smaller = min(float(split.weights[split.signs == sign].sum()) for sign in (1, -1))
        most = 2.0 * smaller / float(split.weights.sum())
        if self.nu > most * (1.0 + 1e-9) and not split.left_out:
            raise ValueError(
                f"nu={self.nu!r} is infeasible for {split.name}: with their numbers and weights it can be at most "
                f"{most:.4g}, twice the share of the smaller one (specified nu is infeasible)."
            )
        return min(float(self.nu), most * (1.0 - 1e-12))

    def _problem(self, split: Split) -> DualProblem:
        return DualProblem.nu_classification(split.signs, self._feasible_nu(split), split.weights)

    def _scale(self, result: SMOResult) -> tuple[float, float]:
        if not np.isfinite(result.primal):  # called off before it began
            return 1.0, 0.0
        margin = (result.rho[0] - result.rho[1]) / 2.0
        if not margin > 0.0:  # nothing to divide by
            return 1.0, -(result.rho[0] + result.rho[1]) / 2.0
        return margin, -(result.rho[0] + result.rho[1]) / 2.0 / margin

    def _assemble(
        self, X: Matrix, kernel: Kernel, order: Codes, codes: Codes, splits: list[Split], results: list[SMOResult]
    ) -> None:
        super()._assemble(X, kernel, order, codes, splits, results)
        for split, result in zip(splits, results, strict=True):
            if np.isfinite(result.primal) and not result.rho[0] > result.rho[1]:
                warnings.warn(
                    f"nu={self.nu!r} leaves no margin between {split.name}: scores are not divided by it, and mean "
                    "little; a smaller nu, or features that tell the classes apart, would give one.",
                    UserWarning,
                    stacklevel=users_line(),
                )

    def _proof_risk(self, split: Split) -> Sided:
        return Sided(split.signs.astype(np.float64), split.weights, share_of(self._feasible_nu(split), split.weights))

    def _proof_point(
        self, risk: KernelRisk, coef: Array, intercept: float, width: float | None
    ) -> tuple[Array, float, float]:
        margin = float(width or 0.0)  # coefficients were divided by it
        return coef * margin, intercept * margin, margin
