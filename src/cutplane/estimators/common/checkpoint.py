"""Checkpoints of a fit: what its runs have reached, written every so often, so that a fit that was killed goes on.

Planes are below the risk of their own data and of no other, so a checkpoint serves these data alone: a key of them goes
with it. What is reported in the end the prover computes from the weights and the planes, as ever.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from cutplane._runtime.warned import users_line
from cutplane._types import Arrays, Document
from cutplane.estimators.common.checkpoint_entries import Entry, P, Run
from cutplane.io.atomic import OutputError, check_writable
from cutplane.io.checkpoint_file import CheckpointError, read_checkpoint, write_checkpoint
from cutplane.objectives.generic import Objective
from cutplane.proof.prover import Prover
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import Result, Step
from cutplane.solvers.run import Settings

# Writing takes no more than this share of the time.
_MOST_OF_THE_TIME = 0.05
# Runs that ended by themselves; others are gone on with.
_ENDED = ("gap", "stalled", "max_iter")
_UNFIT = (KeyError, TypeError, ValueError, AttributeError)

OnStep: TypeAlias = Callable[[Step], object]


class Checkpoint:
    """The checkpoint of one fit: read when it begins, written while it runs, removed when it ends.

    Parameters
    ----------
    path : path-like or None
        None keeps no checkpoint.
    every : float
        Seconds from one to the next; more where writing takes long.
    key : callable
        Gives what the planes depend on, a digest for each name.
    """

    def __init__(self, path: str | os.PathLike[str] | None, every: float, key: Callable[[], Mapping[str, str]]) -> None:
        self._path = None if path is None else Path(path)
        self._every = every
        self._key: dict[str, str] = {}
        self._entries: dict[int, Entry] = {}
        self._due = time.perf_counter() + every
        if self._path is not None:
            check_writable(self._path)
            found = read_checkpoint(self._path)
            self._key = dict(key())
            if found is not None:
                self._take(self._path, *found)

    def watching(self, index: int, ledgers: list[Ledger], on_step: OnStep | None) -> OnStep | None:
        """What to call with each step of a problem, whose ledger comes last; it calls `on_step`, too."""
        if self._path is None:
            return on_step

        def look(step: Step) -> object:
            if time.perf_counter() >= self._due:
                self.write(index, ledgers[-1])
            return None if on_step is None else on_step(step)

        return look

    def ended(self, index: int, run: Settings, objective: Objective, prover: Prover) -> Result | None:
        """The result of a problem that has ended, proven again; None where such a run has still to be made."""
        entry = self._entries.get(index)
        try:
            if entry is None or not entry.has_ended(run):
                return None
            result, witness = entry.result(run, objective), entry.witness(objective)
        except _UNFIT as error:
            raise self._damaged(error) from error
        upper, lower, radius = run.proven(prover, result.w, result.intercept, witness)
        if result.stop_reason == "gap" and not run.stopping.proven(upper, lower, run.C):
            return None
        history = [*result.history[:-1], replace(result.history[-1], upper=upper, lower=lower)]
        return replace(result, upper=upper, lower=lower, radius=radius, history=history)

    def warm(self, index: int, run: Run[P], objective: P) -> Result | None:
        """What a run goes on from; None where nothing is known of the problem."""
        entry = self._entries.pop(index, None)
        try:
            return None if entry is None else entry.result(run, objective)
        except _UNFIT as error:
            raise self._damaged(error) from error

    def note(self, index: int, run: Run[P], result: Result, ledger: Ledger) -> None:
        """Keep what a run ended with; one that was ended early is written down, to be gone on with."""
        if self._path is None:
            return
        if result.stop_reason in _ENDED:
            self._entries[index] = Entry.ended(result, ledger.witness, run)
        elif result.stop_reason == "interrupted":
            self.write(index, ledger)

    def write(self, index: int, ledger: Ledger) -> None:
        """Write what has been reached, in the problem under way as well; where that fails, the fit goes on."""
        if self._path is None or ledger.incumbent is None:
            return
        begin = time.perf_counter()
        entries = {**self._entries, index: Entry.running(ledger)}
        arrays = {f"{k}.{name}": array for k, entry in entries.items() for name, array in entry.arrays.items()}
        problems = {str(k): entry.about for k, entry in entries.items()}
        try:
            write_checkpoint(self._path, arrays, {"key": self._key, "problems": problems})
        except OutputError as error:
            warnings.warn(f"The fit goes on without a new checkpoint: {error}", RuntimeWarning, stacklevel=users_line())
        now = time.perf_counter()
        self._due = now + max(self._every, (now - begin) / _MOST_OF_THE_TIME)

    def remove(self) -> None:
        """The fit has ended."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _take(self, path: Path, arrays: Arrays, metadata: Document) -> None:
        try:
            theirs = {str(name): str(value) for name, value in metadata["key"].items()}
            for number, about in metadata["problems"].items():
                begin = f"{number}."
                own = {name.removeprefix(begin): array for name, array in arrays.items() if name.startswith(begin)}
                self._entries[int(number)] = Entry(own, {"reason": about["reason"], **about})
        except _UNFIT as error:
            raise self._damaged(error) from error
        names = [*self._key, *(name for name in theirs if name not in self._key)]
        others = [name for name in names if self._key.get(name) != theirs.get(name)]
        if others:
            differing = others[0] if len(others) == 1 else f"{', '.join(others[:-1])} and {others[-1]}"
            raise CheckpointError(
                f"{path} is the checkpoint of another fit: {differing} differ; delete the file, or name another."
            )

    def _damaged(self, error: Exception) -> CheckpointError:
        return CheckpointError(
            f"{self._path} is a damaged checkpoint, or one of another version ({error}); delete it, or name another "
            "file."
        )
