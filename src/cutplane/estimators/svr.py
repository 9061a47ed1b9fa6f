"""`SVR` and `NuSVR`: kernel regression with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from cutplane.estimators import validation
from cutplane.estimators.kernel_machine import KernelMachine
from cutplane.estimators.kernel_proofs import ProvenMachine
from cutplane.estimators.machines import KernelStep, Machine
from cutplane.estimators.savable import Arrays
from cutplane.kernels import DualProblem, SMOResult
from cutplane.kernels.smo import DEFAULT_SELECTION
from cutplane.proof.kernel_machines import Tubed, share_of

Array = NDArray[np.float64]


class KernelRegressor(RegressorMixin, KernelMachine):
    """What `SVR` and `NuSVR` share; a subclass makes the dual problem and reads the offset off its solution."""

    def _problem(self, y: Array, weights: Array) -> DualProblem:
        raise NotImplementedError

    def _offset(self, result: SMOResult) -> float:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X (dense, CSR, a kernel matrix, or what a callable kernel takes) and targets y.

        Returns
        -------
        self
        """
        training = self._training()
        given = X
        X, y = self._examples(X, y)
        targets = validation.check_targets(y)
        weights = self._weights(sample_weight, X)
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
        self.n_iter_ = int(result.n_iter)
        return self._proven(given, y, sample_weight)

    def _proof_risk(self, y: Array, weights: Array) -> Tubed:
        """What the machine minimises, for the checker."""
        raise NotImplementedError

    def _proven_machines(self, y: Any, weights: Array) -> tuple[NDArray[np.intp], list[ProvenMachine]]:
        kept = np.flatnonzero(weights > 0)
        risk = self._proof_risk(validation.check_targets(y)[kept], weights[kept])
        return kept, [ProvenMachine("the machine", np.arange(len(kept)), risk)]

    def predict(self, X: Any) -> Array:
        """The value of the function at each example."""
        return self._decisions(X)[:, 0]

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        super()._from_file(arrays, stored)
        self._check_one_machine()
        self._settle()


