"""The command in a process of its own: the quickstart, Ctrl-C, pipes, tracebacks, a terminal."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutplane.datasets import adult_svmlight
from cutplane.estimators.loading import load

CUTPLANE = [sys.executable, "-m", "cutplane"]


def cutplane(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CUTPLANE, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: Any) -> tuple[Path, str]:
    """The folder the quickstart was run in, and what it printed."""
    folder = tmp_path_factory.mktemp("quickstart")
    done = cutplane(folder, "quickstart")
    assert done.stderr == ""
    assert done.returncode == 0
    return folder, done.stdout


@pytest.mark.nightly
def test_quickstart_says_what_matters_and_where_it_is(quickstart: tuple[Path, str]) -> None:
    folder, out = quickstart
    assert re.search(r"proven within 0\.\d+ % of the optimum", out)
    accuracy = re.search(r"test accuracy +(\d+\.\d+) %", out)
    assert accuracy
    assert 84.0 < float(accuracy[1]) < 86.0
    for name in ("model.safetensors", "convergence.png", "adult-train.svm", "adult-test.svm"):
        assert f"cutplane-quickstart/{name}" in out
        assert (folder / "cutplane-quickstart" / name).stat().st_size > 0
    assert load(folder / "cutplane-quickstart" / "model.safetensors").gap_ <= 1e-3


@pytest.mark.nightly
def test_the_next_commands_work_as_printed(
    quickstart: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = quickstart
    shell, python = out.split("Try next:\n")[1].split("Or in Python:\n")
    shim = tmp_path / "cutplane"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cutplane "$@"\n')
    shim.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    commands = [line.strip() for line in shell.strip().splitlines()]
    assert len(commands) == 4
    for command in commands:
        # pipefail: a command whose reader goes away early has not failed.
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (command, done.returncode, done.stderr) == (command, 0, "")
        assert done.stdout
    monkeypatch.chdir(folder)
    exec("\n".join(line.strip() for line in python.strip().splitlines()), {})


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_the_model_with_its_gap(tmp_path: Path, number: int, status: int) -> None:
    (tmp_path / "adult.svm").write_bytes(adult_svmlight("train"))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        # Far more than can be proven: it would run until stopped.
        [*CUTPLANE, "train", "adult.svm", "m.safetensors", "--method", "cpa", "--C", "10", "--tol", "1e-12"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may have begun with it ignored
    )
    os.close(theirs)
    # The progress on the terminal tells that training has begun.
    shown = b""
    while b"iteration" not in shown:
        shown += os.read(ours, 4096)
    process.send_signal(number)
    out = _drain(process, ours)
    assert process.returncode == status
    assert "interrupted" in out
    model = load(tmp_path / "m.safetensors")
    assert model.stop_reason_ == "interrupted"
    assert 1e-12 < model.gap_ <= 1.0


# The command, and a signal at a moment that is known.
AT_IMPORT = "import os, signal; os.kill(os.getpid(), signal.{name})\n"
AT_SAVE = """
import os, signal
from cutplane.io import model_file
made = model_file.to_safetensors
def interrupted(*args):
    os.kill(os.getpid(), signal.{name})
    return made(*args)
