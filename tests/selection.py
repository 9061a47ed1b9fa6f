"""Which tests every run has, and which are left to `-m nightly`.

A test of several lists of cases keeps as many as show every entry of each list once, and not every combination; of
random draws, which are a range, a few. The rest, and what is marked `nightly` by hand, run at night, and a tenth of it
with `.ci/run`.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby
from typing import Any

import pytest

FEW = 3  # of the numbers of a range, which are seeds


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
    """Mark the cases that show no entry for the first time."""
    for _, group in groupby(items, lambda item: item.nodeid.partition("[")[0]):
        cases = [item for item in group if not item.get_closest_marker("nightly")]
        if len(cases) > 1:
            kept = covering([_values(case) for case in cases])
            for number, case in enumerate(cases):
                if number not in kept:
                    case.add_marker(pytest.mark.nightly)


def covering(cases: Sequence[frozenset[Hashable]]) -> set[int]:
    """Few cases that have every entry of all: each the one with the most entries that none before it has."""
    missing, kept = frozenset[Hashable]().union(*cases), set[int]()
    while missing:
        best = max(range(len(cases)), key=lambda number: len(cases[number] & missing))
        kept.add(best)
        missing -= cases[best]
    return kept


def _values(item: pytest.Item) -> frozenset[Hashable]:
    """What a case shows: an entry of each list of cases that the test has, but for numbers that are like any other."""
    call = getattr(item, "callspec", None)
    params = dict(call.params) if call else {}
    if "check" in params and "estimator" in params:  # scikit-learn's: each with one configuration of each class
        check = params["check"]
        return frozenset({(type(params["estimator"]), check.func.__name__, str(check.keywords))})
    marks = list(item.iter_markers("parametrize"))
    listed = {name for mark in marks for name in _names(mark)}
    of_fixtures = [([name], ()) for name in params if name not in listed]
    return frozenset(
        tuple((name, _key(params[name])) for name in names)
        for names, values in [*((_names(mark), _listed(mark)) for mark in marks), *of_fixtures]
        if not isinstance(values, range) or params[names[0]] in values[:FEW]
    )


def _listed(mark: pytest.Mark) -> Any:
    return mark.args[1] if len(mark.args) > 1 else mark.kwargs["argvalues"]


def _names(mark: pytest.Mark) -> list[str]:
    """The parameters that one list of cases is about."""
    names = mark.args[0] if mark.args else mark.kwargs["argnames"]
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _key(value: Any) -> Hashable:
    """Equal for equal words and numbers; any other value is one of its own."""
    return (type(value).__name__, value if isinstance(value, str | bytes | bool | int | float) else id(value))
