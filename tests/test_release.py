"""A release is what its tag says."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
WORKFLOW = (ROOT / ".github" / "workflows" / "wheels.yml").read_text()


def jobs() -> dict[str, str]:
    """The text of each job of the workflow."""
    parts = re.split(r"^  (\w+):.*$", WORKFLOW.partition("\njobs:\n")[2], flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def check(tag: str) -> int:
    """The step of the workflow, run as it stands there; its exit status."""
    (command,) = re.findall(r"run: python (\S+) \"\$TAG\"$", jobs()["sdist"], re.MULTILINE)
    return runpy.run_path(str(ROOT / command))["main"](tag)


def test_every_file_names_the_same_version():
    found = runpy.run_path(str(ROOT / "packaging" / "check_tag.py"))["versions"](ROOT)
    assert set(found.values()) == {VERSION}
    assert f"## [{VERSION}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_tag_of_this_version_passes(capsys):
    assert check(f"v{VERSION}") == 0
    assert capsys.readouterr().out.startswith(f"v{VERSION} is the version of pyproject.toml, ")


@pytest.mark.parametrize("tag", [VERSION, f"v{VERSION}.post1", "v99.0.0", ""])
def test_another_tag_ends_the_workflow_with_a_sentence(tag, capsys):
    assert check(tag) == 1
    assert f"The tag is {tag}, and the version in pyproject.toml is {VERSION}" in capsys.readouterr().err


def test_nothing_is_published_without_that_check():
    step = jobs()["sdist"].partition("the tag of a release is its version\n")[2]
    assert step.lstrip().startswith("if: github.event_name == 'release'\n")
    assert "TAG: ${{ github.ref_name }}" in step
    assert re.search(r"^    needs: \[.*\bsdist\b.*\]$", jobs()["publish"], re.MULTILINE)