class SVR(KernelRegressor):
    """Kernel support vector regression.

    Minimises ½|w|² + C·Σ max(0, |yᵢ - ⟨w, φ(xᵢ)⟩ - b| - epsilon) by sequential minimal optimisation. Parameters and
    results are those of `sklearn.svm.SVR`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against flatness, per example. Infinity is taken as 1e10, and that is
        what is certified then.
    epsilon : float, default=0.1
        Errors up to this cost nothing.
    kernel : str (a key of `cutplane.kernels.FORMULAS`, or "precomputed") or callable, default="rbf"
        The kernel; see `cutplane.kernels.Kernel` for what each computes. For "precomputed" X is the kernel matrix: of
        all training examples with each other in `fit`, of new ones with the training examples afterwards. A callable
        is called as ``kernel(A, B)`` with some of the examples and returns an array of shape (len(A), len(B)).
    degree : int, default=3
        Of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Of all kernels but the linear one: 1 / (n_features * X.var()), 1 / n_features, or the number given.
    coef0 : float, default=0.0
        Of the polynomial and the sigmoid kernel.
    shrinking : bool, default=True
        Whether variables that seem settled are left out for a while.
    tol : float, default=1e-3
        What `stopping` is held against.
    cache_size : float or None, default=None
        Memory for kernel rows, in MB; None is a quarter of what is free.
    verbose : bool, default=False
        Print a line now and then.
    max_iter : int or None, default=-1
        Pair steps at most; -1 or None for as many as it takes.
    selection : {"second-order", "conjugate", "ofs2", "ofs1", "mvp", "hmg"}
        How a pair of variables is chosen; the default is what measured fastest with the RBF kernel. "conjugate" takes
        steps along conjugate directions too, which is faster where there are many: polynomial kernels, large C.
    stopping : {"kkt", "gap", "pair"}, default="kkt"
        "kkt": the optimality conditions are violated by at most `tol`, as in LIBSVM. "gap": the relative duality gap
        is at most `tol`. "pair": the pair selected violates less than `tol`, as the OFS paper has it, which proves
        nothing.
    working_set : int or None, default=None
        2 takes one pair at a time; None chooses.
    time_limit : float or None, default=None
        Seconds at most, for all of `fit`.
    n_jobs : int or None, default=None
        Threads; None leaves it to OpenMP, -1 takes all processors. The model does not depend on it.
    on_step : callable or None, default=None
        Called with a `KernelStep` now and then; returning True ends the fit.
    keep_proof : bool, default=False
        Whether what `cutplane.verify` needs is kept as `proof_`, for `save`: a hash of the data and both bounds, those
        of the kernel itself in double precision.

    Attributes
    ----------
    support_ : array of shape (n_SV,)
        Positions of the support vectors among the training examples.
    support_vectors_ : array or CSR array of shape (n_SV, n_features)
        Empty for a precomputed kernel.
    n_support_ : array of shape (1,)
    dual_coef_ : array of shape (1, n_SV)
        Coefficients of the support vectors; sparse if X was.
    intercept_ : array of shape (1,)
    coef_ : array of shape (1, n_features)
        For ``kernel="linear"`` only.
    objective_, lower_bound_, gap_ : float
        The primal objective at the model, a lower bound on every model's, and (objective_ - lower_bound_) /
        |objective_|. Where the kernel is not positive semi-definite nothing is proven: -inf and inf.
    certificate_of_ : str
        What they are proven for: "kernel", the kernel itself, evaluated in double precision, or "single-precision
        kernel matrix", the matrix that was trained on, where the former would cost more than a tenth of the training.
        " (assumed positive semi-definite)" follows where nobody has looked.
    n_iter_ : int
        Pair steps.
    history_ : list of KernelStep
    stop_reason_ : str
        The rule of `stopping`, or "max_iter", "time_limit", "interrupted", "stalled".
    fit_status_ : int
        0 if the rule was met, else 1.
    shape_fit_ : tuple
        The shape of X in `fit`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has names.

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
        kernel: str | Callable[..., Any] = "rbf",
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
        on_step: Callable[[KernelStep], Any] | None = None,
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
        self.on_step = on_step
        self.keep_proof = keep_proof

    def _problem(self, y: Array, weights: Array) -> DualProblem:
        epsilon = validation.check_not_negative("epsilon", self.epsilon)
        return DualProblem.regression(y, self._check_C(self.C) * weights, epsilon)

    def _offset(self, result: SMOResult) -> float:
        return result.rho[0]

    def _proof_risk(self, y: Array, weights: Array) -> Tubed:
        return Tubed(y, self._check_C(self.C) * weights, float(self.epsilon))

    def _proof_point(self, risk: Any, coef: Array, intercept: float, width: float | None) -> tuple[Array, float, float]:
        return coef, intercept, risk.epsilon


class NuSVR(KernelRegressor):
    """Kernel support vector regression whose tube is as wide as a share of support vectors allows.

    Parameters and results are those of `sklearn.svm.NuSVR`.

    Parameters
    ----------
    nu : float, default=0.5
        A lower bound on the share of support vectors and an upper bound on that of errors outside the tube, in (0, 1].
    C : float, default=1.0
        Weight of the losses against flatness, per example. Infinity is taken as 1e10, and that is
        what is certified then.
    kernel : str (a key of `cutplane.kernels.FORMULAS`, or "precomputed") or callable, default="rbf"
        The kernel; see `cutplane.kernels.Kernel` for what each computes. For "precomputed" X is the kernel matrix: of
        all training examples with each other in `fit`, of new ones with the training examples afterwards. A callable
        is called as ``kernel(A, B)`` with some of the examples and returns an array of shape (len(A), len(B)).
    degree : int, default=3
        Of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Of all kernels but the linear one: 1 / (n_features * X.var()), 1 / n_features, or the number given.
    coef0 : float, default=0.0
        Of the polynomial and the sigmoid kernel.
    shrinking : bool, default=True
        Whether variables that seem settled are left out for a while.
    tol : float, default=1e-3
        What `stopping` is held against.
    cache_size : float or None, default=None
        Memory for kernel rows, in MB; None is a quarter of what is free.
    verbose : bool, default=False
        Print a line now and then.
    max_iter : int or None, default=-1
        Pair steps at most; -1 or None for as many as it takes.
    selection : {"second-order", "conjugate", "ofs2", "ofs1", "mvp", "hmg"}
        How a pair of variables is chosen; the default is what measured fastest with the RBF kernel. "conjugate" takes
        steps along conjugate directions too, which is faster where there are many: polynomial kernels, large C.
    stopping : {"kkt", "gap", "pair"}, default="kkt"
        "kkt": the optimality conditions are violated by at most `tol`, as in LIBSVM. "gap": the relative duality gap
        is at most `tol`. "pair": the pair selected violates less than `tol`, as the OFS paper has it, which proves
        nothing.
    working_set : int or None, default=None
        2 takes one pair at a time; None chooses.
    time_limit : float or None, default=None
        Seconds at most, for all of `fit`.
    n_jobs : int or None, default=None
        Threads; None leaves it to OpenMP, -1 takes all processors. The model does not depend on it.
    on_step : callable or None, default=None
        Called with a `KernelStep` now and then; returning True ends the fit.
    keep_proof : bool, default=False
        Whether what `cutplane.verify` needs is kept as `proof_`, for `save`: a hash of the data and both bounds, those
        of the kernel itself in double precision.

    Attributes
    ----------
    support_ : array of shape (n_SV,)
        Positions of the support vectors among the training examples.
    support_vectors_ : array or CSR array of shape (n_SV, n_features)
        Empty for a precomputed kernel.
    n_support_ : array of shape (1,)
    dual_coef_ : array of shape (1, n_SV)
        Coefficients of the support vectors; sparse if X was.
    intercept_ : array of shape (1,)
    coef_ : array of shape (1, n_features)
        For ``kernel="linear"`` only.
    objective_, lower_bound_, gap_ : float
        The primal objective at the model, a lower bound on every model's, and (objective_ - lower_bound_) /
        |objective_|. Where the kernel is not positive semi-definite nothing is proven: -inf and inf.
    certificate_of_ : str
        What they are proven for: "kernel", the kernel itself, evaluated in double precision, or "single-precision
        kernel matrix", the matrix that was trained on, where the former would cost more than a tenth of the training.
        " (assumed positive semi-definite)" follows where nobody has looked.
    n_iter_ : int
        Pair steps.
    history_ : list of KernelStep
    stop_reason_ : str
        The rule of `stopping`, or "max_iter", "time_limit", "interrupted", "stalled".
    fit_status_ : int
        0 if the rule was met, else 1.
    shape_fit_ : tuple
        The shape of X in `fit`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has names.

    Examples
    --------
    >>> from cutplane import NuSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> NuSVR(kernel="poly", degree=2, gamma=1.0, C=10.0).fit(X, y).predict([[2.5]]).round(1)
    array([6.2])
    """

    _free_width = True

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
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
        on_step: Callable[[KernelStep], Any] | None = None,
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

    def _proof_point(self, risk: Any, coef: Array, intercept: float, width: float | None) -> tuple[Array, float, float]:
        return coef, intercept, float(width or 0.0)
