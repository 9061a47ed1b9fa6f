"""Proofs as they are kept in a model file: codes of dual variables, what they claim, and a hash of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.checker import Bounds
from cutplane.proof.codes import Codes

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

    def to_file(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what JSON can hold."""
        arrays = {f"{_PREFIX}{k}": each.numbers for k, each in enumerate(self.codes)}
        return arrays, {
            "loss": self.loss,
            "parameters": dict(self.parameters),
            "data": self.data,
            "steepest": [each.steepest for each in self.codes],
            "claims": [[*claim] for claim in self.claims],
        }

    @classmethod
    def from_file(cls, arrays: Mapping[str, NDArray[Any]], stored: Mapping[str, Any]) -> Proof:
        """What `to_file` gave; any error means a damaged file."""
        steepest = [float(value) for value in stored["steepest"]]
        codes = tuple(Codes(arrays[f"{_PREFIX}{k}"], value) for k, value in enumerate(steepest))
        claims = tuple(Bounds(float(upper), float(lower)) for upper, lower in stored["claims"])
        if len(claims) != len(codes):
            raise ValueError("the proof has not one claim for each problem")
        parameters = {str(name): float(value) for name, value in stored["parameters"].items()}
        return cls(str(stored["loss"]), parameters, str(stored["data"]), codes, claims)


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
