"""The scripts under examples/ run as they stand, and say something."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.nightly
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_it_runs(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(plt, "show", lambda: None)
    runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    assert capsys.readouterr().out.strip()


def test_the_list_of_examples_is_complete():
    listed = set(re.findall(r"\]\((\w+\.py)\)", (FOLDER / "README.md").read_text()))
    assert listed == {script.name for script in SCRIPTS}
