"""Workers of a cluster killed at random moments of fits: every fit ends, and every model is proven.

`python -m tests.faults workers` prints a line for every kill and fails on a fit that hangs or a certificate that is
wrong. Fits follow each other until so many workers have been killed.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from typing import Any

import numpy as np
from dask import delayed
from distributed import Client, LocalCluster

from cutplane import LinearSVC

PARTS, ROWS, FEATURES, WORKERS = 12, 8000, 12, 4
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"fit_intercept": False},
    {"loss": "squared_hinge"},
    {"loss": "logistic"},
    {"method": "oca", "fit_intercept": False},
)
# A fit takes this long at most; a worker takes a second or two to start again.
LONGEST = 120.0


def rows_of(number: int) -> Any:
    """Of a partition."""
    return np.random.default_rng(number).normal(size=(ROWS, FEATURES))


def labels_of(number: int) -> Any:
    """Of the same."""
    noise = np.random.default_rng(100 + number).normal(size=ROWS)
    return (rows_of(number) @ np.arange(FEATURES) + 5.0 * noise > 0.5).astype(int)


def run(rounds: int, rng: random.Random) -> str:
    """Kill so many workers."""
    wrong, killed, fits = 0, 0, 0
    X, y = (np.concatenate([make(k) for k in range(PARTS)]) for make in (rows_of, labels_of))
    alone = [LinearSVC(tol=1e-5, **options).fit(X, y) for options in OPTIONS]
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        while killed < rounds:
            client.wait_for_workers(2, timeout=60)  # some may still start again
            which = rng.randrange(len(OPTIONS))
            found = client.run(os.getpid, on_error="ignore").values()
            processes = [process for process in found if isinstance(process, int)]
            moments = sorted(rng.uniform(0.0, 1.5) for _ in range(rng.choice((1, 1, 2))))[: len(processes)]
            died: list[float] = []
            killer = threading.Thread(target=_kill, args=(rng.sample(processes, len(moments)), moments, died))
            began = time.perf_counter()
            killer.start()
            rows, labels = ([delayed(make)(k) for k in range(PARTS)] for make in (rows_of, labels_of))
            model = LinearSVC(tol=1e-5, **OPTIONS[which]).fit(rows, labels)
            seconds = time.perf_counter() - began
            killer.join()
            within = [moment for moment in died if moment < seconds]
            killed += len(within)
            other = alone[which]
            held = model.lower_bound_ <= other.objective_ and other.lower_bound_ <= model.objective_
            faults = {"WRONG": not held, "NOT PROVEN": model.gap_ > 1e-5, "TOO LONG": seconds >= LONGEST}
            wrong, fits = wrong + any(faults.values()), fits + 1
            words = ", ".join(f"{moment:.2f} s" for moment in within) or "none in time"
            said = " ".join(fault for fault, found in faults.items() if found)
            print(f"{killed:3d} killed: at {words}; {OPTIONS[which]} took {seconds:.2f} s {said}", flush=True)
    assert not wrong, f"{wrong} of {fits} fits went wrong"
    return f"{killed} workers killed in {fits} fits: all ended, all proven"


def _kill(processes: list[int], moments: list[float], died: list[float]) -> None:
    began = time.perf_counter()
    for process, moment in zip(processes, moments, strict=True):
        time.sleep(max(0.0, moment - (time.perf_counter() - began)))
        os.kill(process, signal.SIGKILL)
        died.append(time.perf_counter() - began)
