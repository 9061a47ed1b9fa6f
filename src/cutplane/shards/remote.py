"""Shards that lie elsewhere: what is asked of them is written down, sent in rounds and answered.

A call whose result is a handle is written down, and nobody waits for it. One whose result is a number or an array gives
a `Reply`; the first that is looked at sends all that was written down, to all parts at once: one round.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from cutplane.shards.base import Handle, Reply, ShardPlane
from cutplane.solvers.base import ShardLostError, Subset
from cutplane.solvers.protocols import Pull, Stiffness

T = TypeVar("T")
# Of a result: sent back (None), kept under a key, or a tuple of which each is one or the other.
Wanted: TypeAlias = "int | tuple[int | None, ...] | None"

# The name of the call that asks for attributes, which are its arguments.
_FACTS = "<facts>"
_SHARD = 0


class Ref(NamedTuple):
    """Stands for what lies under a key."""

    key: int


class Call(NamedTuple):
    """A method of what lies under a key, its arguments, and what becomes of the result."""

    on: int
    name: str
    args: tuple[Any, ...]
    named: dict[str, Any]
    wanted: Wanted


class Errand(NamedTuple):
    """What one part has to do in a round: calls, in order, and keys that nobody needs any more."""

    calls: list[Call]
    forgotten: list[int]


class Host:
    """The objects of one part, where its examples lie: its shard, and what calls have made of it."""

    def __init__(self, shard: object) -> None:
        self._objects: dict[int, Any] = {_SHARD: shard}

    def run(self, errand: Errand) -> list[Any]:
        """Make the calls; what is sent back of each, in order."""
        try:
            return [self._entered(self._result(call), call.wanted) for call in errand.calls]
        finally:  # calls of the same round may still have needed them
            for key in errand.forgotten:
                self._objects.pop(key, None)

    def _result(self, call: Call) -> Any:
        on = self._objects[call.on]
        if call.name == _FACTS:
            return [getattr(on, name) for name in call.args]
        method = getattr(on, call.name) if call.name else on
        named = {name: self._own(value) for name, value in call.named.items()}
        return method(*map(self._own, call.args), **named)

    def _own(self, value: Any) -> Any:
        return self._objects[value.key] if isinstance(value, Ref) else value

    def _entered(self, result: Any, wanted: Wanted) -> Any:
        """What is sent back; the rest is kept."""
        if isinstance(wanted, int):
            self._objects[wanted] = result
            return result is not None
        if wanted is None or result is None:
            return result
        return [self._entered(each, key) for each, key in zip(result, wanted, strict=True)]


class Answer(Reply[T], Generic[T]):
    """What a part will have answered when the next round is over."""

    def __init__(self, line: Line, finish: Callable[[Any], T]) -> None:
        self._line = line
        self._finish = finish
        self._found: tuple[T] | None = None

    def arrived(self, sent: Any) -> None:
        """What came back."""
        self._found = (self._finish(sent),)

    def now(self) -> T:
        """The answer; a round is made where it is not there yet."""
        if self._found is None:
            self._line.send()
        assert self._found is not None
        return self._found[0]


Send: TypeAlias = Callable[[Mapping[int, Errand]], Mapping[int, Sequence[Any]]]


class Line:
    """What the next round asks of each part.

    Parameters
    ----------
    post : callable
        Sends errands to parts, by their numbers, and gives what each sends back.

    Attributes
    ----------
    rounds : int
        How many there were.
    losses : int
        How often what lay there was lost, but for the parts' own shards.
    """

    def __init__(self, post: Send) -> None:
        self._post = post
        self._keys = itertools.count(_SHARD + 1)
        self._errands: dict[int, Errand] = {}
        self._answers: dict[int, list[Answer[Any] | None]] = {}
        self.rounds = 0
        self.losses = 0

    def new_key(self) -> int:
        """One that nothing lies under."""
        return next(self._keys)

    def add(self, part: int, call: Call, answer: Answer[Any] | None) -> None:
        """Another call of the next round."""
        self._errand(part).calls.append(call)
        self._answers[part].append(answer)

    def forget(self, part: int, key: int) -> None:
        """Nobody asks for it any more."""
        self._errand(part).forgotten.append(key)

    def _errand(self, part: int) -> Errand:
        self._answers.setdefault(part, [])
        return self._errands.setdefault(part, Errand([], []))

    def send(self) -> None:
        """Make a round."""
        errands, waiting = self._errands, self._answers
        self._errands, self._answers = {}, {}
        self.rounds += 1
        try:
            replies = self._post(errands)
        except ShardLostError:
            self.losses += 1
            raise
        for part, sent in replies.items():
            for answer, each in zip(waiting[part], sent, strict=True):
                if answer is not None:
                    answer.arrived(each)


class Remote:
    """Something of a part that lies under a key."""

    #: Attributes that do not change: asked for in the round that makes the object.
    facts: tuple[str, ...] = ()

    def __init__(self, line: Line, part: int, key: int) -> None:
        self._line, self._part, self._key, self._losses = line, part, key, line.losses
        self._known = self._ask(_FACTS, self.facts, {}) if self.facts else None

    def __del__(self) -> None:
        if self._losses == self._line.losses:
            self._line.forget(self._part, self._key)

    def _found_again(self) -> int:
        """The key, after a loss as well: of what can be made again from the part's own shard."""
        if self._losses != self._line.losses:
            self._key, self._losses = self._made_again(), self._line.losses
        return self._key

    def _made_again(self) -> int:
        raise ShardLostError("What had been made of examples is gone.")

    def _fact(self, name: str) -> Any:
        assert self._known is not None
        return self._known.now()[self.facts.index(name)]

    def _keep(self, kind: type[R], name: str, args: Sequence[Any], named: Mapping[str, Any]) -> R:
        """What a method gives, kept there."""
        key = self._line.new_key()
        self._write(name, args, named, key, None)
        return kind(self._line, self._part, key)

    def _ask(
        self,
        name: str,
        args: Sequence[Any],
        named: Mapping[str, Any],
        wanted: Wanted = None,
        finish: Callable[[Any], Any] = lambda sent: sent,
    ) -> Answer[Any]:
        """What a method gives, sent back."""
        answer = Answer(self._line, finish)
        self._write(name, args, named, wanted, answer)
        return answer

    def _write(
        self, name: str, args: Sequence[Any], named: Mapping[str, Any], wanted: Wanted, answer: Answer[Any] | None
    ) -> None:
        plain = tuple(map(_ref, args)), {each: _ref(value) for each, value in named.items()}
        self._line.add(self._part, Call(self._found_again(), name, *plain, wanted), answer)

    def _there(self, kind: type[R]) -> tuple[int, Callable[[], R]]:
        """A key for a piece of a result that stays there, and what makes the object for it."""
        key = self._line.new_key()
        return key, lambda: kind(self._line, self._part, key)


