"""How Sphinx builds the site; CONTRIBUTING.md has the command. Nothing is fetched from a network."""

from __future__ import annotations

import os
import re
import warnings
from importlib.metadata import version as installed_version
from pathlib import Path

# The gallery shows warnings of the examples: without the folder of the machine that built it.
warnings.formatwarning = lambda message, category, *place, **line: f"{category.__name__}: {message}\n"

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

project = "Cutplane"
author = "The Cutplane developers"
copyright = author
release = version = installed_version("cutplane")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_templates", "gallery/**/*.ipynb", "pictures"]
templates_path = ["_templates"]

# Pages are read on a code host, too: links are relative, headings have the names that hosts give them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's tables of parameters say them
numpydoc_show_class_members = False
default_role = "code"  # `name` is code in docstrings, as in Markdown
numpydoc_use_plots = False
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,  # a page that fetches its table from elsewhere
    "reset_modules": ("matplotlib",),
    "abort_on_example_error": True,
    "capture_repr": (),
}

html_theme = "pydata_sphinx_theme"
html_title = "Cutplane"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
toc_object_entries_show_parents = "hide"
html_copy_source = False
html_sidebars = {"index": [], "benchmarks": [], "coming-from-scikit-learn": []}  # what has no pages below it
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "logo": {"text": "Cutplane"},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Files beside docs/ that are pages of the site, by their name there.
OUTSIDE = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "README.md": "index.md",
    "examples/README.md": "gallery/index.rst",
}


def _on_the_site(text: str, target: str, written: Path, page: Path) -> str:
    """A link that stands in the file `written`, for the page of the site that shows it; the text alone if none does."""
    path, mark, anchor = target.partition("#")
    there = (written.parent / path).resolve()
    name = there.relative_to(ROOT).as_posix()
    shown = HERE / OUTSIDE[name] if name in OUTSIDE else there
    if there.is_dir() or (not shown.is_relative_to(HERE) and there.suffix == ".md"):
        return text
    return f"[{text}]({os.path.relpath(shown, page.parent)}{mark}{anchor})"


def _read(app: object, docname: str, source: list[str]) -> None:
    """Put a file from beside docs/ into its page, and lead links out of docs/ to pages of the site."""
    page = HERE / f"{docname}.md"
    written = {name: ROOT / path for path, name in OUTSIDE.items() if name != "index.md"}.get(f"{docname}.md", page)
    if not page.exists():
        return
    text = source[0] if written == page else written.read_text(encoding="utf-8")
    link = re.compile(r"(?<!!)\[([^\[\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")
    source[0] = link.sub(lambda found: _on_the_site(found[1], found[2], written, page), text)


def _docstring(app: object, what: str, name: str, each: object, options: object, lines: list[str]) -> None:
    """Docstrings are written to be read as they are: bars and final underscores have no second meaning."""
    for number, line in enumerate(lines):
        line = line.replace(":math:`", "`")  # of scikit-learn; formulas would fetch a script
        parts = re.sub(r":ref:`([^<`]*?)\s*(?:<[^`]*>)?`", r"\1", line).split("`")
        for outside in range(0, len(parts), 2):
            plain = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[outside]).replace("|", r"\|")
            parts[outside] = re.sub(r"\bdocs/([\w-]+)\.md\b", r":doc:`/\1`", plain)
        if not line.lstrip().startswith((">>>", "...")):
            lines[number] = "`".join(parts)


def setup(app: object) -> None:
    """What Sphinx calls."""
    app.connect("source-read", _read)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", _docstring, priority=600)  # type: ignore[attr-defined]  # after numpydoc
