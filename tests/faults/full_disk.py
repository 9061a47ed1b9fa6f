"""Saving on a file system that is full: a small tmpfs, mounted in a name space of its own."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile

_FILLING = """
import sys, os
import numpy as np
from cutplane import LinearSVC, load
folder = sys.argv[1]
rng = np.random.default_rng(0)
fits = {d: LinearSVC(tol=0.1).fit(X := rng.normal(size=(20, d)), np.where(X[:, 0] > 0, 1, -1)) for d in (50, 50_000)}
path = os.path.join(folder, "m.safetensors")
for _ in range(int(sys.argv[2])):
    fits[50].save(path)
    try:
        fits[50_000].save(path)
    except OSError as error:
        assert "the disk is full; what was there before is untouched" in str(error), error
    else:
        raise AssertionError("the disk was not full")
    assert load(path).n_features_in_ == 50
    assert os.listdir(folder) == ["m.safetensors"]
"""


def run(rounds: int, chance: random.Random) -> str:
    """Save a small model and then a large one that does not fit, again and again."""
    with tempfile.TemporaryDirectory() as folder:
        mounted = f'mount -t tmpfs -o size=128k none {folder} && exec "$0" "$@"'
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mounted]
        done = subprocess.run(
            [*command, sys.executable, "-c", _FILLING, folder, str(rounds)], capture_output=True, text=True, check=False
        )
    if "unshare" in done.stderr or "mount" in done.stderr:
        raise SystemExit(f"full: no file system can be mounted here ({done.stderr.strip()}).")
    assert done.returncode == 0, done.stderr
    return f"{rounds} saves did not fit, and the model that was there loaded after each"
