"""Proofs of classes trained together: for each example the shares of its wrong classes."""

from __future__ import annotations

from typing import cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from cutplane._types import Array, MatrixLike
from cutplane.estimators.common.proofs import Prepared as SomeProblems
from cutplane.estimators.common.proofs import Proving
from cutplane.estimators.linear.crammer_singer import CrammerSinger
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.dual_search import Search, plain, smallest
from cutplane.estimators.linear.prior_and_bounds import check_features, check_prior
from cutplane.estimators.linear.problems import Prepared
from cutplane.proof.checker import Bounds
from cutplane.proof.file import JointProof, ProofError, check_data, confirm
from cutplane.proof.joint_checker import JointProblem, check_joint
from cutplane.proof.joint_codes import BITS, JointCodes, decode, encode
from cutplane.risks.multiclass import Multiclass


class JointProofs(Proving[JointProof]):
    """Crammer and Singer's problem, with any costs; not where classes share features."""

    proof_type = JointProof

    def refuse(self, prepared: SomeProblems | None = None) -> None:
        """Features that classes share."""
        if self.model.class_features is not None:
            raise ValueError(
                "LinearSVC with class_features has no proof file: what is penalised are weights that classes share, "
                "and the model keeps only those of each class."
            )

    def make(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> JointProof:
        """Find shares of wrong classes."""
        self.refuse()
        search = Search(self, X, y, sample_weight)
        problem, rows = self._problem(search.prepared), plain(search.prepared.X)

        def coded(coef: Array) -> tuple[JointCodes, Bounds]:
            shares = _shares(coef, cast(Multiclass, search.risk(0)), problem)

            def attempt(bits: int) -> tuple[JointCodes, Bounds]:
                codes = encode(shares, bits)
                return codes, check_joint(rows, problem, *self._model(), _decoded(codes, problem))

            return smallest(attempt, BITS, search.gap(0))

        return JointProof(search.hash, *search.proven(0, coded))

    def check(
        self, proof: JointProof, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> list[Bounds]:
        """One pass over the data."""
        pattern = self.untrained()
        prepared = pattern._prepare(pattern._training(), X, y, sample_weight)
        check_data(proof, prepared.X, prepared.y, prepared.weights)
        problem = self._problem(prepared)
        found = check_joint(plain(prepared.X), problem, *self._model(), _decoded(proof.codes, problem))
        confirm(proof.claim, found, "")
        return [found]

    def _model(self) -> tuple[Array, Array]:
        """A column of weights and an intercept for each class; of two, each has half of the difference."""
        coef, b = dense(self.model.coef_), np.asarray(self.model.intercept_, np.float64).ravel()
        joint = self._joint()
        b = np.zeros(len(joint.cost_matrix)) + (b if len(b) != 1 else joint.weights_from(b[:, None])[0])
        return joint.weights_from(coef), b

    def _joint(self) -> CrammerSinger:
        model = self.model
        return CrammerSinger.checked(model.classes_, model.cost_matrix, model.rescaling, None)

    def _problem(self, prepared: Prepared) -> JointProblem:
        model, joint = self.model, self._joint()
        n, d = prepared.X.shape
        labels = np.asarray(prepared.y)
        codes = np.searchsorted(model.classes_, labels)
        if not np.array_equal(model.classes_[np.minimum(codes, len(model.classes_) - 1)], labels):
            raise ProofError("The proof is of other data: the labels are not those of the model's classes.")
        penalised = model.intercept_scaling is not None
        rows = check_prior(model.prior, 1 if len(model.classes_) == 2 else len(model.classes_), d)
        return JointProblem(
            codes,
            model.C * (np.ones(n) if prepared.weights is None else prepared.weights),
            joint.cost_matrix,
            joint.rescaling == "slack",
            "none" if not model.fit_intercept else "penalised" if penalised else "free",
            float(model.intercept_scaling or 1.0),
            None if rows is None else joint.weights_from(rows),
            check_features("nonnegative", model.nonnegative, d),
        )


def _shares(coef: Array, risk: Multiclass, problem: JointProblem) -> Array:
    """Coefficients of a plane as shares of the wrong classes."""
    each = np.full(len(coef), risk.each) if risk.weights is None else risk.weights
    full = each[:, None] * problem.factors[problem.y]
    return np.asarray(np.divide(coef, full, out=np.zeros_like(coef), where=full > 0.0))


def _decoded(codes: JointCodes, problem: JointProblem) -> sp.csr_array:
    try:
        return decode(codes, problem.y, problem.factors, problem.weight, balance=problem.intercept == "free")
    except ValueError as error:
        raise ProofError(f"The proof is damaged: {error}.") from None