model_file.to_safetensors = interrupted
from cutplane.cli import main
main()
"""


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "status", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
@pytest.mark.parametrize("module", ["typer", "sklearn", "rich"])
def test_a_signal_while_libraries_are_imported_is_one_line(
    tmp_path: Path, module: str, name: str, status: int, word: str
) -> None:
    (tmp_path / f"{module}.py").write_text(AT_IMPORT.format(name=name))
    places = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [*CUTPLANE, "quickstart"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", f"cutplane: {word}.\n")


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "status", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_a_signal_while_the_model_is_saved_waits_for_it(tmp_path: Path, name: str, status: int, word: str) -> None:
    (tmp_path / "d.svm").write_text("1 1:1\n-1 1:-1\n")
    done = subprocess.run(
        [sys.executable, "-c", AT_SAVE.format(name=name), "train", "d.svm", "m.safetensors"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stderr) == (status, f"cutplane: {word}.\n")
    assert load(tmp_path / "m.safetensors").stop_reason_ == "gap"
    assert sorted(os.listdir(tmp_path)) == ["d.svm", "m.safetensors"]


@pytest.mark.nightly
def test_a_signal_that_the_shell_ignores_stays_ignored(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_text("1 1:1\n-1 1:-1\n")
    done = subprocess.run(
        [sys.executable, "-c", AT_SAVE.format(name="SIGINT"), "train", "d.svm", "m.safetensors"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stderr) == (0, "")


def _drain(process: subprocess.Popen[str], terminal: int) -> str:
    """Read what is left on the terminal, so that the process is not held up by it."""
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass  # how a pseudo-terminal says that nobody writes to it any more
    os.close(terminal)
    return process.communicate()[0]


def test_bad_input_has_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_text("1 1:1\n-1 1:-1\n")
    done = cutplane(tmp_path, "info", "d.svm")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"cutplane: error: d\.svm is not a Cutplane model file.*\n", done.stderr)


@pytest.mark.nightly
def test_a_model_by_pipes(quickstart: tuple[Path, str], tmp_path: Path) -> None:
    """`cutplane train - - | cutplane predict - DATA`: nothing but the model is on stdout, what is said on stderr."""
    data, held = (quickstart[0] / "cutplane-quickstart" / f"adult-{part}.svm" for part in ("train", "test"))
    with open(data, "rb") as given:
        done = subprocess.run(
            [*CUTPLANE, "train", "-", "-"], stdin=given, capture_output=True, check=True, cwd=tmp_path
        )
    assert b"proven within" in done.stderr
    assert done.stderr.splitlines()[-1].split() == [b"model", b"stdout"]
    (tmp_path / "piped").write_bytes(done.stdout)
    assert cutplane(tmp_path, "train", str(data), "other", "-q").returncode == 0
    assert (load(tmp_path / "piped").coef_ == load(tmp_path / "other").coef_).all()
    assert cutplane(tmp_path, "info", "piped", "--reproduce").stdout.splitlines()[1:] == ['data = "-"', 'model = "-"']
    words = ["predict", "-", str(held)]
    predicted = subprocess.run([*CUTPLANE, *words], input=done.stdout, capture_output=True, check=True, cwd=tmp_path)
    assert predicted.stdout.decode() == cutplane(tmp_path, "predict", "other", str(held)).stdout
    export = [*CUTPLANE, "export", "-", "-", "--format", "json"]
    exported = subprocess.run(export, input=done.stdout, capture_output=True, check=True, cwd=tmp_path)
    assert exported.stdout.decode() == load(tmp_path / "piped").to_json()
    assert b"written  stdout" in exported.stderr


def test_a_model_is_not_written_to_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "data.svm").write_text("1 1:1\n-1 1:-1\n")
    master, slave = pty.openpty()
    done = subprocess.run(
        [*CUTPLANE, "train", "data.svm", "-"], cwd=tmp_path, stdout=slave, stderr=subprocess.PIPE, check=False
    )
    os.close(slave)
    os.close(master)
    assert done.returncode == 2
    assert b"which is a terminal here" in done.stderr


def test_stdin_is_read_once(tmp_path: Path) -> None:
    done = subprocess.run([*CUTPLANE, "predict", "-", "-"], input=b"", capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert b"one file alone can be -" in done.stderr


@pytest.mark.parametrize(
    ("stream", "words", "status"), [(0, "train - m", 2), (1, "train d.svm m", 1), (1, "info d.svm", 1)]
)
def test_a_closed_stream_is_one_sentence(tmp_path: Path, stream: int, words: str, status: int) -> None:
    (tmp_path / "d.svm").write_text("1 1:1\n-1 1:-1\n")
    shell = ["sh", "-c", f'exec "$@" {stream}{"<>"[stream]}&-', "sh", *CUTPLANE, *words.split()]
    done = subprocess.run(shell, stderr=subprocess.PIPE, check=False, text=True, cwd=tmp_path)
    assert done.returncode == status
    assert f"standard {('input', 'output')[stream]}" in done.stderr
    assert "closed" in done.stderr
    assert "mistake" not in done.stderr
