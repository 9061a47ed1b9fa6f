"""What the estimators by sampled cuts share: checks of settings, the run, its certificate, files."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from cutplane._runtime.deadline import deadline
from cutplane._types import Arrays, Document, Matrix, MatrixLike, is_sparse
from cutplane.device import arrays
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import Watched
from cutplane.estimators.common.savable import Savable
from cutplane.estimators.common.stored import finite
from cutplane.estimators.kernel.cut_certificates import certified, certified_sample
from cutplane.estimators.kernel.kernel_choice import make_kernel
from cutplane.estimators.kernel.kernel_files import kernel_from_file, kernel_to_file, vectors_from_file, vectors_to_file
from cutplane.estimators.kernel.placement import ScoresThere, brought, check_one_device
from cutplane.kernels.constant_time_cuts import ConstantTimeCuts
from cutplane.kernels.cut_finders import CutFinder
from cutplane.kernels.device_expansions import device_kernel_rows
from cutplane.kernels.expansions import HostKernelRows, KernelRows
from cutplane.kernels.functions import Kernel
from cutplane.kernels.memory import default_cache
from cutplane.kernels.sampled_cuts import Outcome, minimise
from cutplane.kernels.whole_sample_cuts import ExactCuts, LinearTimeCuts
from cutplane.report.page import Section
from cutplane.report.sections import sampled_cuts
from cutplane.report.trained import Trained
from cutplane.solvers.certificates import ProblemCertificate
from cutplane.structured.factored import FactoredRisk

METHODS = ("linear", "constant", "exact")
_SAMPLE = 400
_KNOWN = ("violation", "bound", "bound_probability")


class SampledCutEstimator(Savable, Watched):
    """An estimator whose scores are kernel expansions found by sampled cuts."""

    device: str | None

    _no_proof = "its bound is a mixture of many cuts, which the model does not keep"

    def _check_settings(self) -> None:
        """Everything that can be wrong without looking at data."""
        validation.check_strength("C", self.C)
        validation.check_positive("risk_tol", self.risk_tol)
        validation.check_choice("method", self.method, METHODS)
        validation.check_flag("stabilised", self.stabilised)
        validation.check_max_iter(self.max_iter)
        validation.check_threads(self.n_jobs)
        check_one_device(self.device)
        validation.check_seed(self.random_state)
        if self.n_samples_cut is not None:
            validation.check_count("n_samples_cut", self.n_samples_cut)
        if self.memory is not None:
            validation.check_count("memory", self.memory)
        if self.time_limit is not None:
            validation.check_positive("time_limit", self.time_limit)

    def _sample_size(self, n: int) -> int:
        if self.n_samples_cut is None:
            return min(_SAMPLE, n)
        if self.n_samples_cut > n:
            raise ValueError(
                f"n_samples_cut={self.n_samples_cut} is more than the {n} examples of X; a sample has at most as many."
            )
        return int(self.n_samples_cut)

    def _make_kernel(self, rows: Matrix) -> Kernel:
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, rows)
        if kernel.name == "precomputed" and rows.shape[0] != rows.shape[1]:
            raise ValueError(f"A precomputed kernel matrix must be square; X has shape {rows.shape}.")
        return kernel

    def _settings_checked(self) -> AbstractContextManager[None]:
        """Check the settings; the time that there is for a fit begins."""
        self._check_settings()
        return deadline(self.time_limit)

    def _train(self, risk: FactoredRisk, X: Matrix, kernel: Kernel, *, there: bool) -> Outcome:
        """Minimise ½|w|² + C·Σ losses; `there`: with kernels on a GPU."""
        r, C = self._sample_size(risk.examples), float(self.C) * risk.total_weight
        rows = self._kernel_rows(risk, X, kernel, r, there=there)
        finder = self._finder(risk, rows, r)
        outcome = minimise(
            finder,
            C,
            risk_tol=float(self.risk_tol),
            max_iter=validation.check_max_iter(self.max_iter),
            on_step=self.on_step,
        )
        if hasattr(self, "certificate_of_"):
            del self.certificate_of_  # of an earlier fit
        self.certificate_of_: str
        if finder.exact:
            outcome, self.certificate_of_ = certified(finder, risk, rows, C, outcome, float(self.risk_tol))
        elif isinstance(finder, LinearTimeCuts):
            outcome, self.certificate_of_ = certified_sample(finder, risk, rows, C, outcome)
        self._keep(outcome, X, kernel)
        return outcome

    def _kernel_rows(self, risk: FactoredRisk, X: Matrix, kernel: Kernel, r: int, *, there: bool) -> KernelRows:
        """The rows, where products of their kernel are made."""
        threads = validation.check_threads(self.n_jobs)
        if there:
            return device_kernel_rows(arrays.cuda_kernels(), X, kernel, n_threads=threads)
        like = risk.rows(np.arange(r, dtype=np.int64)) if self.method == "constant" else None
        return HostKernelRows(X, kernel, n_threads=threads, like=like)

    def _finder(self, risk: FactoredRisk, rows: KernelRows, r: int) -> CutFinder:
        seed, stabilised = validation.check_seed(self.random_state), bool(self.stabilised)
        if self.method == "constant":
            return ConstantTimeCuts(risk, rows, r, seed, stabilised=stabilised)
        memory = default_cache() if self.memory is None else int(self.memory)
        if self.method == "exact":
            return ExactCuts(risk, rows, memory=memory, stabilised=stabilised)
        return LinearTimeCuts(risk, rows, r, seed, memory=memory, stabilised=stabilised)

    def _keep(self, outcome: Outcome, X: Matrix, kernel: Kernel) -> None:
        self._kernel = kernel
        self.support_ = outcome.rows
        self.support_vectors_ = X[outcome.rows] if kernel.name != "precomputed" else np.zeros((0, 0))
        self.dual_coef_ = outcome.coef
        self.violation_ = outcome.violation
        self.bound_ = outcome.bound
        self.bound_probability_ = outcome.probability
        lower = -np.inf if outcome.lower_bound is None else outcome.lower_bound
        steps = outcome.history
        self.certificates_ = [
            ProblemCertificate(None, outcome.objective, lower, outcome.reason, len(steps), steps[-1].seconds, steps)
        ]
        if outcome.reason != "risk_tol":
            warnings.warn(
                f"{type(self).__name__} ended by {outcome.reason} after {self.n_iter_} iterations; its mean loss is "
                f"{outcome.violation:.2g} above the model of its cuts, where {self.risk_tol:g} was asked for.",
                ConvergenceWarning,
                stacklevel=4,
            )

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """The number of rows in the model."""
        return np.array([len(self.support_)], dtype=np.int32)

    def _scores(self, X: MatrixLike) -> NDArray[np.float64]:
        """The products of rows of X, wherever they lie, with the columns of the expansion: on the host."""
        there = ScoresThere.of_device(self._kernel, X, self.n_features_in_)
        if there is not None:
            return self._scores_there(there)
        return self._row_scores(validation.check_rows(self, brought(X), reset=False, for_kernel=True))

    def _row_scores(self, X: Matrix) -> NDArray[np.float64]:
        """The same of rows of the host that are checked."""
        if not len(self.support_):
            return np.zeros((X.shape[0], self.dual_coef_.shape[1]))
        if self._kernel.name == "precomputed":
            return np.asarray(X[:, self.support_] @ self.dual_coef_)
        there = None if self.device is None else ScoresThere.of_host(self._kernel, X)
        if there is not None:
            return self._scores_there(there)
        threads = validation.check_threads(self.n_jobs)
        return self._kernel.product(X, self.support_vectors_, self.dual_coef_, n_threads=threads)

    def _scores_there(self, there: ScoresThere) -> NDArray[np.float64]:
        coef = np.ascontiguousarray(self.dual_coef_)
        return there.grouped(self.support_vectors_, coef, [len(coef)])[:, 0]

    def _report_sections(self, trained: Trained) -> list[Section]:
        return [sampled_cuts.section(trained)]

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays: Arrays = {"support": self.support_, "dual_coef": np.ascontiguousarray(self.dual_coef_)}
        known = {name: float(getattr(self, f"{name}_")) for name in _KNOWN}
        return arrays | vectors_to_file(self.support_vectors_), {
            "kernel": kernel_to_file(self._kernel),
            "sparse": bool(is_sparse(self.support_vectors_)),
            "width": int(self.support_vectors_.shape[1]),
            "sampled_cuts": known
            | ({"certificate_of": self.certificate_of_} if hasattr(self, "certificate_of_") else {}),
        }

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self._kernel = kernel_from_file(stored["kernel"])
        support, coef = arrays["support"], arrays["dual_coef"]
        if support.ndim != 1 or support.dtype.kind != "i" or np.any(support < 0) or coef.ndim != 2:
            raise ValueError("support holds something other than positions of rows")
        self.support_ = support
        self.dual_coef_ = finite(arrays, "dual_coef", (len(support), coef.shape[1]))
        shape = (len(support), int(stored["width"]))
        self.support_vectors_ = vectors_from_file(self._kernel, arrays, bool(stored["sparse"]), shape)
        known = stored["sampled_cuts"]
        for name in _KNOWN:
            setattr(self, f"{name}_", float(known[name]))
        if "certificate_of" in known:
            self.certificate_of_ = str(known["certificate_of"])
