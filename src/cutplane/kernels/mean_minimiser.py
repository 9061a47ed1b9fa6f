"""The mean of a model's minimisers over the last part of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from cutplane.kernels.expansions import Array, Expansion

# Sums start anew when a run has become this many times as long; the last two make the mean.
_LONGER = 1.5


@dataclass
class _Sum:
    count: int = 0
    square: float = 0.0
    violation: float = 0.0
    scales: dict[int, tuple[Expansion, float]] = field(default_factory=dict)


class MeanMinimiser:
    """The mean over the last third to half of all minimisers so far.

    The minimiser of a model of sampled cuts is as noisy as the samples. The noise of successive ones is nearly
    independent, so that their mean has less of it; by convexity its objective is at most the mean of theirs.
    """

    def __init__(self) -> None:
        self._length = 0
        self._start_anew = 2.0
        self._before, self._now = _Sum(), _Sum()

    def __len__(self) -> int:
        return self._before.count + self._now.count

    def add(self, cuts: list[Expansion], scales: Array, square: float, violation: float) -> None:
        """Take in Σ scales[k]·(cut k), its squared length, and how far its loss in a sample was above the model."""
        self._length += 1
        if self._length >= self._start_anew:
            self._start_anew *= _LONGER
            self._before, self._now = self._now, _Sum()
        sums = self._now
        sums.count += 1
        sums.square += square
        sums.violation += violation
        for cut, scale in zip(cuts, scales.tolist(), strict=True):
            if scale != 0.0:
                sums.scales[id(cut)] = cut, sums.scales.get(id(cut), (cut, 0.0))[1] + scale

    @property
    def parts(self) -> list[tuple[Expansion, float]]:
        """The cuts of the mean, and their scales."""
        both = dict(self._before.scales)
        for key, (cut, scale) in self._now.scales.items():
            both[key] = cut, both.get(key, (cut, 0.0))[1] + scale
        return [(cut, scale / len(self)) for cut, scale in both.values()]

    @property
    def square(self) -> float:
        """The mean of the minimisers' squared lengths: at least that of their mean."""
        return (self._before.square + self._now.square) / len(self)

    @property
    def violation(self) -> float:
        """The mean of the violations."""
        return (self._before.violation + self._now.violation) / len(self)
