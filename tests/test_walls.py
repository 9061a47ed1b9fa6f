"""The walls between the rooms of the house, read from the syntax trees.

Solvers and objectives hold weights and handles: whatever there is one of for each example stays in a shard. And nobody
but the registry asks a risk or a source for its type.
"""

from __future__ import annotations

import ast
from pathlib import Path

import cutplane

PACKAGE = Path(cutplane.__file__).parent
# Attributes that hold handles: of points, of planes, of the interior point and its steps.
HANDLES = {"scores", "coef", "at", "each"}
# Who computes with what it is given: a handle is given to a shard.
COMPUTERS = {"np", "_core", "len", "sum", "min", "max", "abs", "float", "list", "tuple", "sorted", "zip", "map", "iter"}
# What writes proof files works on the coefficients themselves.
WITNESSES = {"solvers/witness.py"}
# What users hand over: strings that are packed already, or that will be.
INPUT = {
    "estimators/strings/string_input.py": {"StringCollection"},
}


def trees(*folders: str) -> list[tuple[str, ast.Module]]:
    files = sorted(path for folder in folders for path in (PACKAGE / folder).rglob("*.py"))
    return [(path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text())) for path in files]


def looks_inside(tree: ast.AST) -> list[int]:
    """Lines where a handle is indexed, computed with, compared, iterated or asked for an attribute."""
    local = local_handles(tree)
    return [node.lineno for node in ast.walk(tree) for each in touched(node) if is_handle(each, local)]


def touched(node: ast.AST) -> list[ast.AST]:
    """What a node of a syntax tree computes with."""
    match node:
        case ast.Subscript() | ast.Attribute() | ast.Starred():
            return [node.value]
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Compare() if not all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return [node.left, *node.comparators]
        case ast.For() | ast.comprehension():
            return [node.iter]
        case ast.AugAssign():
            return [node.target, node.value]
        case ast.Call() if {name.id for name in ast.walk(node.func) if isinstance(name, ast.Name)} & COMPUTERS:
            return [*node.args]
    return []


def is_handle(node: ast.AST, local: set[str]) -> bool:
    match node:
        case ast.Attribute(attr=name):
            return name in HANDLES
        case ast.Name(id=name):
            return name in local
    return False


def local_handles(tree: ast.AST) -> set[str]:
    """Names that a handle is given to."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and is_handle(node.value, set())]
    return {name.id for node in assigned for name in node.targets if isinstance(name, ast.Name)}


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
    files = [each for each in trees("solvers", "objectives") if each[0] not in WITNESSES]
    found = [f"{file}:{line}" for file, tree in files for line in looks_inside(tree)]
    assert found == []


def test_looking_inside_is_noticed() -> None:
    for text in (
        "a.scores[0]",
        "2 * a.scores",
        "a.scores < 1",
        "for s in a.scores: pass",
        "a.scores.sum()",
        "-a.scores",
        "np.abs(a.scores)",
        "len(problem.each)",
        "plane.coef @ v",
        "at = interior.at; at.dual",
    ):
        assert looks_inside(ast.parse(text)), text
    for text in ("f(a.scores)", "a.scores is None", "x = a.scores", "source.scores(w) + 1", "objective.at(w).w"):
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
