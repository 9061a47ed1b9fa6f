"""Proof files of classes with a softmax: there are none yet."""

from __future__ import annotations

from typing import NoReturn

from numpy.typing import ArrayLike

from cutplane._types import MatrixLike
from cutplane.estimators.common.proofs import Prepared, Proving
from cutplane.proof.file import JointProof


class MultinomialProofs(Proving[JointProof]):
    """Refused: a share of every class for every example is as much as the scores, and no code for it is written."""

    proof_type = JointProof

    def refuse(self, prepared: Prepared | None = None) -> NoReturn:
        """Say that there is none."""
        raise ValueError(
            f"{type(self.model).__name__} of {len(self.model.classes_)} classes has no proof file: dual variables of a "
            "softmax are a number for every example and class, which files do not hold; its `gap_` is proven."
        )

    def make(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> JointProof:
        """Say that there is none."""
        self.refuse()

    def check(self, proof: JointProof, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> NoReturn:
        """Say that there is none."""
        self.refuse()
