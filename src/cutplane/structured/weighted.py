"""Examples that count more or less often than once."""

from __future__ import annotations

import numpy as np

from cutplane._types import Array
from cutplane.proof.rounding import exact_sum
from cutplane.structured.factored import Choices, FactoredRisk, Rows, Violations


def factors_of(weights: Array) -> Array:
    """The weights divided by their mean: with these, a mean over examples is the weighted one."""
    return np.asarray(weights * (len(weights) / exact_sum(weights)))


class WeightedRisk(FactoredRisk):
    """A risk whose examples have weights: its mean is the weighted one.

    Samples of examples are drawn as without weights, and those drawn count by their weights: on average that is the
    same.

    Parameters
    ----------
    risk : FactoredRisk
    weights : array
        Of each example, 0 or greater.
    """

    def __init__(self, risk: FactoredRisk, weights: Array) -> None:
        self._risk = risk
        self._factors = factors_of(weights)
        self._total = exact_sum(weights)
        self.columns, self.explicit = risk.columns, risk.explicit
        self.explicit_scale = risk.explicit_scale * self.heaviest

    @property
    def examples(self) -> int:
        """Their number."""
        return self._risk.examples

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return self._total

    @property
    def heaviest(self) -> float:
        """The largest weight, relative to the mean."""
        return float(self._factors.max())

    @property
    def largest_loss(self) -> float:
        """Of the heaviest example."""
        return self._risk.largest_loss * self.heaviest

    def rows(self, examples: Rows) -> Rows:
        """The rows of X that some examples own."""
        return self._risk.rows(examples)

    def choose(self, labels: Choices, examples: Rows) -> Choices:
        """The labels of some examples."""
        return self._risk.choose(labels, examples)

    def violations(self, examples: Rows, scores: Array, weights: Array) -> Violations:
        """Those without weights, each counted by its example's."""
        found, factors = self._risk.violations(examples, scores, weights), self._factors[examples]
        return Violations(found.labels, factors * found.losses, factors * found.values)

    def direction(self, examples: Rows, labels: Choices, factors: Array | None = None) -> tuple[Array, Array]:
        """That without weights, each example counted by its own."""
        own = self._factors[examples]
        return self._risk.direction(examples, labels, own if factors is None else own * factors)

    def reach(self, squared_lengths: float) -> float:
        """Of the heaviest example."""
        return self._risk.reach(squared_lengths) * self.heaviest
