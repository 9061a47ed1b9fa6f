"""Certificates of trained kernel machines: of the kernel itself, where that costs little beside the training."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cutplane._types import Matrix, is_sparse
from cutplane.estimators.kernel.machines import AnyMatrix, Machine, MachineTraining
from cutplane.kernels.certificate import Definite, certify
from cutplane.kernels.functions import Kernel
from cutplane.kernels.smo_result import SMOResult
from cutplane.kernels.smo_settings import working_set_for
from cutplane.proof.certificate import Certificate

OF_KERNEL = "kernel"
OF_SINGLE = "single-precision kernel matrix"
ASSUMED = " (assumed positive semi-definite)"
INDEFINITE = " (not positive semi-definite)"


@dataclass(frozen=True, slots=True)
class CertificateCosts:
    """What a certificate of the kernel may cost, in units of about a nanosecond. Measured by hand, on one core."""

    # A certificate may cost this share of the training, or this much in any case: ten milliseconds.
    share: float = 0.1
    always: float = 1e7
    # A value in double precision: for itself, and for each feature by how the kernel is summed up.
    value: float = 8.0
    product: float = 0.1
    difference: float = 1.5
    # A value of the training: for itself, and for each feature. A variable in a pair step.
    trained_value: float = 0.5
    trained_product: float = 0.03
    pair_step: float = 0.25


COSTS = CertificateCosts()


@dataclass(frozen=True)
class Certified:
    """Results with the bounds of their certificates, and what these are certificates of."""

    results: list[SMOResult]
    of: str


def certified(
    matrix: AnyMatrix, machines: Sequence[Machine], results: Sequence[SMOResult], training: MachineTraining
) -> Certified:
    """Evaluate the certificates. Warn where nothing is proven because the kernel is not positive semi-definite."""
    try:
        rows = np.zeros(0, np.int64)
        if not matrix.kernel.definite:
            rows = np.unique(np.concatenate([machine.rows for machine in machines]))
        definite = Definite.of(matrix.kernel, matrix.X, rows)
        exact = matrix.proves_the_kernel or _affordable(matrix, machines, results, training)
        # What training has proven knows nothing of how far the matrix is from a positive semi-definite one.
        again = exact and (not matrix.proves_the_kernel or bool(definite.distance))
        pairs = zip(machines, results, strict=True)
        proofs = [_of_kernel(matrix, *pair, definite) if again else _of_single(pair[1], definite) for pair in pairs]
    except KeyboardInterrupt:  # what the solver itself has proven is at hand
        definite, exact = Definite(assumed=True), matrix.proves_the_kernel
        proofs = [_of_single(result, definite) for result in results]
    of = OF_KERNEL if exact else OF_SINGLE
    if definite.distance is None:
        _warn_of_indefinite(matrix)
        of += INDEFINITE
    elif definite.assumed or not exact:
        of += ASSUMED
    return Certified([_with(*pair, training) for pair in zip(results, proofs, strict=True)], of)


def _of_kernel(matrix: AnyMatrix, machine: Machine, result: SMOResult, definite: Definite) -> Certificate:
    problem, rows = machine.problem, machine.rows
    copies = len(problem.y) // len(rows)
    coef = (problem.y * result.alpha).reshape(copies, -1).sum(axis=0)
    support = np.flatnonzero(coef)
    X = matrix.X[np.ix_(rows, rows)] if matrix.kernel.name == "precomputed" else matrix.X[rows]
    return certify(matrix.kernel, X, problem, support, coef[support], result.rho, definite=definite)


def _of_single(result: SMOResult, definite: Definite) -> Certificate:
    return Certificate(result.primal, result.dual if definite.distance is not None else -np.inf)


def _with(result: SMOResult, proof: Certificate, training: MachineTraining) -> SMOResult:
    """The result, its last look and why it ended, by its certificate."""
    last = result.history[-1]
    if proof[:2] == (result.primal, result.dual) == (last.upper, last.lower):
        return result
    last = replace(last, upper=proof.objective, lower=proof.lower_bound)
    reason = result.stop_reason
    if reason == "gap" and proof.gap > training.tol:
        reason = "stalled"
    return replace(
        result,
        primal=proof.objective,
        dual=proof.lower_bound,
        history=[*result.history[:-1], last],
        stop_reason=reason,
    )


def _affordable(
    matrix: AnyMatrix, machines: Sequence[Machine], results: Sequence[SMOResult], training: MachineTraining
) -> bool:
    """Whether double precision costs little beside the training. Both costs are counted, not timed."""
    if not all(np.isfinite(result.primal) for result in results):
        return False
    values = sum(float(len(m.rows)) * np.count_nonzero(r.alpha) for m, r in zip(machines, results, strict=True))
    trained = trained_cost(matrix.X, matrix.computed_values)
    for machine, result in zip(machines, results, strict=True):
        n = len(machine.problem.y)
        size = working_set_for(n, training.stopping, training.working_set)
        trained += COSTS.pair_step * result.n_iter * (n if size == 2 else min(size, n))
    return affordable(matrix.kernel, matrix.X, values, trained, [result.stop_reason for result in results])


def affordable(kernel: Kernel, X: Matrix, values: float, trained: float, reasons: Sequence[str]) -> bool:
    """Whether this number of values in double precision costs little beside a training that ended for these reasons."""
    if kernel.name == "callable":  # what a call of it costs is not known
        return False
    each = COSTS.value + _width(X) * (COSTS.product if kernel.by_products else COSTS.difference)
    cost = values * (1.0 if kernel.name == "precomputed" else each)
    if cost <= COSTS.always:
        return True
    if any(reason in ("time_limit", "interrupted") for reason in reasons):
        return False
    return bool(cost <= COSTS.share * trained)


def trained_cost(X: Matrix, values: float) -> float:
    """The cost of training with this number of kernel values in single precision."""
    return values * (COSTS.trained_value + COSTS.trained_product * _width(X))


def _width(X: Matrix) -> float:
    """Numbers in an example."""
    return float(X.nnz / X.shape[0] if is_sparse(X) else X.shape[1])


def _warn_of_indefinite(matrix: AnyMatrix) -> None:
    what = "kernel matrix" if matrix.kernel.name == "precomputed" else f"{matrix.kernel.name} kernel"
    warnings.warn(
        f"The {what} is not positive semi-definite on these examples: training found a stationary point, and nothing "
        "is proven (lower_bound_ is -inf, gap_ is inf).",
        ConvergenceWarning,
        stacklevel=5,
    )
