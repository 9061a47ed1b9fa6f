"""What the documentation shows works as it stands: Python, commands, figures, docstrings."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest
from benchmarks import readme_table

import cutplane
from cutplane.cli.app import run

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGE = Path(cutplane.__file__).parent
MODULES = sorted(
    ".".join(("cutplane", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)
)


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """The blocks of code of a page in one language, with the line each begins at."""
    text = page.read_text()
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in found]


def name(value: object) -> str | None:
    return value.relative_to(ROOT).as_posix() if isinstance(value, Path) else None


@pytest.mark.nightly
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name)
def test_python_examples_run(page, tmp_path, monkeypatch):
    """In the order of the page, each seeing what those before it made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(page, "python"):
        # Blank lines before it, so that a traceback names the line of the page.
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)


@pytest.mark.nightly
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=name)
def test_commands_run(page, tmp_path, monkeypatch, capsys):
    """Those of the library itself, one after the other in one folder; in one process, which imports libraries once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    for line, block in blocks(page, "sh"):
        for command in block.replace("\\\n", " ").splitlines():
            words = shlex.split(command.rpartition("&&")[2], comments=True)
            if words[:1] == ["cutplane"]:
                assert run(words[1:]) == 0, f"{name(page)}, line {line}: {command}\n{capsys.readouterr().err}"


def test_links_inside_the_repository_lead_somewhere():
    dead = [
        f"{name(page)}: {target}"
        for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert not dead


def test_results_in_the_readme_are_those_measured(monkeypatch):
    monkeypatch.setattr("sys.argv", ["readme_table.py", "--check"])
    readme_table.main()


@pytest.mark.nightly  # tests/test_public_classes.py runs those of public classes
@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried
    assert not failed
