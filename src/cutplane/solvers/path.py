"""A whole path of C: planes do not depend on C, so each problem begins with the planes of those before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cutplane._runtime.deadline import interrupted
from cutplane.solvers.handover import Handover
from cutplane.solvers.result import Result

# Of a path that falls, the C within this factor of the largest: about as much work as all the others.
_DEAREST = 15.0


def chains(Cs: Sequence[float], *, falling: bool) -> list[list[float]]:
    """The grid as one chain or two, in the order in which each is followed.

    Small C come first: their problems are the easiest, and every plane found there is below the risk for the others
    too. Where dual variables are handed on and have bounds, large C come first: under lower bounds most of them stay as
    they are. The largest C of all then take as long as the others together, so that these are a chain of their own: an
    ascent has one thread, and two of them can run side by side.
    """
    ordered = sorted(set(map(float, Cs)), reverse=falling)
    if not falling:
        return [ordered]
    dearest = sum(ordered[0] <= _DEAREST * C for C in ordered)
    return [chain for chain in (ordered[:dearest], ordered[dearest:]) if chain]


def outward(Cs: Sequence[float]) -> list[float]:
    """The grid from its middle on, larger and smaller C in turn."""
    ordered = sorted(set(map(float, Cs)))
    middle = len(ordered) // 2
    return sorted(ordered, key=lambda C: (abs(ordered.index(C) - middle), -C))


def follow(
    chain: Sequence[float],
    train: Callable[[float, Handover], Result],
    enough: Callable[[], bool] = lambda: False,
) -> dict[float, Result]:
    """Train for every C, each from the planes, the incumbent and the dual variables of the one before.

    Each result has its own certificate, as if it had been trained alone.

    Parameters
    ----------
    chain : sequence of float
        In the order in which they are trained.
    train : callable
        (C, what the run before has left) -> result; it leaves what the next one begins with.
    enough : callable
        Asked before each C: whether those that are left need not be trained.

    Returns
    -------
    dict
        From each C that was trained to its result. A run that was interrupted ends the path: with KeyboardInterrupt,
        unless Ctrl-C is a wish that the caller knows of.
    """
    results: dict[float, Result] = {}
    handover = Handover()
    for C in chain:
        if enough():
            break
        handover.more = chain[-1] != C
        result = results[C] = train(C, handover)
        if result.stop_reason == "interrupted":
            if interrupted():
                break
            raise KeyboardInterrupt
    return results
