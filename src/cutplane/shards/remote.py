"""Shards that lie elsewhere, as parts of a sum: what each of their methods gives stays there, or is sent back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from cutplane.shards.base import Handle, Reply, ShardPlane
from cutplane.shards.rounds import Line, Remote, asked, derived, fact, kept
from cutplane.solvers.base import ProductsHere, Subset
from cutplane.solvers.protocols import Pull, Stiffness


class RemoteRay(Remote):
    """The risk of a part along a line."""

    value = asked("value")
    slope = asked("slope")
    minimise = asked("minimise")


class RemoteCurvature(ProductsHere, Remote):
    """The curvature of a part's rounded risk."""

    facts = ("examples", "cost", "exact")

    examples = fact("examples")
    cost = fact("cost")
    exact = fact("exact")
    product = asked("product")
    moments = asked("moments")
    matrix = asked("matrix")
    root = asked("root")
    sampled_root = asked("sampled_root")
    elsewhere = True
    shift = asked("shift")


class RemoteSubset(Remote, Subset):
    """Some of a part's examples."""

    #: Where it is known beforehand.
    size: int | None = None

    def __init__(self, line: Line, part: int, key: int) -> None:
        super().__init__(line, part, key)
        self._found = self._ask("__len__", (), {})

    def __len__(self) -> int:
        """The number of examples."""
        return cast(int, self._found.now()) if self.size is None else self.size

    union = kept("union", lambda: RemoteSubset)
    minus = kept("minus", lambda: RemoteSubset)


class RemoteNear(Remote):
    """The problem of a part's near examples."""

    facts = ("radius", "intercept", "examples", "rest_slope", "rest_balance")

    radius = fact("radius")
    intercept = fact("intercept")
    examples = fact("examples")
    rest_slope = fact("rest_slope")
    rest_balance = fact("rest_balance")
    start = kept("start")
    dual_sums = asked("dual_sums")
    disagreement = asked("disagreement")
    steps = kept("steps")
    complementarity = asked("complementarity")
    fastest = asked("fastest")
    moved = kept("moved")
    is_finite = asked("is_finite")
    sides = asked("sides")
    leaning_plane = asked("leaning_plane")

    def bend(self, at: Handle) -> Reply[Stiffness]:
        """See `NearPart`."""
        (curvature, made), (each, handle) = self._there(RemoteCurvature), self._there(Remote)
        return self._ask(
            "bend", (at,), {}, (curvature, None, each), lambda sent: Stiffness(made(), _pair(sent[1]), handle())
        )

    def pull(self, at: Handle, stiffness: Handle, target: float, ahead: Handle | None) -> Reply[Pull]:
        """See `NearPart`."""
        each, handle = self._there(Remote)
        args = (at, stiffness, target, ahead)
        return self._ask("pull", args, {}, (None, None, each), lambda sent: Pull(sent[0], sent[1], handle()))


def _pair(sent: Any) -> Any:
    return None if sent is None else tuple(sent)


class RemoteShard(Remote):
    """A shard that lies elsewhere, as a part of a sum."""

    facts: tuple[str, ...] = ("name", "dimension", "examples", "lower_bound", "row_bytes", "advances_in_place")
    inherited = frozenset({"name", "dimension", "examples", "lower_bound", "row_bytes"})
    elsewhere = True

    name = fact("name")
    dimension = fact("dimension")
    examples = fact("examples")
    lower_bound = fact("lower_bound")
    row_bytes = fact("row_bytes")
    advances_in_place = fact("advances_in_place")
    long_products = False
    rounding = asked("rounding")
    begun = derived("begun")
    at = kept("at")
    shifted = kept("shifted")
    blend = kept("blend")
    value = asked("value")
    best_shift = asked("best_shift")
    leans = asked("leans")
    turns = asked("turns")
    size = asked("size")
    cut = asked("cut")
    balanced_cut = asked("balanced_cut")
    evaluated = asked("evaluated")
    intercept_bound = asked("intercept_bound")

    def ray(self, a: Handle, b: Handle) -> Reply[RemoteRay | None]:
        """The risk along a line; None where it has no such thing."""
        key, made = self._there(RemoteRay)
        return self._ask("ray", (a, b), {}, key, lambda there: made() if there else None)

    def advance(
        self, a: Handle, b: Handle, step: float, mu: float
    ) -> Reply[tuple[Remote, float, Callable[[], ShardPlane]]]:
        """See `Shard`; the plane is a pass of its own."""
        (scores, moved), (plane, later) = self._there(Remote), self._there(RemotePlane)
        wanted = (scores, None, plane)
        return self._ask("advance", (a, b, step, mu), {}, wanted, lambda sent: (moved(), sent[1], later()))


class RemotePlane(Remote):
    """A plane that is made when it is called for."""

    __call__ = asked("")


# Facts of examples, whatever the precision of their scores.
_OF_THE_SOURCE = ("streamed", "near_work", "gram_cost", "exact_gram", "fuses")


class RemoteRoundedShard(RemoteShard):
    """The same of a risk that can round its kinks."""

    facts = (*RemoteShard.facts, *_OF_THE_SOURCE, "first_width", "keeps")
    inherited = RemoteShard.inherited | {*_OF_THE_SOURCE, "first_width"}

    first_width = fact("first_width")
    streamed = fact("streamed")
    keeps = fact("keeps")
    near_work = fact("near_work")
    gram_cost = fact("gram_cost")
    exact_gram = fact("exact_gram")
    fuses = fact("fuses")
    keeping = derived("keeping")
    in_double = derived("in_double")
    in_single = derived("in_single")
    sides = asked("sides")
    smoothed = asked("smoothed")
    difference = kept("difference")
    moved = kept("moved")
    rounding_error = asked("rounding_error")
    extrapolated = asked("extrapolated")
    along = asked("along")
    near = kept("near", lambda: RemoteSubset)
    crossed = kept("crossed", lambda: RemoteSubset)
    near_problem = kept("near_problem", lambda: RemoteNear)

    def curvature(self, scores: Handle, h: float, *, centred: bool) -> RemoteCurvature:
        """H times the second derivative of the rounded risk."""
        found = self._keep(RemoteCurvature, "curvature", (scores, h), {"centred": centred})
        found.foretold = {"cost": self.gram_cost, "exact": self.exact_gram}
        return found

    def draw(self, size: int, generator: np.random.Generator) -> RemoteSubset:
        """So many examples at random."""
        drawn = self._keep(RemoteSubset, "draw", (size, generator), {})
        drawn.size = size
        return drawn

    def part(self, subset: Subset, *, scale: float = 1.0, gathered: bool = False) -> Any:
        """The sum over some examples; `gathered`: these come here, and the shard is one of this process."""
        named = {"scale": scale, "gathered": gathered}
        if gathered:
            return self._ask("part", (subset,), named)
        return self._keep(RemoteRoundedShard, "part", (subset,), named)

    def restricted(self, scores: Handle, subset: Subset, *, gathered: bool = False) -> Any:
        """The scores of some examples, where their `part` is."""
        return (
            self._ask("restricted", (scores, subset), {"gathered": True})
            if gathered
            else self._keep(Remote, "restricted", (scores, subset), {})
        )

    def stepped(self, p: Any, base: Handle | None, h: float) -> Reply[tuple[Remote, ShardPlane]]:
        """Scores and plane in one pass."""
        key, made = self._there(Remote)
        return self._ask("stepped", (p, base, h), {}, (key, None), lambda sent: (made(), sent[1]))
