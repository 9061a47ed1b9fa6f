"""Proofs as they are kept in a model file: codes of dual variables, what they claim, and a hash of the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cutplane._types import Array, Arrays, Document, Matrix
from cutplane.proof.checker import Bounds
from cutplane.proof.codes import Codes
from cutplane.proof.data_hash import hash_data
from cutplane.proof.joint_codes import JointCodes
from cutplane.proof.one_class import Whole

_PREFIX = "proof."


class ProofError(ValueError):
    """A proof that does not hold: of another model, of other data, or changed since it was made."""


@dataclass(frozen=True)
class Proof:
    """What a model's certificate rests on.

    Attributes
    ----------
    loss, parameters
        The loss as `cutplane.proof.losses` calls it.
    data : str
        `hash_data` of the examples.
    codes : tuple of Codes
        For each problem of the model a whole number for each example.
    claims : tuple of Bounds
        For each problem what `check` gives for them.
    """

    loss: str
    parameters: Mapping[str, float]
    data: str
    codes: tuple[Codes, ...]
    claims: tuple[Bounds, ...]

    @property
    def size(self) -> int:
        """Bytes that the codes take."""
        return sum(each.numbers.nbytes for each in self.codes)

    def to_file(self) -> tuple[Arrays, Document]:
        """Arrays, and what JSON can hold."""
        arrays = {f"{_PREFIX}{k}": each.numbers for k, each in enumerate(self.codes)}
        return arrays, {
            "loss": self.loss,
            "parameters": dict(self.parameters),
            "data": self.data,
            "steepest": [each.steepest for each in self.codes],
            "claims": claims_to_file(self.claims),
        }

    @classmethod
    def from_file(cls, arrays: Arrays, stored: Document) -> Proof:
        """What `to_file` gave; any error means a damaged file."""
        steepest = [float(value) for value in stored["steepest"]]
        codes = tuple(Codes(arrays[f"{_PREFIX}{k}"], value) for k, value in enumerate(steepest))
        claims = claims_from_file(stored["claims"])
        if len(claims) != len(codes):
            raise ValueError("the proof has not one claim for each problem")
        parameters = {str(name): float(value) for name, value in stored["parameters"].items()}
        return cls(str(stored["loss"]), parameters, str(stored["data"]), codes, claims)


@dataclass(frozen=True)
class KernelProof:
    """What the certificates of kernel machines rest on: their coefficients are dual variables, and the model has them.

    Attributes
    ----------
    data : str
        `hash_data` of the examples.
    widths : tuple of float
        Of machines that choose it: the margin of a nu-classifier, the tube of a nu-regression.
    claims : tuple of Bounds
        For each machine what `check_kernel` gives.
    """

    data: str
    widths: tuple[float, ...]
    claims: tuple[Bounds, ...]

    @property
    def size(self) -> int:
        """Bytes that the widths take."""
        return 8 * len(self.widths)

    def to_file(self) -> tuple[Arrays, Document]:
        """No arrays; what JSON can hold."""
        return {}, {
            "kind": "kernel",
            "data": self.data,
            "widths": list(self.widths),
            "claims": claims_to_file(self.claims),
        }

    @classmethod
    def from_file(cls, arrays: Arrays, stored: Document) -> KernelProof:
        """What `to_file` gave; any error means a damaged file."""
        widths = tuple(float(width) for width in stored["widths"])
        if not all(math.isfinite(width) and width >= 0.0 for width in widths):
            raise ValueError("the proof has a width that is no number of 0 or greater")
        return cls(str(stored["data"]), widths, claims_from_file(stored["claims"]))


@dataclass(frozen=True)
class JointProof:
    """What the certificate of classes trained together rests on.

    Attributes
    ----------
    data : str
        `hash_data` of the examples.
    codes : JointCodes
        For each example the shares of its wrong classes.
    claim : Bounds
        What `check_joint` gives for them.
    """

    data: str
    codes: JointCodes
    claim: Bounds

    @property
    def size(self) -> int:
        """Bytes that the codes take."""
        return sum(part.nbytes for part in self.codes)

    def to_file(self) -> tuple[Arrays, Document]:
        """Arrays, and what JSON can hold."""
        arrays = {f"{_PREFIX}{name}": part for name, part in self.codes._asdict().items()}
        return arrays, {"kind": "joint", "data": self.data, "claims": claims_to_file([self.claim])}

    @classmethod
    def from_file(cls, arrays: Arrays, stored: Document) -> JointProof:
        """What `to_file` gave; any error means a damaged file."""
        codes = JointCodes(*(arrays[f"{_PREFIX}{name}"] for name in JointCodes._fields))
        (claim,) = claims_from_file(stored["claims"])
        return cls(str(stored["data"]), codes, claim)


@dataclass(frozen=True)
class OneClassProof:
    """What the certificate of a linear one-class machine rests on: a whole number for each example, and the claim."""

    data: str
    numbers: Whole
    claim: Bounds

    @property
    def size(self) -> int:
        """Bytes that the codes take."""
        return int(self.numbers.nbytes)

    def to_file(self) -> tuple[Arrays, Document]:
        """Arrays, and what JSON can hold."""
        claims = claims_to_file([self.claim])
        return {f"{_PREFIX}numbers": self.numbers}, {"kind": "one_class", "data": self.data, "claims": claims}

    @classmethod
    def from_file(cls, arrays: Arrays, stored: Document) -> OneClassProof:
        """What `to_file` gave; any error means a damaged file."""
        (claim,) = claims_from_file(stored["claims"])
        return cls(str(stored["data"]), arrays[f"{_PREFIX}numbers"], claim)


AnyProof: TypeAlias = Proof | KernelProof | JointProof | OneClassProof
_KINDS: Mapping[str, type[AnyProof]] = {
    "slopes": Proof,
    "kernel": KernelProof,
    "joint": JointProof,
    "one_class": OneClassProof,
}


def proof_from_file(arrays: Arrays, stored: Document) -> AnyProof:
    """The proof that a file holds; any error means a damaged file."""
    kind = stored.get("kind", "slopes")
    if kind not in _KINDS:
        raise ValueError(f"there is no proof of the kind {kind!r}")
    return _KINDS[kind].from_file(arrays, stored)


def claims_to_file(claims: Sequence[Bounds]) -> list[list[float]]:
    """Objectives and bounds."""
    return [[claim.objective, claim.lower_bound] for claim in claims]


def claims_from_file(stored: Sequence[Sequence[float]]) -> tuple[Bounds, ...]:
    """What `claims_to_file` gave."""
    return tuple(Bounds(float(upper), float(lower)) for upper, lower in stored)


def check_data(proof: AnyProof, X: Matrix, y: ArrayLike, weights: Array | None) -> None:
    """Raise unless these are the examples that the proof is of."""
    if hash_data(X, np.asarray(y), weights) != proof.data:
        raise ProofError("The proof is of other data: examples, labels, weights and order must be those of the fit.")


def confirm(claim: Bounds, found: Bounds, which: str) -> None:
    """Raise unless what was found is as good as what was claimed, but for the last digits."""
    room = 1e-9 * (abs(claim.objective) + abs(claim.lower_bound)) + 1e-300
    if not found.objective <= claim.objective + room:
        raise ProofError(
            f"The objective{which} is {found.objective:.10g} at the model's weights, above the {claim.objective:.10g} "
            "that was proven: these are not the weights that the proof is of."
        )
    if not found.lower_bound >= claim.lower_bound - room:
        raise ProofError(
            f"The dual variables{which} prove {found.lower_bound:.10g}, less than the {claim.lower_bound:.10g} that "
            "was claimed: they were changed, or the settings of the model were."
        )
    if not np.isfinite(found.objective):
        raise ProofError(f"The objective{which} is not finite.")
