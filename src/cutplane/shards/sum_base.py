"""The sum of other shards, in a fixed order: serially here, elsewhere by whoever runs the parts.

A handle holds one of each part. Nothing of a part is looked into: it answers with sums, and these are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, ClassVar, Self, cast

import numpy as np

from cutplane.proof.evaluation import Evaluation, evaluation_sum
from cutplane.proof.prover import InterceptBound
from cutplane.proof.rounding import Rounding, exact_sum
from cutplane.risks.intercept import least_shift_between
from cutplane.shards.balance import balanced_plane
from cutplane.shards.base import Array, Handle, Shard, ShardPlane, answers
from cutplane.shards.sum_parts import RaySum
from cutplane.shards.sum_planes import either, plane_sum
from cutplane.solvers.protocols import RayLike

# Kinks that come here, at most, to find the best intercept among them.
_MOST_TURNS = 100_000
# Examples elsewhere come here while they take no more bytes: on the wire less than the dozen rounds that it saves.
_MOST_BYTES = 2.0**26


def each_of(handle: Handle) -> tuple[Handle, ...]:
    """What a handle of a sum holds of each part."""
    return cast(tuple[Handle, ...], handle)


class PlaneSumShard:
    """The sum of the risks of several shards, for cutting planes; weights and intercepts are the same for all.

    Parameters
    ----------
    parts : sequence of Shard
        The risk of each is its part of the whole one: a sum over its own examples. Those without examples are left
        out.
    """

    kind: ClassVar[str] = "planes"

    _parts: tuple[Shard, ...]

    def __init__(self, parts: Sequence[Shard]) -> None:
        self._parts = tuple(part for part in parts if part.examples) or tuple(parts[:1])

    def _of(self, *handles: Handle) -> Any:
        """Each part, with its part of each handle."""
        return zip(self._parts, *map(each_of, handles), strict=True)

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self._parts[0].dimension

    @property
    def name(self) -> str:
        """Of the risk."""
        return self._parts[0].name

    @property
    def examples(self) -> int:
        """The number of examples."""
        return sum(part.examples for part in self._parts)

    @property
    def lower_bound(self) -> float:
        """What the risk never falls below."""
        return exact_sum(part.lower_bound for part in self._parts)

    @property
    def long_products(self) -> bool:
        """Whether products with a curvature cost little however long the vectors are: parts' are added up here."""
        return False

    @property
    def advances_in_place(self) -> bool:
        """Whether `advance` goes with weights that are written where those of the end lay."""
        return all(part.advances_in_place for part in self._parts)

    @property
    def elsewhere(self) -> bool:
        """Whether examples lie in other processes."""
        return any(part.elsewhere for part in self._parts)

    @property
    def row_bytes(self) -> float:
        """What an example takes, in the mean: of the part where that is most."""
        return max(part.row_bytes for part in self._parts)

    @property
    def _most_gathered(self) -> int:
        """Examples that come here from elsewhere."""
        return int(_MOST_BYTES / self.row_bytes)

    @property
    def most_drawn(self) -> int:
        """How large a sample may be: it comes here."""
        return self._most_gathered if self.elsewhere else self.examples

    @property
    def least_drawn(self) -> int:
        """How small a sample may be; from elsewhere it comes here."""
        return 0 if self.elsewhere else max(part.least_drawn for part in self._parts)

    def rounding(self, *, by_columns: bool) -> Rounding:
        """As that of the part where it does most, and that of adding them up."""
        each = answers(part.rounding(by_columns=by_columns) for part in self._parts)
        return reduce(either, each).after(len(each) - 1)

    def begun(self) -> Self:
        """The same for a run of its own."""
        return self._with([part.begun() for part in self._parts])

    def _with(self, parts: Sequence[Any]) -> Self:
        """The sum of other parts: itself where these are its own."""
        same = all(a is b for a, b in zip(parts, self._parts, strict=True))
        return self if same else type(self)(parts)

    def at(self, w: Array) -> Handle:
        """The scores of weights: one pass."""
        return tuple(part.at(w) for part in self._parts)

    def shifted(self, scores: Handle, shift: float | Array, *, in_place: bool = False) -> Handle:
        """The scores plus a constant."""
        return tuple(part.shifted(s, shift, in_place=in_place) for part, s in self._of(scores))

    def blend(self, a: Handle, b: Handle, t: float, into: Handle | None = None) -> Handle:
        """(1 - t) a + t b."""
        rooms = (None,) * len(self._parts) if into is None else each_of(into)
        return tuple(part.blend(x, y, t, room) for part, x, y, room in self._of(a, b, rooms))

    def value(self, scores: Handle) -> float:
        """The risk."""
        return exact_sum(answers(part.value(s) for part, s in self._of(scores)))

    def leans(self, scores: Handle, shifts: Array) -> Array:
        """What the coefficients of the planes at scores + shift add up to, at several."""
        found = answers(part.leans(s, shifts) for part, s in self._of(scores))
        return np.array([exact_sum(each) for each in zip(*found, strict=True)])

    def turns(self, scores: Handle, low: float, high: float, most: int) -> tuple[Array, Array] | None:
        """Where that slope jumps between two constants, and by how much; None: at too many, or it bends."""
        each = max(1, most // len(self._parts))
        parts = answers(part.turns(s, low, high, each) for part, s in self._of(scores))
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        places, jumps = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return places, jumps

    def size(self, scores: Handle) -> float:
        """The largest score, in size."""
        return float(max(answers(part.size(s) for part, s in self._of(scores))))

    def best_shift(self, scores: Handle) -> float:
        """The constant that, added to all scores, makes the risk least."""
        if len(self._parts) == 1:
            return float(answers([self._parts[0].best_shift(*each_of(scores))])[0])
        # The least of a sum lies between those of its parts.
        own = answers(part.best_shift(s) for part, s in self._of(scores))
        return least_shift_between(
            np.array(own), partial(self.leans, scores), lambda low, high: self.turns(scores, low, high, _MOST_TURNS)
        )

    def cut(self, scores: Handle) -> ShardPlane:
        """The plane that touches the risk at the scores: a pass."""
        return plane_sum(answers(part.cut(s) for part, s in self._of(scores)))

    def balanced_cut(self, scores: Handle) -> ShardPlane:
        """The same at scores with their best shift in them: mixed with one from beside, so that it does not lean."""
        if len(self._parts) == 1:
            return answers([self._parts[0].balanced_cut(*each_of(scores))])[0]
        return balanced_plane(self, scores)

    def advance(self, a: Handle, b: Handle, step: float, mu: float) -> tuple[Handle, float, Callable[[], ShardPlane]]:
        """The scores moved from a towards b, their risk, and (on call: a pass) the plane mu of the rest further on."""
        found = answers(part.advance(x, y, step, mu) for part, x, y in self._of(a, b))
        moved = tuple(each[0] for each in found)
        return moved, exact_sum(each[1] for each in found), lambda: plane_sum(answers(each[2]() for each in found))

    def ray(self, a: Handle, b: Handle) -> RayLike | None:
        """The risk along the line from a to b."""
        rays = answers(part.ray(x, y) for part, x, y in self._of(a, b))
        found = [ray for ray in rays if ray is not None]
        return RaySum(tuple(found)) if len(found) == len(rays) else None

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation:
        """The risk at weights and an intercept, for the prover: one pass."""
        return evaluation_sum(answers(part.evaluated(w, intercept, delta) for part in self._parts))

    def intercept_bound(self) -> InterceptBound:
        """How far from zero the best intercept is at most, for the prover."""
        return reduce(lambda a, b: a.plus(b), answers(part.intercept_bound() for part in self._parts))
