"""The rules of the house: lint, layout, types, layers, and what an installed package must contain.

The same checks as in .pre-commit-config.yaml, here so that running the tests runs them too. Types and layers
are those of the installed package, which alone has the stub that the build generates.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import cutplane

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = Path(cutplane.__file__).parent
SETTINGS = ROOT / "pyproject.toml"
FOLDERS = ("src", "core", "bindings", "tests", "benchmarks", "docs", "examples", ".ci", ".github")
TEXT = {".cpp", ".hpp", ".json", ".md", ".py", ".pyi", ".toml", ".txt", ".yaml", ".yml", ""}

# Folders of one particular machine, which mean nothing on another. Written so as not to find itself.
MACHINE_PATH = re.compile(
    r"(?<![\w.~/:-])/(?:home|Users|root|work|mnt|opt|srv|workspace)/(?=\w)|\.\./" + "shared|file:" + "//"
)


def run(*command: str | os.PathLike[str], where: Path) -> None:
    """Run a checker; its report is the reason why the test fails."""
    done = subprocess.run(command, cwd=where, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}".strip()


def script(name: str) -> str:
    """A command installed beside the interpreter, whether or not its environment is activated."""
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    assert found, f"{name} is missing; pip install '.[test]' brings it."
    return found


def text_files() -> list[Path]:
    """The files of the repository that people write."""
    inside = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    return [
        path
        for path in [*sorted(ROOT.iterdir()), *inside]
        if path.is_file() and path.suffix in TEXT and not {"__pycache__", ".git"} & set(path.parts)
    ]


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_python_is_linted_and_laid_out(command):
    run(sys.executable, "-m", "ruff", *command, "--no-cache", ".", where=ROOT)


def test_cpp_is_laid_out():
    folders = [ROOT / folder for folder in ("core", "bindings", "tests/fuzz")]
    files = [path for folder in folders for path in sorted(folder.rglob("*.[ch]pp"))]
    assert files
    run(script("clang-format"), "--dry-run", "-Werror", *files, where=ROOT)


def test_warnings_of_the_compiler_are_errors_in_ci_alone():
    assert re.search(r"option\(CUTPLANE_WERROR .* OFF\)", (ROOT / "CMakeLists.txt").read_text())
    assert re.search(r"export CMAKE_ARGS=.*-DCUTPLANE_WERROR=ON", (ROOT / ".ci/run").read_text())


def test_types_of_the_installed_package(tmp_path):
    # From an empty folder, so that the name means the installed package and not the sources. The cache stays: the next
    # run of the tests checks what has changed.
    options = ("--config-file", SETTINGS, "--cache-dir", ROOT / ".mypy_cache" / "installed")
    run(sys.executable, "-m", "mypy", *options, "-p", "cutplane", where=tmp_path)


def test_imports_go_one_way(tmp_path):
    run(script("lint-imports"), "--config", SETTINGS, "--no-cache", where=tmp_path)


@pytest.mark.parametrize("name", ["py.typed", "_core.pyi"])
def test_types_are_installed(name):
    assert (INSTALLED / name).is_file(), f"{name} is missing; pip install . (not editable) installs it."


def test_stub_names_what_the_extension_has():
    from cutplane import _core

    stub = (INSTALLED / "_core.pyi").read_text()
    missing = [name for name in dir(_core) if not name.startswith("_") and not re.search(rf"\b{name}\b", stub)]
    assert not missing


def test_version_is_said_once():
    assert cutplane.__version__ == importlib.metadata.version("cutplane")
    assert f"## [{cutplane.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_no_file_names_a_machine_path():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in text_files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found, "\n".join(found)
