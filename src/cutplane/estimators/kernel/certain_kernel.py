"""Intervals of a kernel machine's scores: the ball lies in the space of the kernel, where |phi(x)|² = K(x, x)."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Arrays, Document, Matrix, MatrixLike, is_sparse
from cutplane.estimators.common.certain import CertainScores, Intervals
from cutplane.estimators.kernel.kernel_machine import KernelMachine
from cutplane.estimators.kernel.kernel_proofs import KernelProofs, ProofExamples
from cutplane.proof.ball import interval, radius
from cutplane.proof.intercept_ends import intercept_ends
from cutplane.proof.kernel_values import KernelFunction, products

# For the root of K(x, x) and its products with radii.
_OUTWARD = 1.0 + 1e-9


class KernelCertain(CertainScores, KernelMachine):
    """A kernel machine that knows between what the exact optimum's decisions lie."""

    #: Of shape (machines, 2), once `certify_intercept` was called; and the radius of each machine's ball.
    intercept_bounds_: Array
    _radii: Array

    def certify_intercept(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find between what the exact optimum's intercepts lie, and keep that as `intercept_bounds_`.

        Takes kernel values of the training examples with the support vectors, in double precision, twice: both bounds
        are proven anew, whatever `certificate_of_` says.

        Parameters
        ----------
        X, y, sample_weight
            What the machine was trained on.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._check_kernel()
        examples = ProofExamples(KernelProofs(self), X, y, sample_weight)
        examples.check_support()
        self._radii = np.array([radius(each.objective, each.lower_bound) for each in examples.bounds(())])
        scores, errors = examples.scores()
        low, high = interval(scores, errors, _reach(examples.own_values(), self._radii))
        self.intercept_bounds_ = np.array(
            [
                intercept_ends(each.risk.terms, low[each.rows, k], high[each.rows, k], float(self.intercept_[k]))
                for k, each in enumerate(examples.machines)
            ]
        )
        return self

    def _check_kernel(self) -> None:
        if not self._function.definite:
            raise ValueError(
                f"Nothing is proven of scores with the {self._kernel.name} kernel: its values must be those of "
                "products in some space by construction, as of 'linear', 'rbf', 'laplacian', 'chi2' and 'poly'."
            )

    @property
    def _function(self) -> KernelFunction:
        kernel = self._kernel
        return KernelFunction(kernel.name, float(kernel.gamma), int(kernel.degree), float(kernel.coef0))

    def _intervals(self, X: MatrixLike) -> Intervals:
        if not hasattr(self, "intercept_bounds_"):
            raise ValueError(
                "The exact optimum's intercept is known up to an interval that takes the training rows to find: call "
                "certify_intercept(X, y) with them first."
            )
        rows = self._new_examples(X)
        count = len(self.support_)
        everyone = stacked(self.support_vectors_, rows)
        scores, errors = products(self._function, everyone, np.arange(count), self._machine_coefficients())
        own = self._function.own_value_of_each(everyone)
        low, high = interval(scores[count:], errors[count:], _reach(own[count:], self._radii))
        return Intervals(low, high, self.intercept_bounds_)

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, stored = super()._to_file()
        if not hasattr(self, "intercept_bounds_"):
            return arrays, stored
        return {**arrays, "intercept_bounds": self.intercept_bounds_, "radii": self._radii}, stored

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        if "intercept_bounds" not in arrays:
            return
        ends, radii = arrays["intercept_bounds"], arrays["radii"]
        if ends.shape != (len(self.intercept_), 2) or not (ends[:, 0] <= ends[:, 1]).all():
            raise ValueError("the bounds of the intercepts are not a low and a high one for each")
        if radii.shape != self.intercept_.shape or not (radii >= 0.0).all():
            raise ValueError("the radii are not a number of 0 or more for each machine")
        self.intercept_bounds_, self._radii = ends, radii


def _reach(own_values: Array, radii: Array) -> Array:
    """By how much scores of the optimum can differ from those of the machine, of shape (n, machines)."""
    finite = np.where(np.isfinite(radii), radii, 0.0)
    return np.where(np.isfinite(radii), np.outer(np.sqrt(own_values), finite) * _OUTWARD, np.inf)


def stacked(vectors: Matrix, rows: Matrix) -> Matrix:
    """Some rows below others, sparse where both are."""
    if is_sparse(vectors) and is_sparse(rows):
        return sp.csr_array(sp.vstack([vectors, rows]))
    return np.vstack([each.toarray() if is_sparse(each) else each for each in (vectors, rows)])