R = TypeVar("R", bound=Remote)


def _ref(value: Any) -> Any:
    return Ref(value._found_again()) if isinstance(value, Remote) else value


def _fact(name: str) -> Any:
    """An attribute that does not change."""
    return property(lambda self: self._fact(name))


def _asked(name: str) -> Any:
    """A method whose result is sent back."""

    def method(self: Remote, *args: Any, **named: Any) -> Any:
        return self._ask(name, args, named)

    return method


def _kept(name: str, kind: Callable[[], type[Remote]] = lambda: Remote) -> Any:
    """A method whose result stays there."""

    def method(self: Remote, *args: Any, **named: Any) -> Any:
        return self._keep(kind(), name, args, named)

    return method


def _derived(name: str) -> Any:
    """A method without arguments whose result is a shard of the same kind."""

    def method(self: RemoteShard) -> Any:
        derived = self._keep(type(self), name, (), {})
        derived._from = self, name
        return derived

    return method


class RemoteRay(Remote):
    """The risk of a part along a line."""

    value = _asked("value")
    slope = _asked("slope")
    minimise = _asked("minimise")


class RemoteCurvature(Remote):
    """The curvature of a part's rounded risk."""

    facts = ("examples", "cost", "exact")

    examples = _fact("examples")
    cost = _fact("cost")
    exact = _fact("exact")
    product = _asked("product")
    moments = _asked("moments")
    matrix = _asked("matrix")
    root = _asked("root")
    shift = _asked("shift")


class RemoteSubset(Remote, Subset):
    """Some of a part's examples."""

    def __init__(self, line: Line, part: int, key: int) -> None:
        super().__init__(line, part, key)
        self._size = self._ask("__len__", (), {})

    def __len__(self) -> int:
        """The number of examples."""
        return cast(int, self._size.now())

    union = _kept("union", lambda: RemoteSubset)
    minus = _kept("minus", lambda: RemoteSubset)


