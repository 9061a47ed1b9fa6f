"""The walls between the rooms of the house, read from the syntax trees.

Solvers and objectives hold weights and handles: whatever there is one of for each example stays in a shard. And nobody
but the registry asks a risk or a source for its type.
"""

from __future__ import annotations

import ast
from pathlib import Path

import cutplane

PACKAGE = Path(cutplane.__file__).parent
HANDLES = {"scores"}  # attributes of points that hold handles
# What users hand over: strings that are packed already, or that will be.
INPUT = {
    "estimators/strings/string_input.py": {"StringCollection"},
}


def trees(*folders: str) -> list[tuple[str, ast.Module]]:
    files = sorted(path for folder in folders for path in (PACKAGE / folder).rglob("*.py"))
    return [(path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text())) for path in files]


def looks_inside(tree: ast.AST) -> list[int]:
    """Lines where a handle is indexed, computed with, compared, iterated or asked for an attribute."""
    found = []
    for node in ast.walk(tree):
        inner: list[ast.AST | None] = []
        if isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
            inner = [node.value]
        elif isinstance(node, ast.BinOp):
            inner = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            inner = [node.operand]
        elif isinstance(node, ast.Compare) and not all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            inner = [node.left, *node.comparators]
        elif isinstance(node, (ast.For, ast.comprehension)):
            inner = [node.iter]
        elif isinstance(node, ast.AugAssign):
            inner = [node.target, node.value]
        found += [node.lineno for each in inner if isinstance(each, ast.Attribute) and each.attr in HANDLES]
    return found


def named(folder: str) -> set[str]:
    """The public classes of a folder."""
    return {node.name for _, tree in trees(folder) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def type_questions(tree: ast.AST) -> list[tuple[int, set[str]]]:
    """Lines with isinstance or type(...), and the names that are asked for."""
    found = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            names = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
            found.append((node.lineno, names))
    return found


def test_nobody_looks_into_what_there_is_one_of_for_each_example() -> None:
    found = [f"{file}:{line}" for file, tree in trees("solvers", "objectives") for line in looks_inside(tree)]
    assert found == []


def test_looking_inside_is_noticed() -> None:
    for text in (
        "a.scores[0]",
        "2 * a.scores",
        "a.scores < 1",
        "for s in a.scores: pass",
        "a.scores.sum()",
        "-a.scores",
    ):
        assert looks_inside(ast.parse(text)), text
    for text in ("f(a.scores)", "a.scores is None", "x = a.scores", "source.scores(w) + 1"):
        assert not looks_inside(ast.parse(text)), text


def test_risks_and_sources_are_asked_for_their_types_by_the_registry_alone() -> None:
    kinds = named("risks") | named("sources")
    asked = []
    for file, tree in trees("solvers", "objectives", "shards", "estimators"):
        if file == "shards/registry.py":
            continue
        allowed: set[str] = INPUT.get(file, set())
        asked += [f"{file}:{line}: {name}" for line, names in type_questions(tree) for name in names & kinds - allowed]
    assert asked == []
