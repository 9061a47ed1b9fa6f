"""Children of fork train as their parent does, whatever it has done before: no hang, the same bits.

In a process of its own, ended after a while: a hang must fail the test and leave nobody behind.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FAMILIES = ["LinearSVC", "SVC", "RankSVM", "SequenceSVM", "StringSVC"]
PATIENCE = 300  # seconds: for a hang, not for a slow machine


def check_ends_well(program: str, *arguments: str, **settings: str) -> None:
    process = subprocess.Popen(
        [sys.executable, HERE / program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=os.environ | settings | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        said, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        pytest.fail(f"no end after {PATIENCE} s\n{said}")
    assert process.returncode == 0, said


def test_children_of_fork_train() -> None:
    check_ends_well("family_cases.py", *FAMILIES)


@pytest.mark.nightly
def test_loops_of_scikit_learn_beside_ours() -> None:
    """Two libraries of OpenMP in one process: no hang, no thread more than a helper each, before and after a fork."""
    check_ends_well("beside_scikit_learn.py", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1")
