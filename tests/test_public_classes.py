"""Every public class shows how it is used, by an example that runs, and the command lists the estimators."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from typing import Any

import pytest

import cutplane.kernels
import cutplane.sources
import cutplane.structured
from cutplane.cli.app import run
from cutplane.cli.estimators import summary
from cutplane.plain.model import PlainModel
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import HierarchyModel, MulticlassModel
from cutplane.structured.matching import MatchingModel
from cutplane.structured.multilabel import MultilabelModel

ESTIMATORS = [name for name in cutplane.estimators.__all__ if inspect.isclass(getattr(cutplane, name))]
OTHERS = [PlainModel, ChainModel, HierarchyModel, MulticlassModel, MatchingModel, MultilabelModel]
PACKAGES = (cutplane.estimators, cutplane.kernels, cutplane.sources, cutplane.structured)


def public() -> dict[str, Any]:
    """The classes and functions of every `__all__`, and models that are imported from their own modules."""
    named = {name: getattr(package, name) for package in PACKAGES for name in package.__all__}
    shown = {name: each for name, each in named.items() if inspect.isclass(each) or name in ("load", "verify")}
    kept = {name: each for name, each in shown.items() if not (inspect.isclass(each) and issubclass(each, Exception))}
    return {**kept, **{each.__name__: each for each in OTHERS}}


PUBLIC = public()


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_docstring_runs(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    parsed = doctest.DocTestParser().get_doctest(inspect.getdoc(PUBLIC[name]) or "", {}, name, None, 0)
    assert parsed.examples, f"{name} has no example"
    outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(parsed)
    assert not outcome.failed


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_line_on_an_estimator_is_its_first_sentence(name: str) -> None:
    assert summary(name) == inspect.getdoc(getattr(cutplane, name)).partition("\n")[0].replace("`", "")
    assert len(summary(name)) > 20


def test_the_command_alone_lists_every_estimator(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ESTIMATORS:
        assert [line for line in lines if line.split()[:1] == [name]], name


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "cutplane"], capture_output=True, text=True, check=True)
    assert "\n  LinearSVC " in done.stdout
