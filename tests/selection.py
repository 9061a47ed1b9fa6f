"""Which tests every run has, and which are left to `-m nightly`.

A test of many cases keeps as many as show every value of each of its parameters once: every entry of a registry, and
not every combination. The rest, and what is marked `nightly` by hand, run at night, and a tenth of it with `.ci/run`.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby
from typing import Any

import pytest

ALIKE = {"seed", "number", "trial"}  # parameters of random draws: the first few of them are run
FEW = 3


def first_cases(cases: Iterable[Any], keep: int) -> list[Any]:
    """The cases of a parameter whose entries are much the same: those after the first few are nightly.

    A case of several parameters is a `pytest.param`.
    """
    return [case if number < keep else at_night(case) for number, case in enumerate(cases)]


def at_night(case: Any) -> Any:
    """A case of a parameter, for the night."""
    values, marks, name = case if isinstance(case, type(pytest.param())) else ((case,), (), None)
    return pytest.param(*values, marks=[*marks, pytest.mark.nightly], id=name)


def in_slice(name: str, part: str) -> bool:
    """Whether a test is in part K of N, written K/N. Each is in one part."""
    number, _, parts = part.partition("/")
    return zlib.crc32(name.encode()) % int(parts) == int(number)


def mark_combinations(items: Sequence[pytest.Item]) -> None:
    """Mark the cases that show no value for the first time."""
    for _, group in groupby(items, lambda item: item.nodeid.partition("[")[0]):
        cases = [item for item in group if not item.get_closest_marker("nightly")]
        if len(cases) > 1 and not cases[0].get_closest_marker("every_case"):
            kept = covering([_values(case) for case in cases])
            for number, case in enumerate(cases):
                if number not in kept:
                    case.add_marker(pytest.mark.nightly)


def covering(cases: Sequence[frozenset[Hashable]]) -> set[int]:
    """Few cases that have every value of all: each the one with the most values that none before it has."""
    missing, kept = frozenset[Hashable]().union(*cases), set[int]()
    while missing:
        best = max(range(len(cases)), key=lambda number: len(cases[number] & missing))
        kept.add(best)
        missing -= cases[best]
    return kept


def _values(item: pytest.Item) -> frozenset[Hashable]:
    """What a case shows: the value of every parameter, but for numbers that are like any other."""
    call = getattr(item, "callspec", None)
    params = call.params if call else {}
    if "check" in params and "estimator" in params:  # scikit-learn's: each with one configuration of each class
        check = params["check"]
        return frozenset({(type(params["estimator"]), check.func.__name__, str(check.keywords))})
    return frozenset(
        (name, type(value).__name__, value if isinstance(value, str | bytes | bool | int | float) else id(value))
        for name, value in params.items()
        if not (name in ALIKE and isinstance(value, int) and value >= FEW)
    )
