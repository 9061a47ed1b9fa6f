"""The certificate of a structured model: its objective from a fresh sweep, a lower bound from a plane alone.

What is minimised is ½|w|² + C·R(w), R the mean over examples of the highest of their planes, one for each labelling.
Both bounds are computed in double precision and charged for what rounding can do, as `Sample.rounding` knows it: how
long an example's features are, and how many terms a score and a sum over examples have.

Of models whose searches are compiled or vectorised all of that is known from the examples. Of a user's model the
lengths are measured on the true labellings and on those its searches have returned; taken on trust is that

- features and losses are the numbers that `joint_feature` and `loss` return, without an error of their own;
- a search misses the highest labelling by no more than rounding explains: by the error of a sum of the features'
  products with the weights, 1,024 terms more than there are weights.
"""

from __future__ import annotations

from typing import Any

from cutplane.proof.prover import Plane, Proven, Prover
from cutplane.proof.rounding import UNIT, Array, gamma, half_square, summed
from cutplane.solvers.ledger import Ledger
from cutplane.structured.objective import StructuredObjective
from cutplane.structured.tuning import PROOF


class StructuredProver:
    """Proves what structured weights and a plane are worth.

    Parameters
    ----------
    objective : StructuredObjective
        Whose searches are exact.
    C : float
        Of the mean risk.
    """

    def __init__(self, objective: StructuredObjective, C: float) -> None:
        self._objective, self._C = objective, C
        self._begun = objective.sample.rounding

    def upper(self, w: Array) -> float:
        """The objective at these weights: one search per example."""
        sweep = self._objective.sample.sweep(w)
        rounding = self._objective.sample.rounding  # with what this sweep has shown of slopes
        total, error = summed(sweep.heights)
        quadratic, quadratic_error = half_square(w)
        n = len(sweep.heights)
        # Once for the height, once for a labelling that is higher and was taken for a lower one. At zero weights a
        # height is a loss and nothing else.
        spread = rounding.spread(w)
        terms = (spread + rounding.scale if spread > 0.0 else 0.0) + total / n
        height = 2.0 * gamma(rounding.row_depth + 8) * terms
        risk, risk_error = total / n, error / n + height + PROOF.operations * UNIT * total / n
        return quadratic + self._C * risk + (quadratic_error + self._C * risk_error) * (1.0 + 1e-9)

    def lower(self, plane: Plane, w: Array, upper: float) -> float:
        """What a plane proves of an optimum that is no worse than weights w, of value `upper`."""
        rounding = self._objective.sample.rounding
        # Slopes may have turned out longer than those the plane was charged for when it was made.
        longer = max(1.0, rounding.reach / self._begun.reach, rounding.scale / self._begun.scale)
        offset = plane.offset - (rounding.offset(plane.offset, longer, 0.0) if longer > 1.0 else 0.0)
        charged = plane._replace(offset=offset, error=plane.error * longer)
        known: Any = self._objective  # without an intercept, its lower bound is all that is asked
        return Prover(known, self._C, rounding).lower(charged, w, upper)


def prove(ledger: Ledger, prover: StructuredProver) -> None:
    """What the incumbent and the best plane are worth, as the prover sees it."""
    point = ledger.incumbent
    assert point is not None
    with ledger.phase("proof"):
        upper = prover.upper(point.w)
        lower = prover.lower(ledger.witness, point.w, upper)
    ledger.accept(Proven(upper, lower), look=True)
