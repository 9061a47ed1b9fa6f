"""A whole path of C: planes do not depend on C, so each problem begins with the planes of those before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cutplane.solvers.result import Result


def follow(
    Cs: Sequence[float], train: Callable[[float, Result | None], Result], *, falling: bool = False
) -> list[Result]:
    """Train for every C, each from the planes and the incumbent of the one before.

    Small C come first: their problems are the easiest, and every plane found there is below the risk for the others
    too. Where dual variables are handed on, large C come first: under lower bounds most of them stay as they are. Each
    result has its own certificate, as if it had been trained alone.

    Parameters
    ----------
    Cs : sequence of float
        In any order, repeats allowed.
    train : callable
        (C, result to go on from or None) -> result.
    falling : bool
        Whether the largest C comes first.

    Returns
    -------
    list of Result
        In the order of `Cs`. A run that was interrupted ends the path with KeyboardInterrupt.
    """
    results: dict[float, Result] = {}
    last: Result | None = None
    for C in sorted(set(map(float, Cs)), reverse=falling):
        last = train(C, last)
        if last.stop_reason == "interrupted":
            raise KeyboardInterrupt
        results[C] = last
    return [results[float(C)] for C in Cs]
