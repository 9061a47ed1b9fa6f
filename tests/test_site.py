"""What the documentation site is made of, without Sphinx: pages that can be found, names that are in the reference."""

from __future__ import annotations

import ast
import inspect
import os
import re
import runpy
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import cutplane
import cutplane.datasets
import cutplane.kernels
import cutplane.metrics
import cutplane.plotting
import cutplane.sources
import cutplane.structured
import cutplane.testing

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MADE = ("gallery/", "reference/generated/")  # by the build
PACKAGES = (
    cutplane.datasets,
    cutplane.kernels,
    cutplane.metrics,
    cutplane.plotting,
    cutplane.sources,
    cutplane.structured,
    cutplane.testing,
)


def entries(page: Path) -> list[str]:
    """The pages that a page's toctrees list, by their names from docs/."""
    found = []
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        lines = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")]
        targets = [match[1] if (match := re.fullmatch(r".*<(.+)>", line)) else line for line in lines]
        found += [os.path.normpath(page.relative_to(DOCS).parent / target) for target in targets]
    return found


def reachable() -> list[str]:
    """Pages in the order in which toctrees lead to them, from the start page."""
    found, ahead = [], ["index"]
    while ahead:
        name = ahead.pop(0)
        found.append(name)
        if not name.startswith(MADE):
            ahead += entries(DOCS / f"{name}.md")
    return found


def assigned(path: Path, name: str) -> object:
    """A constant of a file that is not imported: Sphinx and matplotlib may be missing."""
    tree = ast.parse(path.read_text())
    values = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name]
    return ast.literal_eval(values[0])


def test_the_readme_fits_on_two_screens():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_every_page_is_in_one_toctree():
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    listed = [name for name in reachable() if not name.startswith(MADE)]
    assert sorted(listed) == sorted(pages)


def test_every_public_name_is_in_the_reference():
    text = "\n".join(path.read_text() for path in (DOCS / "reference").glob("*.md"))
    listed = set()
    for module, block in re.findall(r"currentmodule:: (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        listed |= {f"{module}.{name}" for name in re.findall(r"^   (\w+)$", block, re.MULTILINE)}
    wanted = {f"cutplane.{name}" for name in cutplane.estimators.__all__}
    for package in PACKAGES:
        names = getattr(package, "__all__", [name for name in vars(package) if not name.startswith("_")])
        members = {name: getattr(package, name) for name in names}
        wanted |= {
            f"{package.__name__}.{name}"
            for name, each in members.items()
            if callable(each)
            and not inspect.ismodule(each)
            and (hasattr(package, "__all__") or each.__module__ == package.__name__)
        }
    assert wanted <= listed, wanted - listed


def test_the_guide_names_every_estimator():
    guide = str(assigned(DOCS / "pictures" / "which_estimator.py", "GUIDE"))
    page = (DOCS / "which-estimator.md").read_text()
    classes = [name for name in cutplane.estimators.__all__ if inspect.isclass(getattr(cutplane, name))]
    for name in classes:
        assert re.search(rf"\b{name}\b", guide), f"{name} is not in the picture"
        assert re.search(rf"\b{name}\b", page), f"{name} is not in the table below it"


def test_the_readme_names_every_estimator():
    text = (ROOT / "README.md").read_text()
    classes = [name for name in cutplane.estimators.__all__ if inspect.isclass(getattr(cutplane, name))]
    assert not [name for name in classes if not re.search(rf"`\.?{name}\b|\b{name}`", text)]


def test_the_site_needs_its_extra_alone():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = {name.partition(".")[0].replace("_", "-") for name in assigned(DOCS / "conf.py", "extensions")}
    wanted |= {str(assigned(DOCS / "conf.py", "html_theme")).replace("_", "-")}
    brought = {re.split(r"[<>=\[]", each)[0] for each in settings["docs"]}
    assert wanted <= brought
    assert not brought & {re.split(r"[<>=\[]", each)[0] for each in settings["test"]} - {"cutplane"}


def test_the_command_that_builds_the_site_is_that_of_the_workflow():
    (command,) = re.findall(r"^pip install '\.\[docs\]' && (.*)$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert f"- run: {command}\n" in (ROOT / ".github" / "workflows" / "docs.yml").read_text()


def test_the_gallery_has_examples_enough_and_each_a_title():
    scripts = sorted((ROOT / "examples").glob("*.py"))
    assert len(scripts) >= 15
    for script in scripts:
        lines = script.read_text().splitlines()
        assert (lines[0], lines[2]) == ('"""', "=" * len(lines[1])), f"{script.name}: the docstring is its page's top"


def test_links_out_of_docs_lead_to_pages_of_the_site():
    settings = runpy.run_path(str(DOCS / "conf.py"))  # imports nothing but the standard library
    links = "[the rest](../../README.md#more), [how](../../CONTRIBUTING.md), [this](ofs.md#a)"
    source = [f"See {links}, [fuzz](../../tests/fuzz/README.md)."]
    settings["_read"](None, "results/README", source)
    assert source == ["See [the rest](../index.md#more), [how](../contributing.md), [this](ofs.md#a), fuzz."]
    source = ["a placeholder"]
    settings["_read"](None, "contributing", source)
    assert source[0].startswith("# Contributing")
    assert "[docs/releasing.md](releasing.md)" in source[0]


def test_marks_in_docstrings_have_no_second_meaning():
    settings = runpy.run_path(str(DOCS / "conf.py"))
    lines = ["`coef_` is not |w|, nor length_; see docs/certain.md.", ">>> model.coef_ | 1", "The :ref:`score <x>`."]
    settings["_docstring"](None, "", "", None, None, lines)
    assert lines == [
        r"`coef_` is not \|w\|, nor length\_; see :doc:`/certain`.",
        ">>> model.coef_ | 1",
        "The score.",
    ]


def test_the_badge_shows_the_percentage_that_coverage_reports(tmp_path):
    shown = runpy.run_path(str(DOCS / "pictures" / "coverage_badge.py"))
    report = tmp_path / "coverage.xml"
    report.write_text(
        '<coverage lines-valid="150" lines-covered="149" branches-valid="50" branches-covered="42" line-rate="0.99"/>'
    )
    assert shown["percent_covered"](report) == 95  # 191 of 200, rounded down
    for percent in (0, 74, 95, 100):
        picture = ElementTree.fromstring(shown["badge"](percent))
        assert [text.text for text in picture.findall(".//{*}text")] == ["coverage", f"{percent} %"]