class RemoteNear(Remote):
    """The problem of a part's near examples."""

    facts = ("radius", "intercept", "examples", "rest_slope", "rest_balance")

    radius = _fact("radius")
    intercept = _fact("intercept")
    examples = _fact("examples")
    rest_slope = _fact("rest_slope")
    rest_balance = _fact("rest_balance")
    start = _kept("start")
    dual_sums = _asked("dual_sums")
    disagreement = _asked("disagreement")
    steps = _kept("steps")
    complementarity = _asked("complementarity")
    fastest = _asked("fastest")
    moved = _kept("moved")
    is_finite = _asked("is_finite")
    sides = _asked("sides")
    leaning_plane = _asked("leaning_plane")

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

    facts: tuple[str, ...] = ("name", "dimension", "examples", "lower_bound", "advances_in_place")

    name = _fact("name")
    dimension = _fact("dimension")
    examples = _fact("examples")
    lower_bound = _fact("lower_bound")
    advances_in_place = _fact("advances_in_place")
    rounding = _asked("rounding")
    begun = _derived("begun")
    at = _kept("at")
    shifted = _kept("shifted")
    blend = _kept("blend")
    value = _asked("value")
    best_shift = _asked("best_shift")
    leans = _asked("leans")
    turns = _asked("turns")
    size = _asked("size")
    cut = _asked("cut")
    balanced_cut = _asked("balanced_cut")
    evaluated = _asked("evaluated")
    intercept_bound = _asked("intercept_bound")

    _from: tuple[RemoteShard, str] | None = None

    def _made_again(self) -> int:
        """As it was made from another; the part's own shard is always there."""
        if self._from is None:
            return self._key if self._key == _SHARD else super()._made_again()
        parent, name = self._from
        key = self._line.new_key()
        parent._write(name, (), {}, key, None)
        return key

    @classmethod
    def root(cls, line: Line, part: int) -> RemoteShard:
        """The shard that a part begins with."""
        return cls(line, part, _SHARD)

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

    __call__ = _asked("")


class RemoteRoundedShard(RemoteShard):
    """The same of a risk that can round its kinks."""

    facts = (*RemoteShard.facts, "first_width", "streamed", "keeps", "has_near_problem")

    first_width = _fact("first_width")
    streamed = _fact("streamed")
    keeps = _fact("keeps")
    has_near_problem = _fact("has_near_problem")
    keeping = _derived("keeping")
    in_double = _derived("in_double")
    in_single = _derived("in_single")
    sides = _asked("sides")
    smoothed = _asked("smoothed")
    difference = _kept("difference")
    moved = _kept("moved")
    rounding_error = _asked("rounding_error")
    extrapolated = _asked("extrapolated")
    curvature = _kept("curvature", lambda: RemoteCurvature)
    along = _asked("along")
    draw = _kept("draw", lambda: RemoteSubset)
    near = _kept("near", lambda: RemoteSubset)
    crossed = _kept("crossed", lambda: RemoteSubset)
    most_near = _asked("most_near")
    near_problem = _kept("near_problem", lambda: RemoteNear)

    def part(self, subset: Subset, *, scale: float = 1.0, gathered: bool = False) -> Any:
        """The sum over some examples; `gathered`: these come here, and the shard is one of this process."""
        named = {"scale": scale, "gathered": gathered}
        if gathered:
            return self._ask("part", (subset,), named)
        return self._keep(RemoteRoundedShard, "part", (subset,), named)

    def restricted(self, scores: Handle, subset: Subset, *, gathered: bool = False) -> Any:
        """The scores of some examples, where their `part` is."""
        return (
            self._ask("restricted", (scores, subset), {})
            if gathered
            else self._keep(Remote, "restricted", (scores, subset), {})
        )

    def stepped(self, p: Any, base: Handle | None, h: float) -> Reply[tuple[Remote, ShardPlane] | None]:
        """Scores and plane in one pass; None where it takes two."""
        key, made = self._there(Remote)

        def finish(sent: Any) -> tuple[Remote, ShardPlane] | None:
            return None if sent is None else (made(), sent[1])

        return self._ask("stepped", (p, base, h), {}, (key, None), finish)
