"""Which benchmarks there are, found without importing them: a peer that is not installed hides none of them.

A benchmark is a module of this folder that runs as a script and takes ``--data``. Its name is the module's, its one
line the first of its docstring. At module level it may say, as plain literals,

    REPRODUCES = "Joachims 2006, Table 1"     what of a paper it measures again
    QUICK = ("--quick",)                      the arguments of a run of about a minute; () if every run is one
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
TOOLS = {"__main__", "datasets", "readme_table", "versions"}  # scripts that measure nothing, or only us against us


@dataclass(frozen=True)
class Benchmark:
    """What a script says of itself."""

    name: str
    path: Path
    title: str
    reproduces: str
    quick: tuple[str, ...]


def discover(folder: Path = FOLDER) -> list[Benchmark]:
    """Every benchmark, by name."""
    return [found for path in sorted(folder.glob("*.py")) for found in _read(path)]


def _read(path: Path) -> Iterator[Benchmark]:
    source = path.read_text()
    if path.stem in TOOLS or ('"--data"' not in source and "harness.parser" not in source):
        return
    tree = ast.parse(source)
    if not any(isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body):
        return
    said = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("REPRODUCES", "QUICK")
    }
    title = (ast.get_docstring(tree) or path.stem).splitlines()[0].rstrip(".")
    quick = said.get("QUICK", ("--quick",) if '"--quick"' in source or "harness.parser" in source else ())
    yield Benchmark(path.stem, path, title, said.get("REPRODUCES", ""), tuple(quick))
