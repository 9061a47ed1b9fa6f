"""`cutplane train --checkpoint`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutplane.cli.app import run
from cutplane.datasets import adult_svmlight

SLOW = ("train", "adult.svm", "m.safetensors", "--method", "cpa", "--tol", "0.02", "--checkpoint", "run.ckpt", "--json")
# The command with a checkpoint after each iteration, killed after so many of them: at a moment that is known.
KILLED = """
import os, signal
from cutplane.estimators.common import checkpoint
checkpoint._MOST_OF_THE_TIME = 1e9
made, written = checkpoint.write_checkpoint, []
def then_killed(*args):
    made(*args)
    written.append(args)
    if len(written) == 100:
        os.kill(os.getpid(), signal.SIGKILL)
checkpoint.write_checkpoint = then_killed
from cutplane.cli import main
main()
"""


@pytest.mark.nightly
def test_the_same_command_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adult.svm").write_bytes(adult_svmlight("train"))
    done = subprocess.run([sys.executable, "-c", KILLED, *SLOW, "--checkpoint-every", "1e-9"])
    assert done.returncode == -signal.SIGKILL
    assert run([*SLOW]) == 0
    went_on = json.loads(capfd.readouterr().out)
    assert not os.path.exists("run.ckpt")
    assert run([*SLOW]) == 0
    whole = json.loads(capfd.readouterr().out)
    assert went_on["proven"] is True
    # planes that are written down are not sought again
    assert went_on["n_iter"] <= whole["n_iter"] - 50


def test_what_is_no_checkpoint_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.svm").write_text("1 1:1\n-1 1:0\n")
    Path("run.ckpt").write_text("mine")
    assert run(["train", "d.svm", "m.safetensors", "--checkpoint", "run.ckpt"]) != 0
    words = capfd.readouterr().err
    assert words.startswith("cutplane: error: run.ckpt is no checkpoint, or a damaged one (")
    assert words.count("\n") == 1
    assert Path("run.ckpt").read_text() == "mine"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--kernel", "rbf"), "is for models without --kernel"),
        (("--task", "sequence"), "needs --method oca with --task sequence"),
    ],
)
def test_models_without_planes_have_no_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any, more: tuple[str, str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.svm").write_text("1 1:1\n-1 1:0\n")
    assert run(["train", "d.svm", "m.safetensors", "--checkpoint", "run.ckpt", *more]) == 2
    assert words in " ".join(capfd.readouterr().err.replace("│", " ").split())
    assert run(["train", "d.svm", "m.safetensors", "--checkpoint", "d.svm"]) == 2
    assert "needs a file of its own" in capfd.readouterr().err


def test_a_checkpoint_of_sequences_goes_when_the_fit_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tokens").write_text("the D\ndog N\n\na D\ncat N\n")
    every = ["--checkpoint", "run.ckpt", "--checkpoint-every", "1e-9"]
    assert run(["train", "tokens", "m.safetensors", "--task", "sequence", "--method", "oca", "--quiet", *every]) == 0
    assert not Path("run.ckpt").exists()
