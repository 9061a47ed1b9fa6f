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

CASES = Path(__file__).parent / "family_cases.py"
FAMILIES = ["LinearSVC", "SVC", "RankSVM", "SequenceSVM", "StringSVC"]
PATIENCE = 300  # seconds: for a hang, not for a slow machine


def test_children_of_fork_train() -> None:
    process = subprocess.Popen(
        [sys.executable, CASES, *FAMILIES],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        said, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        pytest.fail(f"no end after {PATIENCE} s\n{said}")
    assert process.returncode == 0, said
