"""`cutplane train --watch PORT`: the growing report of a run, on this machine alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator

from cutplane.report.live import LiveRun
from cutplane.report.live_server import LiveServer
from cutplane.solvers.result import OnStep, Step


@contextmanager
def watched(port: int | None, model: BaseEstimator, tol: float, progress: OnStep) -> Iterator[OnStep]:
    """What a run is to call with its steps: `progress`, and the page where one is asked for."""
    if port is None:
        yield progress
        return
    live = LiveRun(f"{type(model).__name__}, training", tol)
    with LiveServer(port, live.page) as server:
        print(f"watch  {server.address}", file=sys.stderr, flush=True)

        def both(step: Step) -> object:
            live(step)
            return progress(step)

        yield both
        live.end()
