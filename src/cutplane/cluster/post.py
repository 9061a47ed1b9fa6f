"""Takes errands to the workers of a cluster, and their answers back; notices workers that are gone."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import cloudpickle
import numpy as np
from distributed import CancelledError, Client, get_worker, wait
from numpy.typing import NDArray

from cutplane._runtime.threads import openmp_threads
from cutplane.cluster.collections import where_it_fits
from cutplane.shards.rounds import FIRST, Call, Errand, Host
from cutplane.solvers.base import ShardLostError

# Seconds between two looks at which workers there are, while an answer is waited for.
_LOOK = 1.0
# And until a scheduler is asked again which of them are gone, when a connection broke.
_PAUSE = 0.1
# Seconds between two looks at whether workers have come.
_NEWCOMERS = 5.0
# So often examples are placed anew before a fit gives up: a cluster that loses workers all the time.
_MOST_PLACINGS = 100
# What dask.distributed says of an actor that was made, and is gone before anyone has heard of it.
_LOST = "Worker holding Actor was lost"
# Seconds until a fit on a cluster without a single worker gives up.
_MOST_WAITING = 600.0


class Hosts:
    """The parts that lie on one worker: an actor of dask.distributed.

    Parameters
    ----------
    numbers : sequence of int
        Of the parts.
    examples : sequence of PartExamples
        What each of them begins with.
    """

    def __init__(self, numbers: Sequence[int], examples: Sequence[Any]) -> None:
        self._examples = dict(zip(numbers, examples, strict=True))
        self._lock = threading.Lock()
        self.forget()

    def run(self, letter: bytes) -> bytes:
        """Make the calls of each part, with the threads that the worker has."""
        errands: Mapping[int, Errand] = pickle.loads(letter)
        with self._lock, openmp_threads(int(get_worker().state.nthreads)):
            return _letter({number: self._run(number, errand) for number, errand in errands.items()})

    def _run(self, number: int, errand: Errand) -> list[Any]:
        try:
            return self._hosts[number].run(errand)
        finally:
            self._examples[number].release()

    def drop(self, numbers: Sequence[int]) -> None:
        """Parts that lie elsewhere from now on."""
        with self._lock:
            for number in numbers:
                self._examples.pop(number, None)
                self._hosts.pop(number, None)

    def forget(self) -> None:
        """Go back to what parts begin with."""
        with self._lock:
            self._hosts = {number: Host(each) for number, each in self._examples.items()}


class _GoneError(Exception):
    """A worker is, and what it held."""


class Post:
    """Sends errands to the workers that hold the parts.

    Parameters
    ----------
    client : distributed.Client
    examples : sequence of Future
        What each part begins with, kept on the cluster. It has a `mark`, by which it is recognised.
    """

    def __init__(self, client: Client, examples: Sequence[Any]) -> None:
        self._client, self._examples = client, list(examples)
        self._actors: dict[str, Any] = {}
        self._hosts: dict[str, Any] = {}  # the futures of these
        self._at = dict.fromkeys(range(len(self._examples)), "")  # the actor of each part
        self._marks: dict[int, int] = {}
        self._placings = 0
        self._looked = time.monotonic()
        try:
            self._place_all()
        except BaseException:
            self.close()  # whoever keeps the error would keep the examples
            raise

    def __call__(self, errands: Mapping[int, Errand]) -> Mapping[int, Sequence[Any]]:
        """A round; ShardLostError where workers are gone or have come, and parts have been placed elsewhere."""
        try:
            if time.monotonic() - self._looked > _NEWCOMERS:
                self._looked = time.monotonic()
                self._share_with_newcomers()
            return self._round(errands)
        except _GoneError:
            self._place_all()
            raise ShardLostError("A worker is gone; its examples have been read again by others.") from None

    def close(self) -> None:
        """Let go of examples and of what was made of them; nothing can be asked any more."""
        self._actors.clear()
        # Whoever else still refers to them: cycles that wait for the garbage collector, an error that is kept.
        if self._client.status == "running":  # of one that is closed nothing is left
            self._client.cancel([*self._hosts.values(), *self._examples])
        self._hosts.clear()

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._examples)

    @property
    def marks(self) -> NDArray[np.int64]:
        """A checksum of each part."""
        return np.array([self._marks[number] for number in sorted(self._marks)])

    def _round(self, errands: Mapping[int, Errand]) -> dict[int, Sequence[Any]]:
        groups: dict[str, dict[int, Errand]] = {}
        for number, errand in errands.items():
            groups.setdefault(self._at[number], {})[number] = errand
        asked = [(actor, self._ask(actor, "run", _letter(group))) for actor, group in groups.items()]
        return {number: found for each in asked for number, found in pickle.loads(self._answer(*each)).items()}

    def _ask(self, actor: str, name: str, *args: Any) -> Any:
        try:
            return getattr(self._actors[actor], name)(*args)
        except (KeyError, RuntimeError, ValueError):  # so dask.distributed says that it knows the worker to be gone
            self._actors.pop(actor, None)
            raise _GoneError from None

    def _answer(self, actor: str, future: Any) -> Any:
        """What comes of a call, or of making an actor."""
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if self._is_there(actor):
                    continue
            except OSError:  # the connection is closed
                pass
            except RuntimeError as error:
                if _LOST not in str(error):  # one of ours
                    raise
            self._actors.pop(actor, None)
            raise _GoneError

    def _is_there(self, actor: str) -> bool:
        return _worker(actor) in self._client.nthreads()

    def _place(self, numbers: Iterable[int]) -> None:
        """Make hosts of parts where these lie, and see that they are what they were."""
        groups = self._whereabouts(list(numbers))
        made = {
            f"{worker}#{self._placings}": self._client.submit(
                Hosts, part, [self._examples[k] for k in part], actor=True, workers=[worker], pure=False
            )
            for worker, part in groups.items()
        }
        self._hosts |= made
        for actor, future in made.items():
            self._actors[actor] = self._answer(actor, future)
            self._at.update(dict.fromkeys(groups[_worker(actor)], actor))
        call = Call(FIRST, "mark", (), {}, None)
        found = self._round({number: Errand([call], []) for part in groups.values() for number in part})
        for number, (mark,) in found.items():
            if self._marks.setdefault(number, mark) != mark:
                raise ValueError(
                    f"Partition {number} was read again when a worker was lost, and is not what it was: what had been "
                    "proven of the fit does not hold for it. Its source must give the same rows each time."
                )

    def _whereabouts(self, numbers: Sequence[int]) -> dict[str, list[int]]:
        """The parts by the workers that hold them; parts that were lost are read again first."""
        wanted = [self._examples[number] for number in numbers]
        self._wait(wanted)
        places = self._client.who_has(wanted)
        groups: dict[str, list[int]] = {}
        for number, future in zip(numbers, wanted, strict=True):
            if future.status == "error":
                future.result()
            there = sorted(places.get(future.key) or ())
            if not there:
                raise _GoneError
            groups.setdefault(there[number % len(there)], []).append(number)
        return groups

    def _wait(self, wanted: Sequence[Any]) -> None:
        """Until the examples have been read, by whichever workers there are."""
        last = time.monotonic()
        while True:
            try:
                wait(wanted, timeout=_LOOK)
                return
            except TimeoutError:
                pass
            except CancelledError:  # so dask.distributed says that what it was made of is lost for good
                raise RuntimeError(
                    "A worker is gone, and with it partitions that were scattered: they cannot be read again. Delayed "
                    "partitions, and collections that are read or computed on workers, can."
                ) from None
            if self._client.nthreads():
                last = time.monotonic()
            elif time.monotonic() - last > _MOST_WAITING:
                raise RuntimeError(f"The cluster has had no worker for {_MOST_WAITING:.0f} seconds.")

    def _share_with_newcomers(self) -> None:
        """Give workers without a part some of those that others have several of: they cost them a pass."""
        loads: dict[str, list[int]] = {worker: [] for worker in self._client.nthreads()}
        for number, actor in self._at.items():
            loads.setdefault(_worker(actor), []).append(number)
        moved = _evened(loads)
        if not moved:
            return
        share = -(-len(self._examples) // len(loads))
        for number, worker in moved.items():
            self._examples[number] = self._client.submit(
                where_it_fits,
                self._examples[number],
                share,
                workers=[worker],
                allow_other_workers=True,
                pure=False,
            )
        for actor in {self._at[number] for number in moved}:
            self._answer(actor, self._ask(actor, "drop", list(moved)))
        self._at.update(dict.fromkeys(moved, ""))
        self._place_all()
        raise ShardLostError("Workers have come, and have been given examples.")

    def _place_all(self) -> None:
        """Place the parts that lie nowhere, at first or again; what others had made of examples is given up."""
        while True:
            self._placings += 1
            if self._placings > _MOST_PLACINGS:
                raise RuntimeError(f"Workers were lost {_MOST_PLACINGS} times in one fit.")
            try:
                self._actors = {actor: each for actor, each in self._actors.items() if self._is_there(actor)}
                # Of those that are gone they must not be kept: Dask would make the actors again.
                self._hosts = {actor: each for actor, each in self._hosts.items() if actor in self._actors}
                self._place([number for number, actor in self._at.items() if actor not in self._actors])
                for actor in self._actors:
                    self._answer(actor, self._ask(actor, "forget"))
                return
            except _GoneError:
                time.sleep(_PAUSE)


def _evened(loads: Mapping[str, list[int]]) -> dict[int, str]:
    """Which parts go to which workers that have none, so that these have as many as all in the mean."""
    mean = sum(map(len, loads.values())) // max(1, len(loads))
    left = {worker: list(numbers) for worker, numbers in loads.items()}
    moved: dict[int, str] = {}
    for worker in [worker for worker, numbers in loads.items() if not numbers]:
        for _ in range(mean):
            donor = max(left, key=lambda each: len(left[each]))
            number = left[donor].pop()
            left[worker].append(number)
            moved[number] = worker
    return moved


def _letter(content: Mapping[int, Any]) -> bytes:
    """Errands or answers, all in one piece, and what every part is sent but once."""
    with suppress(pickle.PicklingError, AttributeError, TypeError):
        plain = pickle.dumps(content)
        if b"__main__" not in plain:
            return plain
    # A loss of the user's own, which the module of that name is not known by elsewhere.
    letter: bytes = cloudpickle.dumps(content)
    return letter


def _worker(actor: str) -> str:
    """The address of the one it lives on."""
    return actor.rsplit("#", 1)[0]
