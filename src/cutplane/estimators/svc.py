"""`SVC` and `NuSVC`: kernel classification with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.estimators import validation
from cutplane.estimators.kernel_classifier import KernelClassifier
from cutplane.estimators.machines import KernelStep
from cutplane.estimators.splits import Split
from cutplane.kernels import DualProblem, SMOResult
from cutplane.kernels.smo import DEFAULT_SELECTION
from cutplane.proof.kernel_machines import Sided, share_of

Array = NDArray[np.float64]


class SVC(KernelClassifier):
    """Kernel support vector classification.

    Minimises ½|w|² + C·Σ max(0, 1 - yᵢ(⟨w, φ(xᵢ)⟩ + b)) for each pair of classes, by sequential minimal optimisation.
    Parameters and results are those of `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the margin, per example. Infinity is taken as 1e10, and that is
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
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether to learn probabilities: cross-validated decision values are mapped to them by a sigmoid (True is the
        same) or an isotonic curve. `predict` does not depend on it, and the largest probability is always that of the
        class `predict` gives.
    tol : float, default=1e-3
        What `stopping` is held against.
    cache_size : float or None, default=None
        Memory for kernel rows, in MB; None is a quarter of what is free.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of examples by class.
    verbose : bool, default=False
        Print a line now and then.
    max_iter : int or None, default=-1
        Pair steps at most for each machine; -1 or None for as many as it takes.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With several classes, whether `decision_function` has a value for each class or for each pair.
    break_ties : bool, default=False
        With several classes, whether equal votes are decided by decision values instead of the order of classes.
    random_state : int, RandomState or None, default=None
        For the folds behind probabilities; None is a fixed seed.
    multi_class : {"ovo", "ovr"}, default="ovo"
        With several classes, a machine for each pair of them or for each against the rest. They are trained in
        parallel and share one kernel cache.
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
    classes_ : array of shape (n_classes,)
    class_weight_ : array of shape (n_classes,)
    support_ : array of shape (n_SV,)
        Positions of the support vectors among the training examples.
    support_vectors_ : array or CSR array of shape (n_SV, n_features)
        Empty for a precomputed kernel.
    n_support_ : array of shape (n_classes,)
    dual_coef_ : array of shape (n_classes - 1, n_SV) or (n_classes, n_SV)
        Coefficients of the support vectors times labels, in LIBSVM's order; sparse if X was.
    intercept_ : array of shape (n_machines,)
    coef_ : array of shape (n_machines, n_features)
        For ``kernel="linear"`` only.
    objective_, lower_bound_, gap_ : float or array of shape (n_machines,)
        The primal objective at the model, a lower bound on every model's, and (objective_ - lower_bound_) /
        |objective_|. Where the kernel is not positive semi-definite nothing is proven: -inf and inf.
    certificate_of_ : str
        What they are proven for: "kernel", the kernel itself, evaluated in double precision, or "single-precision
        kernel matrix", the matrix that was trained on, where the former would cost more than a tenth of the training.
        " (assumed positive semi-definite)" follows where nobody has looked.
    n_iter_ : array of shape (n_machines,)
        Pair steps.
    history_ : list of KernelStep or list of such lists
    stop_reason_ : str or list of str
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
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int | None = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: str = "ovo",
        selection: str = DEFAULT_SELECTION,
        stopping: str = "kkt",
        working_set: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        on_step: Callable[[KernelStep], Any] | None = None,
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
        self.on_step = on_step
        self.keep_proof = keep_proof

    def _check_own(self) -> None:
        self._check_C(self.C)

    def _problem(self, split: Split) -> DualProblem:
        return DualProblem.classification(split.signs, self._check_C(self.C) * split.weights)

    def _scale(self, result: SMOResult) -> tuple[float, float]:
        return 1.0, -result.rho[0]

    def _proof_risk(self, split: Split) -> Sided:
        return Sided(split.signs.astype(np.float64), self._check_C(self.C) * split.weights)

    def _proof_point(self, risk: Any, coef: Array, intercept: float, width: float | None) -> tuple[Array, float, float]:
        return coef, intercept, 1.0


class NuSVC(KernelClassifier):
    """Kernel support vector classification with a bound on the share of support vectors.

    Parameters and results are those of `sklearn.svm.NuSVC`.

    Parameters
    ----------
    nu : float, default=0.5
        A lower bound on the share of support vectors and an upper bound on that of margin errors, in (0, 1]; at most
        twice the share of the smaller class of each pair.
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
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether to learn probabilities: cross-validated decision values are mapped to them by a sigmoid (True is the
        same) or an isotonic curve. `predict` does not depend on it, and the largest probability is always that of the
        class `predict` gives.
    tol : float, default=1e-3
        What `stopping` is held against.
    cache_size : float or None, default=None
        Memory for kernel rows, in MB; None is a quarter of what is free.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of examples by class.
    verbose : bool, default=False
        Print a line now and then.
    max_iter : int or None, default=-1
        Pair steps at most for each machine; -1 or None for as many as it takes.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With several classes, whether `decision_function` has a value for each class or for each pair.
    break_ties : bool, default=False
        With several classes, whether equal votes are decided by decision values instead of the order of classes.
    random_state : int, RandomState or None, default=None
        For the folds behind probabilities; None is a fixed seed.
    multi_class : {"ovo", "ovr"}, default="ovo"
        With several classes, a machine for each pair of them or for each against the rest. They are trained in
        parallel and share one kernel cache.
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
    classes_ : array of shape (n_classes,)
    class_weight_ : array of shape (n_classes,)
    support_ : array of shape (n_SV,)
        Positions of the support vectors among the training examples.
    support_vectors_ : array or CSR array of shape (n_SV, n_features)
        Empty for a precomputed kernel.
    n_support_ : array of shape (n_classes,)
    dual_coef_ : array of shape (n_classes - 1, n_SV) or (n_classes, n_SV)
        Coefficients of the support vectors times labels, in LIBSVM's order; sparse if X was.
    intercept_ : array of shape (n_machines,)
    coef_ : array of shape (n_machines, n_features)
        For ``kernel="linear"`` only.
    objective_, lower_bound_, gap_ : float or array of shape (n_machines,)
        The primal objective at the model, a lower bound on every model's, and (objective_ - lower_bound_) /
        |objective_|. Where the kernel is not positive semi-definite nothing is proven: -inf and inf.
    certificate_of_ : str
        What they are proven for: "kernel", the kernel itself, evaluated in double precision, or "single-precision
        kernel matrix", the matrix that was trained on, where the former would cost more than a tenth of the training.
        " (assumed positive semi-definite)" follows where nobody has looked.
    n_iter_ : array of shape (n_machines,)
        Pair steps.
    history_ : list of KernelStep or list of such lists
    stop_reason_ : str or list of str
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
    >>> from cutplane import NuSVC
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> NuSVC(nu=0.5, gamma=2.0).fit(X, y).predict([[0.1, 0.1], [0.1, 0.9]])
    array([0, 1])
    """

    _free_width = True
    _needs_two = "a classifier needs two (specified nu is infeasible)"

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int | None = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: str = "ovo",
        selection: str = DEFAULT_SELECTION,
        stopping: str = "kkt",
        working_set: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        on_step: Callable[[KernelStep], Any] | None = None,
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
        if not margin > 0.0:
            raise ValueError(
                f"nu={self.nu!r} leaves no margin between the classes, so there is no machine; "
                "a smaller nu, or features that tell the classes apart, would give one."
            )
        return margin, -(result.rho[0] + result.rho[1]) / 2.0 / margin

    def _proof_risk(self, split: Split) -> Sided:
        return Sided(split.signs.astype(np.float64), split.weights, share_of(self._feasible_nu(split), split.weights))

    def _proof_point(self, risk: Any, coef: Array, intercept: float, width: float | None) -> tuple[Array, float, float]:
        margin = float(width or 0.0)  # coefficients were divided by it
        return coef * margin, intercept * margin, margin
