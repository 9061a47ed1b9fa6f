"""A scheduler and workers of dask.distributed, each a process of its own.

A `LocalCluster` will not do where workers are killed: 15 seconds after it has lost one, it closes the nanny that has
started another in its place meanwhile.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

# Workers whose scheduler is gone end by themselves after so many seconds, should this process be killed.
_ORPHANED = "30"


@contextmanager
def cluster_of_processes(workers: int) -> Iterator[str]:
    """The file by which clients find the scheduler; a nanny starts each worker again that is killed."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as ends:
        found = str(Path(folder) / "scheduler.json")
        at = ["--scheduler-file", found, "--no-dashboard"]
        ends.enter_context(_process("dask_scheduler", *at, "--host", "127.0.0.1", "--port", "0"))
        for number in range(workers):
            own = ["--nanny", "--nthreads", "1", "--name", f"worker-{number}", "--death-timeout", _ORPHANED]
            ends.enter_context(_process("dask_worker", *at, *own, "--local-directory", folder))
        yield found


@contextmanager
def _process(module: str, *options: str) -> Iterator[None]:
    """A command of dask.distributed in a session of its own, with which all that it starts is ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
