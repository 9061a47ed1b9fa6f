"""What one run leaves for the next one: the same objective with another C, or the same again with a smaller gap."""

from __future__ import annotations

from dataclasses import dataclass, field

from cutplane.solvers.base import Array, Duals, Evaluated, ScoredPoint
from cutplane.solvers.bundle.planes import BundleLike
from cutplane.solvers.protocols import Sample, SmoothObjectiveLike
from cutplane.solvers.result import Result


@dataclass
class Handover:
    """What is known before a run begins, and after it what the next one begins with.

    Attributes
    ----------
    more : bool
        Whether another run follows: points are kept for it with their scores, though these take room.
    planes : Bundle or None
        They do not depend on C.
    w : array or None
        The weights where the last run ended.
    duals : Duals or None
        Where its dual ascent ended.
    reached : list of points
        Where the last two runs ended, the last of them at `w`: nothing of it is computed again, and from two of them
        it is foreseen where the next run will end.
    drift : float
        How far their scores may have left their weights.
    evaluated : Evaluated or None
        The last evaluation of Newton's method.
    sample : Sample or None
        The examples that its first steps were made on.
    anchored : tuple or None
        An evaluation, the objective of the sample with the slope of the whole there, and the point of it.
    """

    more: bool = False
    planes: BundleLike | None = None
    w: Array | None = None
    duals: Duals | None = None
    reached: list[ScoredPoint] = field(default_factory=list)
    drift: float = 0.0
    evaluated: Evaluated | None = None
    sample: Sample | None = None
    anchored: tuple[Evaluated, SmoothObjectiveLike, ScoredPoint] | None = None

    @classmethod
    def of(cls, result: Result) -> Handover:
        """What a result has of it."""
        return cls(planes=result.bundle, w=result.w, duals=result.duals)

    def keep_sample(self, sample: Sample) -> None:
        """Have another sample."""
        self.sample, self.anchored = sample, None

    def on_sample(self, objective: SmoothObjectiveLike, last: Evaluated) -> tuple[SmoothObjectiveLike, ScoredPoint]:
        """The objective of the sample with the slope of the whole at the last evaluation, and that point of it."""
        assert self.sample is not None
        if self.anchored is None or self.anchored[0] is not last:
            self.anchored = last, *objective.anchored(self.sample, last)
        return self.anchored[1:]

    def drop_points(self) -> None:
        """Forget what belongs to an objective that is not gone on with: scores in another precision."""
        self.reached, self.drift = [], 0.0
        self.evaluated = self.sample = self.anchored = None
