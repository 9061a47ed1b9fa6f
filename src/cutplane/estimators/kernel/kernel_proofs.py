"""Proofs of kernel machines: their coefficients are dual variables, so that a proof is little more than a hash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Array, MatrixLike
from cutplane.estimators.common.proofs import Proving
from cutplane.estimators.kernel.kernel_input import kernel_examples, kernel_rows, kernel_weights
from cutplane.proof.checker import Bounds
from cutplane.proof.data_hash import hash_data
from cutplane.proof.file import KernelProof, ProofError, check_data, confirm
from cutplane.proof.kernel_checker import KernelCase, check_kernel
from cutplane.proof.kernel_machines import KernelRisk
from cutplane.proof.kernel_values import KernelFunction, products


class NothingProvenError(ValueError):
    """A machine without a finite lower bound."""


class ProvenMachine(NamedTuple):
    """What one machine of an estimator minimises, and on which of the examples."""

    name: str
    rows: NDArray[np.intp]
    risk: KernelRisk


class KernelProofs(Proving[KernelProof]):
    """The whole certificate in double precision, whatever that of the fit was of."""

    proof_type = KernelProof

    def refuse(self, prepared: object = None) -> None:
        """A kernel of one's own."""
        if callable(self.model.kernel):
            raise ValueError(
                "A machine with a kernel of one's own has no proof file, for no file can hold the kernel; "
                'kernel="precomputed", with its values as X, has one.'
            )

    def make(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> KernelProof:
        """The hash of the data, the widths that machines chose, and the bounds.

        `ValueError` where nothing is proven: the kernel is not positive semi-definite on these examples.
        """
        self.refuse()
        problem = ProofExamples(self, X, y, sample_weight)
        widths = tuple(problem.width(k) for k in range(len(problem.machines))) if self.model._free_width else ()
        claims = problem.bounds(widths)
        if not all(np.isfinite(claim.lower_bound) and np.isfinite(claim.objective) for claim in claims):
            raise NothingProvenError(
                f"The {self.model._kernel.name} kernel is not positive semi-definite on these examples, or its values "
                "are not finite: nothing is proven, so there is no proof file."
            )
        return KernelProof(hash_data(problem.X, problem.y, problem.weights), widths, tuple(claims))

    def check(
        self, proof: KernelProof, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> list[Bounds]:
        """Kernel values of all examples with the support vectors, once."""
        problem = ProofExamples(self, X, y, sample_weight)
        check_data(proof, problem.X, problem.y, problem.weights)
        count = len(problem.machines)
        if len(proof.claims) != count or len(proof.widths) != (count if self.model._free_width else 0):
            raise ProofError(f"The proof is of {len(proof.claims)} problems, and the model has {count}.")
        problem.check_support()
        found = problem.bounds(proof.widths)
        for machine, claim, bounds in zip(problem.machines, proof.claims, found, strict=True):
            confirm(claim, bounds, f" of {machine.name}" if count > 1 else "")
        return found


class ProofExamples:
    """The examples of a fit, and the model's coefficients among them."""

    def __init__(
        self, proving: KernelProofs, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> None:
        self.model, pattern = proving.model, proving.untrained()
        if pattern._labelled:
            self.X, self.y = kernel_examples(pattern, X, y)
        else:
            self.X = kernel_rows(pattern, X)
            self.y = np.zeros(self.X.shape[0])
        own = kernel_weights(sample_weight, self.X)
        self.weights = None if sample_weight is None else own
        kept, self.machines = pattern._proven_machines(self.y, own)
        kernel = self.model._kernel
        self.kernel = KernelFunction(kernel.name, float(kernel.gamma), int(kernel.degree), float(kernel.coef0))
        if kernel.name == "precomputed":
            self._examples = np.asarray(self.X)[np.ix_(kept, kept)]
        else:
            self._examples = self.X[kept]
        coefficients = self.model._machine_coefficients()
        columns = np.zeros((self.X.shape[0], coefficients.shape[1]))
        if self.model.shape_fit_[0] != len(columns) or coefficients.shape[1] != len(self.machines):
            raise ProofError("The proof is of other data: the model was not fitted on so many examples or classes.")
        np.add.at(columns, self.model.support_, coefficients)
        self._left_out = np.delete(columns, kept, axis=0).any()
        self._columns = columns[kept]

    def check_support(self) -> None:
        """Raise unless the model's support vectors are examples of the machines they belong to."""
        at = self.model.support_
        if self.kernel.name != "precomputed":
            stored, real = self.model.support_vectors_, self.X[at]
            same = stored.shape == real.shape
            if same and sp.issparse(real):
                same = sp.issparse(stored) and (sp.csr_array(stored) != sp.csr_array(real)).nnz == 0
            elif same:
                same = not sp.issparse(stored) and np.array_equal(stored, real)
            if not same:
                raise ProofError("The support vectors of the model are not the examples that it says they are.")
        outside = [np.delete(self._columns[:, k], m.rows).any() for k, m in enumerate(self.machines)]
        if self._left_out or any(outside):
            raise ProofError("A machine has coefficients of examples that it was not trained on.")

    def case(self, k: int, width: float | None) -> KernelCase:
        """Machine k as the checker sees it."""
        machine, coef = self.machines[k], self._columns[self.machines[k].rows, k]
        placed = self.model._proof_point(machine.risk, coef, float(self.model.intercept_[k]), width)
        return KernelCase(machine.risk, machine.rows, *placed)

    def bounds(self, widths: Sequence[float]) -> list[Bounds]:
        """What the machines prove."""
        cases = [self.case(k, widths[k] if widths else None) for k in range(len(self.machines))]
        return check_kernel(self.kernel, self._examples, cases)

    def scores(self) -> tuple[Array, Array]:
        """Of the examples with weight, without intercepts, for every machine; and how far each can be off."""
        support = np.flatnonzero(self._columns.any(axis=1))
        return products(self.kernel, self._examples, support, self._columns[support])

    def own_values(self) -> Array:
        """K(x, x) of the examples with weight, or a little more."""
        return self.kernel.own_value_of_each(self._examples)

    def width(self, k: int) -> float:
        """The margin that machine k chose, from its coefficients; or its tube, from the residuals."""
        rows, coef = self.machines[k].rows, self._columns[self.machines[k].rows, k]
        support = np.flatnonzero(coef)
        scores = products(self.kernel, self._examples, rows[support], coef[support][:, None])[0][rows, 0]
        width: float = self.machines[k].risk.best_width(coef, scores + float(self.model.intercept_[k]))
        return width
