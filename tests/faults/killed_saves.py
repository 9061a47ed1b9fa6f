"""kill -9 in a loop of saves: the name always holds a whole model, or none."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cutplane import load

_SAVING = """
import sys
import numpy as np
from cutplane import LinearSVC
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 20_000))
model = LinearSVC(tol=0.1).fit(X, np.where(X[:, 0] > 0, 1, -1))
print("ready", flush=True)
while True:
    model.save(sys.argv[1])
"""


def run(rounds: int, chance: random.Random) -> str:
    """Start a process that saves, kill it after a moment, look."""
    loaded = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.safetensors"
        for _ in range(rounds):
            process = subprocess.Popen([sys.executable, "-c", _SAVING, path], stdout=subprocess.PIPE)
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0.0, 1.0))
            process.kill()
            process.wait()
            process.stdout.close()
            if path.exists():
                load(path)  # raises where it is not whole
                loaded += 1
        left = len(list(Path(folder).glob(".cutplane-*")))
    assert loaded, "no save was ever complete: the moments are too short"
    return f"{rounds} processes killed, {loaded} whole models under the name, {left} temporary files left beside it"
