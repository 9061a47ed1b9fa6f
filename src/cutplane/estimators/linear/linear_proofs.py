"""Proofs of linear models: dual variables, one for each example and problem."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from cutplane._types import Array, Matrix, MatrixLike
from cutplane.estimators.common.proofs import Prepared as SomeProblems
from cutplane.estimators.common.proofs import Proving
from cutplane.estimators.linear.dual_search import Search, plain, smallest
from cutplane.estimators.linear.prior_and_bounds import check_features
from cutplane.estimators.linear.problems import Prepared
from cutplane.proof.checker import Bounds, Problem, check
from cutplane.proof.codes import BITS, Codes, decode, encode
from cutplane.proof.file import Proof, ProofError, check_data, confirm
from cutplane.proof.losses import Terms, make_loss


class _Case(NamedTuple):
    """One problem of a model, as the checker sees it, with the model's weights for it."""

    problem: Problem
    w: Array
    b: float
    which: str


class LinearProofs(Proving[Proof]):
    """Dual variables, found anew by a run that counts what single planes prove."""

    proof_type = Proof

    def refuse(self, prepared: SomeProblems | None = None) -> None:
        """Losses that are no sums over the examples, of those that the checker knows."""
        if prepared is not None and any(make_risk(None).terms is None for make_risk in prepared.problems):
            raise ValueError(
                f"{type(self.model).__name__} with loss={self.model.loss!r} has no proof file: one number for each "
                "example proves bounds of losses that are sums over examples, and this is none that the checker knows."
            )

    def make(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Proof:
        """Find dual variables."""
        model = self.model
        search = Search(self, X, y, sample_weight)
        self.refuse(search.prepared)
        codes, claims, terms = [], [], None
        for index, case in enumerate(_cases(model, search.prepared)):
            terms = search.risk(index).terms
            assert terms is not None  # `refuse` has looked
            case = case._replace(problem=replace(case.problem, loss=terms.loss))
            coded = partial(_coded, search.prepared.X, case, terms, search.gap(index))
            found, claim = search.proven(index, coded)
            codes.append(found)
            claims.append(claim)
        assert terms is not None
        return Proof(terms.name, terms.parameters, search.hash, tuple(codes), tuple(claims))

    def check(self, proof: Proof, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> list[Bounds]:
        """One pass over the data for each problem."""
        pattern = self.untrained()
        prepared = pattern._prepare(pattern._training(), X, y, sample_weight)
        check_data(proof, prepared.X, prepared.y, prepared.weights)
        self.refuse(prepared)
        _check_loss(proof, [make_risk(None).terms for make_risk in prepared.problems])
        found = []
        cases = _cases(self.model, prepared)
        if len(cases) != len(proof.codes):
            raise ProofError(f"The proof is of {len(proof.codes)} problems, and the model has {len(cases)}.")
        for case, codes, claim in zip(cases, proof.codes, proof.claims, strict=True):
            problem = replace(case.problem, loss=make_loss(proof.loss, proof.parameters))
            bounds = check(plain(prepared.X), problem, case.w, case.b, _decoded(codes, problem))
            confirm(claim, bounds, case.which)
            found.append(bounds)
        return found


def _check_loss(proof: Proof, terms: list[Terms]) -> None:
    """Raise unless the proof is of the loss that the model's settings name."""
    for each in terms:
        if each.name != proof.loss or dict(each.parameters) != dict(proof.parameters):
            raise ProofError(
                f"The proof is of the loss {proof.loss!r} with {dict(proof.parameters)}, and the model's is "
                f"{each.name!r} with {dict(each.parameters)}."
            )


def _decoded(codes: Codes, problem: Problem) -> Array:
    try:
        return decode(codes, problem.loss, problem.y, problem.weight, balance=problem.intercept == "free")
    except ValueError as error:
        raise ProofError(f"The proof is damaged: {error}.") from None


def _coded(X: Matrix, case: _Case, terms: Terms, gap: float, coef: Array) -> tuple[Codes, Bounds]:
    """The smallest codes that prove a gap, or leave the bound nearly as it is."""
    rows, problem, p = plain(X), case.problem, _slopes(coef, terms)

    def attempt(bits: int) -> tuple[Codes, Bounds]:
        codes = encode(p, problem.loss, problem.y, bits)
        return codes, check(rows, problem, case.w, case.b, _decoded(codes, problem))

    return smallest(attempt, BITS, gap)


def _slopes(coef: Array, terms: Terms) -> Array:
    """Coefficients of a plane as slopes of the losses."""
    weights = np.full(len(coef), terms.each) if terms.weights is None else terms.weights
    return np.divide(coef, weights, out=np.zeros_like(coef), where=weights > 0.0)


def _cases(model: BaseEstimator, prepared: Prepared) -> list[_Case]:
    """The problems of a model: one, or one class against the rest for each."""
    n = prepared.X.shape[0]
    weight = model.C * (np.ones(n) if prepared.weights is None else prepared.weights)
    intercept = "none" if not model.fit_intercept else "free" if model.intercept_scaling is None else "penalised"
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.atleast_2d(model.coef_)
    offsets = np.broadcast_to(np.asarray(model.intercept_, np.float64).ravel(), len(coef))
    prior = model._prior_rows(len(coef), coef.shape[1])
    nonnegative = check_features("nonnegative", model.nonnegative, coef.shape[1])
    targets = model._proof_targets(prepared.y)
    if len(targets) != len(coef):
        raise ProofError(f"The model has weights for {len(coef)} problems, and the data have {len(targets)}.")
    return [
        _Case(
            Problem(
                make_loss("hinge", {}),
                target,
                weight,
                intercept,
                float(model.intercept_scaling or 1.0),
                None if prior is None else prior[k],
                nonnegative,
            ),
            np.asarray(coef[k], np.float64),
            float(offsets[k]),
            f" of {name}" if name else "",
        )
        for k, (name, target) in enumerate(targets)
    ]
