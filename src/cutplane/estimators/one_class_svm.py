"""`OneClassSVM`: what the training examples have in common, with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from cutplane.estimators import validation
from cutplane.estimators.kernel_machine import KernelMachine
from cutplane.estimators.kernel_proofs import ProvenMachine
from cutplane.estimators.machines import KernelStep, Machine
from cutplane.estimators.savable import Arrays
from cutplane.kernels import DualProblem
from cutplane.kernels.smo import DEFAULT_SELECTION
from cutplane.proof.kernel_machines import Sided, share_of

Array = NDArray[np.float64]


class OneClassSVM(OutlierMixin, KernelMachine):
    """The region that holds most of the training examples, for finding outliers.

    Parameters and results are those of `sklearn.svm.OneClassSVM`.

    Parameters
    ----------
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
    nu : float, default=0.5
        An upper bound on the share of training examples left outside and a lower bound on that of support vectors, in
        (0, 1].
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
    offset_ : array of shape (1,)
        What `score_samples` is held against: the negative intercept.
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
    >>> from cutplane import OneClassSVM
    >>> model = OneClassSVM(gamma=1.0, nu=0.25).fit([[0.0], [0.1], [0.2], [0.3]])
    >>> model.predict([[0.15], [5.0]])
    array([ 1, -1])
    """

    _labelled = False

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
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
        on_step: Callable[[KernelStep], Any] | None = None,
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
        self.on_step = on_step
        self.keep_proof = keep_proof

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on X (dense, CSR, a kernel matrix, or what a callable kernel takes); y is not looked at.

        Returns
        -------
        self
        """
        training = self._training()
        nu = validation.check_share("nu", self.nu)
        given = X
        X, _ = self._examples(X, labelled=False)
        weights = self._weights(sample_weight, X)
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
        self.n_iter_ = int(result.n_iter)
        return self._proven(given, None, sample_weight)

    def _proven_machines(self, y: Any, weights: Array) -> tuple[NDArray[np.intp], list[ProvenMachine]]:
        kept = np.flatnonzero(weights > 0)
        risk = Sided(np.ones(len(kept)), weights[kept], share_of(float(self.nu), weights[kept]), intercept=False)
        return kept, [ProvenMachine("the machine", np.arange(len(kept)), risk)]

    def _proof_point(self, risk: Any, coef: Array, intercept: float, width: float | None) -> tuple[Array, float, float]:
        return coef, 0.0, -intercept

    def decision_function(self, X: Any) -> Array:
        """How far inside the region each example lies; below 0 outside."""
        return self._decisions(X)[:, 0]

    def score_samples(self, X: Any) -> Array:
        """The decision values without the offset."""
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """1 for examples inside, -1 for outliers."""
        return np.where(self.decision_function(X) > 0, 1, -1).astype(np.intp)

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        super()._from_file(arrays, stored)
        self._check_one_machine()
        self.offset_ = -self.intercept_
        self._settle()
