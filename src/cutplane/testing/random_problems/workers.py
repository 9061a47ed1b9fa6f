"""Problems in processes of their own, so that one that hangs can be ended and the others go on."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection

from cutplane.testing.random_problems.families import drawn
from cutplane.testing.random_problems.judge import Failure
from cutplane.testing.random_problems.reference import reference_truths
from cutplane.testing.random_problems.trial import Outcome, run_trial

# One problem in so many is put to a general solver, too.
_REFERENCE = 3


@dataclass(frozen=True)
class Order:
    """What to draw, and how strictly to judge.

    Attributes
    ----------
    names : tuple of str
        The estimators of a round.
    seed : int
    rounding : float
        What is wrong by no more, relative to the objective, is let pass.
    limit : float
        Seconds a call may take.
    references : bool
        Whether some problems are put to a general solver, too.
    """

    names: tuple[str, ...]
    seed: int
    rounding: float
    limit: float
    references: bool = True


def tried(order: Order, number: int, before: Callable[[int], None] = lambda index: None) -> Outcome:
    """The outcome of one problem."""
    family, problem = drawn(order.names, order.seed, number)
    asked = order.references and problem.small and number // len(order.names) % _REFERENCE == 0
    others = reference_truths(problem) if asked else []
    return run_trial(problem, family.reader(problem), others=others, rounding=order.rounding, before=before)


def _work(order: Order, pipe: Connection) -> None:
    """Answer numbers with outcomes, and say before each way that it begins."""
    while (number := pipe.recv()) is not None:
        try:
            outcome = tried(order, number, lambda index: pipe.send(index))
        except Exception:  # the judge's own: to be seen, not to end the run
            outcome = Outcome([Failure("judge", traceback.format_exc(), 0)], 0, [], [])
        pipe.send(outcome)


class Worker:
    """A process that tries problems; one that takes too long is ended, and a new one begun."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.number, self.way = -1, 0
        self._begin()

    def _begin(self) -> None:
        # One thread each: problems are small, and there is a worker for every processor.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(self.order, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def start(self, number: int) -> None:
        """Begin with a problem."""
        self.number, self.way = number, 0
        self.since = time.monotonic()
        self.waits = 10 * self.order.limit  # the process starts, and imports
        self.pipe.send(number)

    def look(self) -> Outcome | None:
        """The outcome, if there is one by now."""
        try:
            while self.pipe.poll():
                heard = self.pipe.recv()
                if isinstance(heard, Outcome):
                    return heard
                self.way, self.since, self.waits = heard, time.monotonic(), self.order.limit
        except EOFError:
            self.process.join()
            return self._ended(Failure("crash", f"the process ended with code {self.process.exitcode}", self.way))
        if time.monotonic() - self.since > self.waits:
            self.process.kill()
            self.process.join()
            return self._ended(Failure("slow", f"no answer within {self.order.limit:g} s", self.way))
        return None

    def _ended(self, failure: Failure) -> Outcome:
        self._begin()
        return Outcome([failure], 0, [], [])

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def outcomes(order: Order, jobs: int, goes_on: Callable[[int], bool]) -> Iterator[tuple[int, Outcome]]:
    """The numbers and outcomes of problems, for as long as another one is wanted."""
    workers = [Worker(order) for _ in range(jobs)]
    next_number, busy = 0, set[int]()
    try:
        while True:
            for index, worker in enumerate(workers):
                if index not in busy and goes_on(next_number):
                    worker.start(next_number)
                    busy.add(index)
                    next_number += 1
                if index in busy and (outcome := worker.look()) is not None:
                    yield worker.number, outcome
                    busy.discard(index)
            if not busy and not goes_on(next_number):
                return
            time.sleep(0.002)
    finally:
        for worker in workers:
            worker.stop()
