"""Dual ascent over one example at a time: block-coordinate Frank-Wolfe with pairwise steps.

The dual variables of an example weight the planes that its searches have found, the truth's plane of zeros among them,
and sum to one. A visit searches the example and moves weight from its lowest plane to its highest (Lacoste-Julien,
Jaggi, Schmidt and Pletscher 2013; pairwise steps and sampling by gaps from Osokin et al. 2016).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cutplane._runtime.deadline import time_is_up
from cutplane._types import Array
from cutplane.proof.rounding import UNIT
from cutplane.structured import vectors
from cutplane.structured.base import Sweep
from cutplane.structured.example_planes import ExamplePlane, truth_plane
from cutplane.structured.tuning import FRANK_WOLFE


class Searched(Protocol):
    """A sample whose examples are searched one by one."""

    @property
    def dimension(self) -> int:
        """The number of weights."""

    @property
    def examples(self) -> int:
        """The number of examples."""

    def search(self, index: int, w: Array) -> ExamplePlane:
        """The plane found for one example."""


class _Block:
    """The planes of one example with their weights."""

    def __init__(self, dimension: int) -> None:
        self.planes: dict[bytes, ExamplePlane] = {b"": truth_plane(dimension)}
        self.weights: dict[bytes, float] = {b"": 1.0}

    def add(self, plane: ExamplePlane) -> None:
        key = vectors.key(plane.slope, plane.offset)
        self.planes.setdefault(key, plane)
        self.weights.setdefault(key, 0.0)

    def height(self, w: Array) -> float:
        """Of the mixed plane."""
        return sum(weight * self.planes[key].height(w) for key, weight in self.weights.items() if weight > 0.0)

    def mixture(self) -> list[tuple[ExamplePlane, float]]:
        """Planes with weights that sum to at most one. The truth's plane, which is zero, has the rest."""
        share = (1.0 - 2.0 * (len(self.weights) + 4) * UNIT) / max(1.0, sum(self.weights.values()))
        return [(self.planes[key], share * weight) for key, weight in self.weights.items() if key]


class BlockAscent:
    """Maximise C·Σ_i <weights_i, offsets_i> - ½|w|², w = -C·Σ_i <weights_i, slopes_i>.

    Parameters
    ----------
    sample : Searched
    C : float
        Per example.
    seed : int
        For the order of the examples.
    """

    def __init__(self, sample: Searched, C: float, seed: int) -> None:
        self._sample = sample
        self._C = C
        self._rng = np.random.default_rng(seed)
        self._blocks = [_Block(sample.dimension) for _ in range(sample.examples)]
        self._w = np.zeros(sample.dimension)
        self._offset = 0.0
        self._gaps: Array | None = None

    @property
    def weights(self) -> Array:
        """The weights reached."""
        return self._w.copy()

    def blend(self, mean: Array, share: float) -> None:
        """Move a mean towards the weights, in place."""
        mean += share * (self._w - mean)

    @property
    def estimate(self) -> float:
        """The dual value by running sums."""
        return self._C * self._offset - 0.5 * float(self._w @ self._w)

    @property
    def gap_estimate(self) -> float:
        """The sum of the examples' gaps, each as last seen."""
        return float("inf") if self._gaps is None else float(self._gaps.sum())

    def epoch(self) -> None:
        """As many visits as there are examples, if time allows: all once at first, then more where gaps are large."""
        n = self._sample.examples
        if self._gaps is None:
            self._gaps = np.zeros(n)
            order = self._rng.permutation(n)
        else:
            total = self._gaps.sum()
            chance = np.full(n, 1.0 / n)
            if total > 0.0:
                chance = FRANK_WOLFE.uniform_share / n + (1.0 - FRANK_WOLFE.uniform_share) * self._gaps / total
            order = self._rng.choice(n, size=n, p=chance)
        for index in order.tolist():
            self._visit(index)
            if time_is_up():
                break

    def renew(self, sweep: Sweep) -> None:
        """Take the examples' gaps from a sweep at the present weights."""
        mixed = np.array([block.height(self._w) for block in self._blocks])
        self._gaps = self._C * np.maximum(sweep.heights - mixed, 0.0)

    @property
    def most_planes(self) -> int:
        """The planes that carry weight of the example that has most of them."""
        return max(len(block.weights) for block in self._blocks)

    def plane(self) -> tuple[Array, float]:
        """Slope and offset of the plane that the dual variables stand for, summed up afresh."""
        slope, offset = np.zeros_like(self._w), 0.0
        for block in self._blocks:
            for plane, weight in block.mixture():
                vectors.add(plane.slope, weight / len(self._blocks), slope)
                offset += weight * plane.offset / len(self._blocks)
        return slope, offset

    def _visit(self, index: int) -> None:
        block = self._blocks[index]
        plane = self._sample.search(index, self._w)
        assert self._gaps is not None
        self._gaps[index] = self._C * max(0.0, plane.height(self._w) - block.height(self._w))
        block.add(plane)
        for _ in range(FRANK_WOLFE.steps_per_search):
            if not self._pairwise_step(block):
                break
        kept = {key: weight for key, weight in block.weights.items() if weight > 0.0}
        block.weights = kept
        block.planes = {key: block.planes[key] for key in kept}

    def _pairwise_step(self, block: _Block) -> bool:
        """Move weight from the lowest plane that has some to the highest one; False if nothing is to be gained."""
        heights = {key: plane.height(self._w) for key, plane in block.planes.items()}
        high = max(heights, key=heights.__getitem__)
        low = min((key for key, weight in block.weights.items() if weight > 0.0), key=heights.__getitem__)
        rise = heights[high] - heights[low]
        if rise <= 0.0:
            return False
        direction = vectors.combination(block.planes[high].slope, block.planes[low].slope, 1.0)
        square = self._C * vectors.inner(direction, direction)
        most = block.weights[low]
        step = most if square <= 0.0 else min(most, rise / square)
        block.weights[low] = most - step
        block.weights[high] += step
        vectors.add(direction, -self._C * step, self._w)
        self._offset += step * (block.planes[high].offset - block.planes[low].offset)
        return True
