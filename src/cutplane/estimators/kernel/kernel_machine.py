"""What kernel estimators share: parameters, the kernel and its matrix, the certificate, scores, files."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from typing import Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Arrays, Document, Labels, Matrix, MatrixLike, is_sparse
from cutplane.device import arrays
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import Watched
from cutplane.estimators.common.savable import Savable
from cutplane.estimators.kernel.kernel_certificates import certified
from cutplane.estimators.kernel.kernel_choice import make_kernel
from cutplane.estimators.kernel.kernel_files import kernel_machine_from_file, kernel_machine_to_file
from cutplane.estimators.kernel.kernel_proofs import KernelProofs, NothingProvenError, ProvenMachine
from cutplane.estimators.kernel.kernel_scores import kernel_scores
from cutplane.estimators.kernel.machines import AnyMatrix, Machine, MachineTraining, history_of, warn_unless_proven
from cutplane.estimators.kernel.placement import ScoresThere, brought, check_one_device, is_asked_there
from cutplane.estimators.kernel.plain_scores import Support, plain_scores
from cutplane.kernels import Kernel, KernelMatrix, SMOResult
from cutplane.kernels.definite import MOST_ROWS
from cutplane.kernels.device_matrix import device_kernel_matrix
from cutplane.kernels.functions import KernelFunction, single
from cutplane.kernels.memory import default_cache
from cutplane.kernels.smo_settings import DEFAULT_SELECTION, Selection, Stopping
from cutplane.kernels.table import positive_only
from cutplane.plain.scores import KernelScores, PrecomputedScores
from cutplane.proof.kernel_machines import KernelRisk
from cutplane.solvers.certificates import ProblemCertificate
from cutplane.solvers.result import OnStep

SELECTIONS = ("second-order", "conjugate", "ofs2", "ofs1", "mvp", "hmg")
STOPPINGS = ("kkt", "gap", "pair")
# What an infinite C is taken as.
_HARD_MARGIN = 1e10


class KernelMachine(Savable, Watched):
    """An estimator whose decisions are kernel values with support vectors times coefficients, plus an intercept.

    A subclass names its parameters in `__init__`; those that it leaves out have the values below. It makes the dual
    problems and turns their solutions into `support_`, `dual_coef_` and `intercept_`.
    """

    kernel: str | KernelFunction = "rbf"
    degree: int = 3
    gamma: str | float = "scale"
    coef0: float = 0.0
    tol: float = 1e-3
    shrinking: bool = True
    cache_size: float | None = None
    max_iter: int | None = -1
    selection: str = DEFAULT_SELECTION
    stopping: str = "kkt"
    working_set: int | None = None
    time_limit: float | None = None
    n_jobs: int | None = None
    device: str | None = None
    on_step: OnStep | None = None
    keep_proof: bool = False

    # Whether fits look at y, and whether the machine chooses a margin or a tube besides its weights.
    _labelled = True
    _free_width = False

    # --- parameters ---

    def _training(self) -> MachineTraining:
        """The settings, checked."""
        if self.working_set is not None and (not _is_whole(self.working_set) or self.working_set < 2):
            raise ValueError(f"working_set={self.working_set!r} must be an integer of 2 or greater, or None.")
        if self.time_limit is not None:
            validation.check_positive("time_limit", self.time_limit)
        if self.cache_size is not None:
            validation.check_positive("cache_size", self.cache_size)
        if self.device is not None:
            self._check_device(self.device)
        if self.keep_proof:
            self._proving().refuse()
        if self.on_step is not None and not callable(self.on_step):
            raise ValueError(f"on_step={self.on_step!r} must be a function of one argument, or None.")
        return MachineTraining(
            validation.check_positive("tol", self.tol),
            cast(Selection, validation.check_choice("selection", self.selection, SELECTIONS)),
            cast(Stopping, validation.check_choice("stopping", self.stopping, STOPPINGS)),
            bool(self.shrinking),
            None if self.working_set is None else int(self.working_set),
            validation.check_max_iter(self.max_iter),
            self.time_limit,
            validation.check_threads(self.n_jobs),
            self._listener,
        )

    def _check_device(self, device: str) -> None:
        check_one_device(device)
        for name, chosen, only in (
            ("stopping", self.stopping, "kkt"),
            ("selection", self.selection, DEFAULT_SELECTION),
        ):
            if chosen != only:
                raise ValueError(f"{name}={chosen!r} is for the processor; on a GPU it is {only!r}.")

    def _brought(self, X: MatrixLike) -> MatrixLike:
        """Examples on the host; those that lay on a GPU are trained on there."""
        self._trains_there = is_asked_there(self.device, X)
        if self._trains_there and self.device is None:
            self._check_device("cuda")
        return cast(MatrixLike, brought(X))

    def _check_C(self, C: float) -> float:
        """C as it is. Infinity becomes a large number, so that sums and products stay finite."""
        value = validation.check_strength("C", C, finite=False)
        return _HARD_MARGIN if value == np.inf else value

    def _make_kernel(self, X: Matrix) -> Kernel:
        """The kernel, its `gamma` chosen for these examples."""
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)
        self._gamma = kernel.gamma if kernel.computed else 0.0
        return kernel

    def _arrange(self, kernel: Kernel, X: Matrix, order: NDArray[np.intp]) -> tuple[AnyMatrix, NDArray[np.int64]]:
        """The kernel matrix, and where in it the examples `order` lie.

        They are copied into that order, for rows of one class that lie together are read faster; a precomputed matrix
        stays as it is.
        """
        whole = len(order) == X.shape[0] and np.array_equal(order, np.arange(len(order)))
        stays = whole or kernel.name == "precomputed"
        examples = X if stays else X[order]
        cache_bytes = default_cache() if self.cache_size is None else max(1, int(self.cache_size * 2**20))
        if kernel.name == "callable" and 4 * len(order) ** 2 <= cache_bytes:
            # One call is much faster than one for each row.
            values = kernel.values(examples, examples)
            examples, kernel = values if len(values) <= MOST_ROWS else single(values), Kernel("precomputed")
        positions = order.astype(np.int64) if stays else np.arange(len(order), dtype=np.int64)
        if self._trains_there:
            return device_kernel_matrix(arrays.cuda_kernels(), examples, kernel), positions
        n_threads = validation.check_threads(self.n_jobs)
        return KernelMatrix(examples, kernel, cache_bytes=cache_bytes, n_threads=n_threads), positions

    # --- the fitted machine ---

    def _keep(self, X: Matrix, kernel: Kernel, support: NDArray[np.intp], dual_coef: Array, intercept: Array) -> None:
        """The fitted machine, as attributes."""
        if not np.isfinite(dual_coef).all() or not np.isfinite(intercept).all():
            raise ValueError(
                "The dual coefficients or intercepts are not finite: values of X are too large; scale them."
            )
        self.support_ = support.astype(np.int32)
        self.support_vectors_: Matrix = np.empty((0, 0)) if kernel.name == "precomputed" else X[support]
        self.dual_coef_: Array | sp.csr_array = (
            sp.csr_array(dual_coef) if is_sparse(X) and kernel.computed else dual_coef
        )
        self.intercept_ = intercept
        self.shape_fit_ = X.shape
        self._kernel = kernel
        self.__dict__.pop("intercept_bounds_", None)  # of another fit
        self._prepare_predictions()

    def _prepare_predictions(self) -> None:
        """Make what predictions need besides the attributes."""
        self._dual_coef = self.dual_coef_.toarray() if is_sparse(self.dual_coef_) else self.dual_coef_
        self._coef: Array | sp.csr_array | None = None
        if self._kernel.name == "linear":
            self._coef = self._machine_coefficients().T @ self.support_vectors_
            if is_sparse(self.support_vectors_):
                self._coef = sp.csr_array(self._coef)

    def _machine_coefficients(self) -> Array:
        """The coefficients of every support vector in every machine."""
        return np.asarray(self._dual_coef.T)

    def _certify(
        self, matrix: AnyMatrix, machines: Sequence[Machine], results: Sequence[SMOResult], training: MachineTraining
    ) -> None:
        """The certificates of all machines, as attributes."""
        proven = certified(matrix, machines, results, training)
        results, self.certificate_of_ = proven.results, proven.of
        self.certificates_ = [
            ProblemCertificate(
                label,
                float(result.primal),
                float(result.dual),
                result.stop_reason,
                int(result.n_iter),
                result.seconds,
                history_of(result, number),
            )
            for number, (label, result) in enumerate(zip(self._problem_labels(), results, strict=True))
        ]
        self.fit_status_ = int(any(result.stop_reason != training.stopping for result in results))
        warn_unless_proven(results, training, type(self).__name__)

    def _decisions(self, X: MatrixLike) -> Array:
        """The decision value of each machine, of shape (n, machines), on the host."""
        check_is_fitted(self)
        there = ScoresThere.of_device(self._kernel, X, self.shape_fit_[-1])
        if there is not None:
            scores = self._scores_there(there) if self._coef is None else there.linear(_dense(self._coef))
            return scores + self.intercept_
        examples = self._new_examples(X)
        if self._coef is not None:
            products = examples @ self._coef.T
            return np.asarray(products.toarray() if is_sparse(products) else products) + self.intercept_
        there = None if self.device is None else ScoresThere.of_host(self._kernel, examples)
        return (self._machine_scores(examples) if there is None else self._scores_there(there)) + self.intercept_

    def _scores_there(self, there: ScoresThere) -> Array:
        """The scores of each machine, computed on a GPU."""
        coef = np.ascontiguousarray(self._machine_coefficients())
        return there.grouped(self.support_vectors_, coef, [len(coef)])[:, 0]

    def _new_examples(self, X: MatrixLike) -> Matrix:
        X = brought(X)
        if self._kernel.name == "callable":
            return X.tocsr() if is_sparse(X) else np.asarray(X)
        if self._kernel.name == "precomputed" and is_sparse(X):
            raise TypeError("Sparse precomputed kernels are not supported; K.toarray() is a dense one.")
        return validation.check_rows(self, X, reset=False, for_kernel=True)

    def _machine_scores(self, X: Matrix) -> Array:
        return self._scores(X, slice(None), self._machine_coefficients())

    def _scores(self, X: Matrix, part: slice, coef: Array) -> Array:
        """K(X, some of the support vectors) @ coef."""
        precomputed = self._kernel.name == "precomputed"
        values = X[:, self.support_[part]] if precomputed else X
        return kernel_scores(
            self._kernel,
            values,
            values[:0] if precomputed else self.support_vectors_[part],
            np.ascontiguousarray(coef),
            n_threads=validation.check_threads(self.n_jobs),
        )

    @property
    def coef_(self) -> Array | sp.csr_array:
        """The weights of the features, for ``kernel="linear"`` only; read-only, for predictions do not use a copy."""
        check_is_fitted(self)
        if self._coef is None:
            raise AttributeError("coef_ is only available when using a linear kernel.")
        coef = self._coef.copy()
        values = coef.data if is_sparse(coef) else coef
        values.flags.writeable = False
        return coef

    # --- proofs ---

    def _proving(self) -> KernelProofs:
        return KernelProofs(self)

    def _proven(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        """The machine with its proof where that is wanted, and without that of another fit.

        A kernel that turns out not to be positive semi-definite costs the proof, not the machine.
        """
        self.__dict__.pop("proof_", None)
        if self.keep_proof:
            try:
                self.proof(X, y, sample_weight)
            except NothingProvenError as error:
                warnings.warn(f"{error} The model is kept without one.", ConvergenceWarning, stacklevel=3)
        return self

    def _proven_machines(self, y: Labels, weights: Array) -> tuple[NDArray[np.intp], list[ProvenMachine]]:
        """The examples with weight and, for each machine, a `ProvenMachine` of rows among these."""
        raise NotImplementedError

    def _proof_point(
        self, risk: KernelRisk, coef: Array, intercept: float, width: float | None
    ) -> tuple[Array, float, float]:
        """Coefficients, threshold and width of a machine in units of its problem."""
        raise NotImplementedError

    # --- files ---

    def _check_one_machine(self) -> None:
        """For estimators of one machine: the file holds that."""
        if self.dual_coef_.shape[0] != 1 or self.intercept_.shape != (1,):
            raise ValueError("there is not one machine")

    def _plain_scores(self, n_support: NDArray[np.int32] | None = None) -> KernelScores | PrecomputedScores:
        coef, intercept = np.ascontiguousarray(self._dual_coef), np.asarray(self.intercept_)
        rows = Support(self.support_, self.support_vectors_, self.shape_fit_[0])
        return plain_scores(self._kernel, rows, coef, intercept, n_support)

    def _to_file(self) -> tuple[Arrays, Document]:
        return kernel_machine_to_file(self)

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        kernel_machine_from_file(self, arrays, stored)

    def __sklearn_tags__(self) -> Tags:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.positive_only = positive_only(self.kernel)
        return tags


def _dense(weights: Array | sp.csr_array) -> Array:
    return np.asarray(weights.toarray() if is_sparse(weights) else weights)


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
