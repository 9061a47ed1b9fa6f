"""Workers of a cluster killed at random moments of fits: every fit ends, and every model is proven.

`python -m tests.faults workers` prints a line for every fit and fails on one that takes too long (TIME) or whose
certificate is wrong (PROOF). Fits follow each other until so many workers have been killed.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from dask import delayed
from distributed import Client
from tests.faults.cluster_processes import cluster_of_processes

from cutplane import LinearSVC

PARTS, ROWS, FEATURES, WORKERS = 12, 8000, 12, 4
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"fit_intercept": False},
    {"loss": "squared_hinge"},
    {"loss": "logistic"},
    {"method": "oca", "fit_intercept": False},
)
TOL = 1e-5
# A fit takes this long at most; a worker takes a second or two to start again.
LONGEST = 120.0


def rows_of(number: int) -> Any:
    """Of a partition."""
    return np.random.default_rng(number).normal(size=(ROWS, FEATURES))


def labels_of(number: int) -> Any:
    """Of the same."""
    noise = np.random.default_rng(100 + number).normal(size=ROWS)
    return (rows_of(number) @ np.arange(FEATURES) + 5.0 * noise > 0.5).astype(int)


class Fit(NamedTuple):
    """A fit during which workers were killed: the moments, in seconds from its beginning, and how it ended."""

    options: dict[str, Any]
    model: LinearSVC
    seconds: float
    killed: list[float]

    def faults(self, alone: LinearSVC) -> list[str]:
        """What is wrong with it, if anything: its time or its proof."""
        model, faults = self.model, []
        if self.seconds >= LONGEST:
            faults.append(f"TIME: more than {LONGEST:.0f} s")
        if model.gap_ > TOL:
            faults.append(f"PROOF: a gap of {model.gap_:.1e}, more than {TOL:.0e}")
        if model.lower_bound_ > alone.objective_ or alone.lower_bound_ > model.objective_:
            own, other = ((each.lower_bound_, each.objective_) for each in (model, alone))
            faults.append(f"PROOF: bound and objective {own} contradict {other} of one process")
        return faults


def run(rounds: int, rng: random.Random) -> str:
    """Kill so many workers."""
    faults: list[str] = []
    killed, fits = 0, 0
    X, y = (np.concatenate([make(k) for k in range(PARTS)]) for make in (rows_of, labels_of))
    alone = [LinearSVC(tol=TOL, **options).fit(X, y) for options in OPTIONS]
    with cluster_of_processes(WORKERS) as scheduler, Client(scheduler_file=scheduler, timeout=60) as client:
        client.wait_for_workers(WORKERS, timeout=120)
        while killed < rounds:
            which = rng.randrange(len(OPTIONS))
            fit = _fit(client, OPTIONS[which], rng)
            found = fit.faults(alone[which])
            killed, fits = killed + len(fit.killed), fits + 1
            faults += found
            words = ", ".join(f"{moment:.2f} s" for moment in fit.killed) or "none in time"
            print(f"{killed:3d} killed: at {words}; {fit.options} took {fit.seconds:.2f} s", *found, flush=True)
    assert not faults, f"of {fits} fits went wrong:\n" + "\n".join(faults)
    return f"{killed} workers killed in {fits} fits: all ended in time, all proven"


def _fit(client: Client, options: dict[str, Any], rng: random.Random) -> Fit:
    client.wait_for_workers(2, timeout=120)  # some may still start again
    found = client.run(os.getpid, on_error="ignore").values()
    processes = [process for process in found if isinstance(process, int)]
    moments = sorted(rng.uniform(0.0, 1.5) for _ in range(rng.choice((1, 1, 2))))[: len(processes)]
    died: list[float] = []
    killer = threading.Thread(target=_kill, args=(rng.sample(processes, len(moments)), moments, died))
    before = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(2 * round(LONGEST))
    began = time.perf_counter()
    killer.start()
    try:
        rows, labels = ([delayed(make)(k) for k in range(PARTS)] for make in (rows_of, labels_of))
        model = LinearSVC(tol=TOL, **options).fit(rows, labels)
        seconds = time.perf_counter() - began
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        killer.join()
    return Fit(options, model, seconds, [moment for moment in died if moment < seconds])


def _hangs(*_: object) -> None:
    """The traceback says where."""
    raise AssertionError(f"TIME: a fit has not ended after {2 * round(LONGEST)} s")


def _kill(processes: list[int], moments: list[float], died: list[float]) -> None:
    began = time.perf_counter()
    for process, moment in zip(processes, moments, strict=True):
        time.sleep(max(0.0, moment - (time.perf_counter() - began)))
        with suppress(ProcessLookupError):  # ended by its nanny meanwhile
            os.kill(process, signal.SIGKILL)
            died.append(time.perf_counter() - began)
