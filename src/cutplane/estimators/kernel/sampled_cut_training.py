"""What the estimators by sampled cuts share: checks of settings, the run, its certificate, files."""

from __future__ import annotations

import warnings
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from cutplane._types import Arrays, Document, Matrix, is_sparse
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import Watched
from cutplane.estimators.common.savable import Savable
from cutplane.estimators.common.stored import finite
from cutplane.estimators.kernel.cut_certificates import certified
from cutplane.estimators.kernel.kernel_choice import make_kernel
from cutplane.estimators.kernel.kernel_files import kernel_from_file, kernel_to_file, vectors_from_file, vectors_to_file
from cutplane.kernels.constant_time_cuts import ConstantTimeCuts
from cutplane.kernels.cut_finders import CutFinder
from cutplane.kernels.expansions import KernelRows
from cutplane.kernels.functions import Kernel
from cutplane.kernels.memory import default_cache
from cutplane.kernels.sampled_cuts import Outcome, Reason, minimise
from cutplane.kernels.whole_sample_cuts import ExactCuts, LinearTimeCuts
from cutplane.proof.certificate import relative_gap
from cutplane.report.page import Section
from cutplane.report.sections import sampled_cuts
from cutplane.report.trained import Trained
from cutplane.structured.factored import FactoredRisk

ALGORITHMS = ("linear", "constant", "exact")
_SAMPLE = 400
_KNOWN = ("objective", "violation", "bound", "bound_probability")


class SampledCutEstimator(Savable, Watched):
    """An estimator whose scores are kernel expansions found by sampled cuts."""

    _no_proof = "its bound is a mixture of many cuts, which the model does not keep"

    def _check_settings(self) -> None:
        """Everything that can be wrong without looking at data."""
        validation.check_positive("C", self.C)
        validation.check_positive("epsilon", self.epsilon)
        validation.check_choice("algorithm", self.algorithm, ALGORITHMS)
        validation.check_flag("stabilised", self.stabilised)
        validation.check_count("max_iter", self.max_iter, or_none=False)
        validation.check_threads(self.n_jobs)
        validation.check_seed(self.random_state)
        if self.r is not None:
            validation.check_count("r", self.r)
        if self.memory is not None:
            validation.check_count("memory", self.memory)
        if self.time_limit is not None:
            validation.check_positive("time_limit", self.time_limit)

    def _sample_size(self, n: int) -> int:
        if self.r is None:
            return min(_SAMPLE, n)
        if self.r > n:
            raise ValueError(f"r={self.r} is more than the {n} examples of X; a sample has at most as many.")
        return int(self.r)

    def _make_kernel(self, rows: Matrix) -> Kernel:
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, rows)
        if kernel.name == "precomputed" and rows.shape[0] != rows.shape[1]:
            raise ValueError(f"A precomputed kernel matrix must be square; X has shape {rows.shape}.")
        return kernel

    def _train(self, risk: FactoredRisk, rows: Matrix, kernel: Kernel) -> Outcome:
        """Minimise ½|w|² + C·Σ losses."""
        finder, C = self._finder(risk, rows, kernel), float(self.C) * risk.examples
        outcome = minimise(
            finder,
            C,
            epsilon=float(self.epsilon),
            max_iter=int(self.max_iter),
            time_limit=self.time_limit,
            on_step=self.on_step,
        )
        if hasattr(self, "certificate_of_"):
            del self.certificate_of_  # of an earlier fit
        self.certificate_of_: str
        if finder.exact:
            outcome, self.certificate_of_ = certified(finder, risk, kernel, rows, C, outcome, float(self.epsilon))
        self._keep(outcome, rows, kernel)
        return outcome

    def _finder(self, risk: FactoredRisk, X: Matrix, kernel: Kernel) -> CutFinder:
        r, seed = self._sample_size(risk.examples), validation.check_seed(self.random_state)
        threads = validation.check_threads(self.n_jobs)
        if self.algorithm == "constant":
            like = risk.rows(np.arange(r, dtype=np.int64))
            rows = KernelRows(X, kernel, n_threads=threads, like=like)
            return ConstantTimeCuts(risk, rows, r, seed, stabilised=bool(self.stabilised))
        rows = KernelRows(X, kernel, n_threads=threads)
        memory = default_cache() if self.memory is None else int(self.memory)
        if self.algorithm == "exact":
            return ExactCuts(risk, rows, memory=memory, stabilised=bool(self.stabilised))
        return LinearTimeCuts(risk, rows, r, seed, memory=memory, stabilised=bool(self.stabilised))

    def _keep(self, outcome: Outcome, X: Matrix, kernel: Kernel) -> None:
        self._kernel = kernel
        self.support_ = outcome.rows
        self.support_vectors_ = X[outcome.rows] if kernel.name != "precomputed" else np.zeros((0, 0))
        self.dual_coef_ = outcome.coef
        self.objective_ = outcome.objective
        self.violation_ = outcome.violation
        self.bound_ = outcome.bound
        self.bound_probability_ = outcome.probability
        if outcome.lower_bound is not None:
            self.lower_bound_ = outcome.lower_bound
            self.gap_ = relative_gap(self.objective_, self.lower_bound_)
        elif hasattr(self, "gap_"):
            del self.lower_bound_, self.gap_  # of an earlier fit with exact cuts
        self.n_iter_ = len(outcome.history)
        self.history_ = outcome.history
        self.stop_reason_ = outcome.reason
        if outcome.reason != "epsilon":
            warnings.warn(
                f"{type(self).__name__} ended by {outcome.reason} after {self.n_iter_} iterations; its mean loss is "
                f"{outcome.violation:.2g} above the model of its cuts, where {self.epsilon:g} was asked for.",
                ConvergenceWarning,
                stacklevel=4,
            )

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """The number of rows in the model."""
        return np.array([len(self.support_)], dtype=np.int32)

    def _row_scores(self, X: Matrix) -> NDArray[np.float64]:
        """The products of rows of X with the columns of the expansion."""
        if not len(self.support_):
            return np.zeros((X.shape[0], self.dual_coef_.shape[1]))
        if self._kernel.name == "precomputed":
            return np.asarray(X[:, self.support_] @ self.dual_coef_)
        threads = validation.check_threads(self.n_jobs)
        return self._kernel.product(X, self.support_vectors_, self.dual_coef_, n_threads=threads)

    def _report_sections(self, trained: Trained) -> list[Section]:
        return [sampled_cuts.section(trained)]

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays: Arrays = {"support": self.support_, "dual_coef": np.ascontiguousarray(self.dual_coef_)}
        known = {name: float(getattr(self, f"{name}_")) for name in _KNOWN}
        return arrays | vectors_to_file(self.support_vectors_), {
            "kernel": kernel_to_file(self._kernel),
            "sparse": bool(is_sparse(self.support_vectors_)),
            "width": int(self.support_vectors_.shape[1]),
            "sampled_cuts": {**known, "n_iter": self.n_iter_, "stop_reason": self.stop_reason_}
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
        if known["stop_reason"] not in get_args(Reason):
            raise ValueError(f"{known['stop_reason']!r} is no reason to stop")
        self.n_iter_, self.stop_reason_ = int(known["n_iter"]), known["stop_reason"]
        if "certificate_of" in known:
            self.certificate_of_ = str(known["certificate_of"])
