"""The estimators with a line on each, as the command lists them."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from cutplane import estimators


def listed() -> str:
    """A line for each estimator: its name and the first sentence of its documentation."""
    names = [name for name in estimators.__all__ if name[0].isupper()]
    width = max(map(len, names))
    return "\n".join(f"  {name:<{width}}  {summary(name)}" for name in sorted(names, key=str.lower))


def summary(name: str) -> str:
    """The first line of an estimator's docstring, read from its source: importing all of them takes seconds."""
    spec = find_spec(f"cutplane.estimators.{estimators._MODULES[name]}")
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    documented = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return (ast.get_docstring(next(documented)) or "").partition("\n")[0].replace("`", "")
