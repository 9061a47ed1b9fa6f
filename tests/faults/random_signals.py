"""Ctrl-C and SIGTERM at random moments of `cutplane train`."""

from __future__ import annotations

import collections
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cutplane import load
from cutplane.datasets import adult_svmlight

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_CUTPLANE = [sys.executable, "-m", "cutplane"]


def run(rounds: int, chance: random.Random) -> str:
    """Each signal at as many moments between the first line of the command and its end."""
    ends: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "adult.svm").write_bytes(adult_svmlight("train"))
        begin = time.monotonic()
        _finish(_start(Path(folder)))
        whole = 0.8 * (time.monotonic() - begin)
        for number in _WORDS:
            for _ in range(rounds):
                ends[_round(Path(folder), number, chance.uniform(0.0, whole))] += 1
    return f"{rounds} times each: {', '.join(f'{count} {end}' for end, count in sorted(ends.items()))}"


def _start(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*_CUTPLANE, "train", "adult.svm", "m.safetensors", "--tol", "1e-12", "--time-limit", "3", "--method", "cpa"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    await_handler(process)
    return process


def await_handler(process: subprocess.Popen[str]) -> None:
    """Wait until the command, and not yet Python alone, answers signals: Python catches no SIGTERM."""
    while process.poll() is None:
        caught = re.search(r"SigCgt:\s*([0-9a-f]+)", Path(f"/proc/{process.pid}/status").read_text())
        if caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.0005)


def _finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    errors = process.communicate()[1]
    return process.returncode, errors


def _round(folder: Path, number: signal.Signals, moment: float) -> str:
    path = folder / "m.safetensors"
    path.unlink(missing_ok=True)
    process = _start(folder)
    time.sleep(moment)
    process.send_signal(number)
    code, errors = _finish(process)
    where = f"{number.name} after {moment:.3f} s: exit {code}, {errors!r}"
    assert not [name for name in os.listdir(folder) if name.startswith(".cutplane-")], where
    model = load(path) if path.exists() else None
    if code in (0, 3):
        assert model is not None, where
        assert errors == "", where
        return "came too late"
    if code == -number and model is not None and errors == "":
        return "came when Python had shut down"
    assert code == 128 + number, where
    assert errors == f"cutplane: {_WORDS[number]}.\n", where
    if model is None:
        return "left at once"
    return "saved the model so far" if model.stop_reason_ == "interrupted" else "left after the model was saved"
