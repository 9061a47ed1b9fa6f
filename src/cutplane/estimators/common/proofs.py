"""Proofs of models: made from a fit, checked against data. How, is each kind of model's own (`_proving`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, Protocol, TypeAlias, TypeVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cutplane._types import MatrixLike
from cutplane.proof.checker import Bounds
from cutplane.proof.file import AnyProof, JointProof, KernelProof, OneClassProof, Proof, ProofError
from cutplane.risks.base import Risk, Rows
from cutplane.sources import given_source

ProofT = TypeVar("ProofT", bound=AnyProof)


class Prepared(Protocol):
    """Checked examples, and for each problem of a model what makes its risk."""

    @property
    def problems(self) -> Sequence[Callable[[Rows | None], Risk]]: ...  # noqa: D102


class Proving(ABC, Generic[ProofT]):
    """How a fitted model is proven.

    Parameters
    ----------
    model : estimator
    """

    #: What `make` returns.
    proof_type: ClassVar[type]

    def __init__(self, model: BaseEstimator) -> None:
        self.model = model

    @abstractmethod
    def refuse(self, prepared: Prepared | None = None) -> None:
        """`ValueError` where settings, or the problems that were prepared, have no proof: before any work is done."""

    @abstractmethod
    def make(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> ProofT:
        """A proof; `ValueError` where there is none."""

    @abstractmethod
    def check(self, proof: ProofT, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> list[Bounds]:
        """What a proof proves of the model's problems; `ProofError` where that is not what it claims."""

    def untrained(self) -> BaseEstimator:
        """The same settings without a fit, and without someone who watches."""
        return type(self.model)(**{**self.model.get_params(deep=False), "on_step": None})


AnyProving: TypeAlias = Proving[Proof] | Proving[JointProof] | Proving[OneClassProof] | Proving[KernelProof]


def make_proof(
    model: BaseEstimator, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None = None
) -> AnyProof:
    """Find what proves a fitted model's bounds; `ValueError` where there is no such proof."""
    check_is_fitted(model)
    proving: AnyProving = model._proving()
    _refuse_source(X)
    return proving.make(X, y, sample_weight)


def _refuse_source(X: MatrixLike) -> None:
    if given_source(X) is not None:
        raise ValueError("X is a source, and a proof is of rows: an array or a CSR matrix of the examples is accepted.")


def verify(
    model: BaseEstimator, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> list[Bounds]:
    """Check a model's proof against the data it was trained on, without a solver.

    Parameters
    ----------
    model : estimator
        With a proof: trained with ``keep_proof=True``, after `proof`, or loaded from a file with one.
    X, y, sample_weight
        What it was trained on, stored in any way.

    Returns
    -------
    list of Bounds
        For each of the model's problems its objective and what no model's objective is below; `premise` says what is
        taken for granted, where anything is.

    Raises
    ------
    ProofError
        If the data are others, the model is another, or the proof was changed.

    Examples
    --------
    >>> from cutplane import LinearSVC, verify
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = LinearSVC(keep_proof=True).fit(X, y)
    >>> (bounds,) = verify(model, X, y)
    >>> bounds.gap <= 1e-3
    True
    """
    check_is_fitted(model)
    proof = getattr(model, "proof_", None)
    name = type(model).__name__
    if proof is None:
        try:
            model._proving()
        except ValueError as error:  # no advice to train what has none
            raise ProofError(str(error)) from None
        raise ProofError(f"This {name} has no proof: train with keep_proof=True, or call model.proof(X, y).")
    proving: AnyProving = model._proving()
    if not isinstance(proof, proving.proof_type):
        raise ProofError(f"The proof of this {name} is of another kind of model.")
    _refuse_source(X)
    return proving.check(proof, X, y, sample_weight)  # type: ignore[arg-type]  # of the type that was asked about
