"""Objects that lie elsewhere: what is asked of them is written down, sent in rounds and answered.

A call whose result is a handle is written down, and nobody waits for it. One whose result is a number or an array gives
a `Reply`; the first that is looked at sends all that was written down, to all parts at once: one round.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

from cutplane.shards.base import Reply
from cutplane.solvers.base import ShardLostError

T = TypeVar("T")
# Of a result: sent back (None), kept under a key, or a tuple of which each is one or the other.
Wanted: TypeAlias = "int | tuple[int | None, ...] | None"

# The name of the call that asks for attributes, which are its arguments.
_FACTS = "<facts>"
#: The key of what a part begins with.
FIRST = 0


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
    """The objects of one part, where its examples lie: what it begins with, and what calls have made of it."""

    def __init__(self, first: object) -> None:
        self._objects: dict[int, Any] = {FIRST: first}

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
        self.lost = False  # with the round that asked for it: no other will bring it

    def arrived(self, sent: Any) -> None:
        """What came back."""
        self._found = (self._finish(sent),)

    def now(self) -> T:
        """The answer; a round is made where it is not there yet."""
        if self._found is None and not self.lost:
            self._line.send()
        if self._found is None:
            raise ShardLostError("An answer was lost.")
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
        How often what lay there was lost, but for what parts begin with.
    """

    def __init__(self, post: Send) -> None:
        self._post = post
        self._keys = itertools.count(FIRST + 1)
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
            for answer in itertools.chain(*waiting.values()):
                if answer is not None:
                    answer.lost = True
            raise
        for part, sent in replies.items():
            for answer, each in zip(waiting[part], sent, strict=True):
                if answer is not None:
                    answer.arrived(each)


class Remote:
    """Something of a part that lies under a key."""

    #: Attributes that do not change: asked for in the round that makes the object.
    facts: tuple[str, ...] = ()
    #: Those that are the same for what is derived from an object of the same kind: no round is made for them.
    inherited: frozenset[str] = frozenset()

    #: Those that need not be waited for.
    foretold: Mapping[str, Any] = MappingProxyType({})

    #: Of what can be made again after a loss: from what, and how.
    _recipe: tuple[Remote, str, Sequence[Any], Mapping[str, Any]] | None = None

    def __init__(self, line: Line, part: int, key: int) -> None:
        self._line, self._part, self._key, self._losses = line, part, key, line.losses
        self._known = self._ask(_FACTS, self.facts, {}) if self.facts else None

    def __del__(self) -> None:
        if self._losses == self._line.losses:
            self._line.forget(self._part, self._key)

    @classmethod
    def first(cls, line: Line, part: int) -> Self:
        """What a part begins with."""
        return cls(line, part, FIRST)

    def _found_again(self) -> int:
        """The key, after a loss as well: of what a part begins with, and of what is derived from it."""
        if self._losses != self._line.losses:
            self._key, self._losses = self._made_again(), self._line.losses
        return self._key

    def _made_again(self) -> int:
        if self._key == FIRST:
            return FIRST
        if self._recipe is None:
            raise ShardLostError("What had been made of examples is gone.")
        parent, name, args, named = self._recipe
        key = self._line.new_key()
        parent._write(name, args, named, key, None)
        return key

    def _fact(self, name: str) -> Any:
        if name in self.foretold:
            return self.foretold[name]
        parent = None if self._recipe is None else self._recipe[0]
        if name in self.inherited and isinstance(parent, type(self)):
            return parent._fact(name)
        if self._known is None or self._known.lost:
            self._known = self._ask(_FACTS, self.facts, {})
        return self._known.now()[self.facts.index(name)]

    def _keep(self, kind: type[R], name: str, args: Sequence[Any], named: Mapping[str, Any]) -> R:
        """What a method gives, kept there."""
        key = self._line.new_key()
        self._write(name, args, named, key, None)
        return kind(self._line, self._part, key)

    def _derive(self, kind: type[R], name: str, args: Sequence[Any] = (), **named: Any) -> R:
        """The same of a method that can be called again after a loss, and gives the same."""
        derived = self._keep(kind, name, args, named)
        derived._recipe = self, name, args, named
        return derived

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


def fact(name: str) -> Any:
    """An attribute that does not change."""
    return property(lambda self: self._fact(name))


def asked(name: str) -> Any:
    """A method whose result is sent back."""

    def method(self: Remote, *args: Any, **named: Any) -> Any:
        return self._ask(name, args, named)

    return method


def kept(name: str, kind: Callable[[], type[Remote]] = lambda: Remote) -> Any:
    """A method whose result stays there."""

    def method(self: Remote, *args: Any, **named: Any) -> Any:
        return self._keep(kind(), name, args, named)

    return method


def derived(name: str) -> Any:
    """A method without arguments whose result stays there, of the same kind, and is made again after a loss."""

    def method(self: Remote) -> Any:
        return self._derive(type(self), name)

    return method
