"""The rules of the house that are facts about the repository, and what an installed package must contain.

Layout, lint, types and layers are the command `python -m tests.lint`.
"""

from __future__ import annotations

import importlib.metadata
import re
from importlib.resources import files
from pathlib import Path

import pytest

import cutplane

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = files("cutplane")  # with an editable install, more than one folder
FOLDERS = ("src", "core", "bindings", "tests", "benchmarks", "docs", "examples", ".ci", ".github")
TEXT = {".cpp", ".hpp", ".json", ".md", ".py", ".pyi", ".toml", ".txt", ".yaml", ".yml", ""}

# Lines of code at most. The core is to have 21,500: whoever takes lines away lowers the number.
BUDGETS = {("core", "bindings"): 23_825}

# Folders of one particular machine, which mean nothing on another. Written so as not to find itself.
MACHINE_PATH = re.compile(
    r"(?<![\w.~/:-])/(?:home|Users|root|work|mnt|opt|srv|workspace)/(?=\w)|\.\./" + "shared|file:" + "//"
)


def text_files() -> list[Path]:
    """The files of the repository that people write."""
    inside = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    return [
        path
        for path in [*sorted(ROOT.iterdir()), *inside]
        if path.is_file() and path.suffix in TEXT and not {"__pycache__", ".git"} & set(path.parts)
    ]


def lines_of(*folders: str) -> int:
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.[ch]pp")]
    assert files
    return sum(len(path.read_text().splitlines()) for path in files)


@pytest.mark.parametrize("folders", BUDGETS, ids=" ".join)
def test_there_is_no_more_code_than_the_budget_has(folders):
    assert lines_of(*folders) <= BUDGETS[folders]


@pytest.mark.parametrize("name", ["py.typed", "_core.pyi"])
def test_types_are_installed(name):
    assert (INSTALLED / name).is_file(), f"{name} is missing; pip install . brings it."


def test_stub_names_what_the_extension_has():
    from cutplane import _core

    stub = (INSTALLED / "_core.pyi").read_text()
    missing = [name for name in dir(_core) if not name.startswith("_") and not re.search(rf"\b{name}\b", stub)]
    assert not missing


def test_version_is_said_once():
    assert cutplane.__version__ == importlib.metadata.version("cutplane")


def test_no_file_names_a_machine_path():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in text_files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found, "\n".join(found)
