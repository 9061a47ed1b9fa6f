"""Every run shows every value of every parameter, and the slices of the night are all of it."""

from __future__ import annotations

from itertools import product

import pytest
from tests.selection import covering, first_cases, in_slice


def test_few_cases_have_every_value():
    cases = [frozenset(values) for values in product("abcdef", [1, 2, 3], [True, None])]
    kept = covering(cases)
    assert frozenset().union(*(cases[number] for number in kept)) == frozenset().union(*cases)
    assert len(kept) == 6


def test_cases_that_are_all_different_are_all_kept():
    assert covering([frozenset({number}) for number in range(40)]) == set(range(40))


def test_every_test_is_in_one_slice():
    names = [f"tests/test_a.py::test_b[{number}]" for number in range(200)]
    slices = [{name for name in names if in_slice(name, f"{part}/10")} for part in range(10)]
    assert sorted(name for each in slices for name in each) == sorted(names)
    assert all(slices)


def test_cases_after_the_first_few_are_for_the_night():
    first, second, third = first_cases(["a", ("b", 1), pytest.param("c", 2, id="third")], 1)
    assert first == "a"
    assert [mark.name for each in (second, third) for mark in each.marks] == ["nightly", "nightly"]
    assert (second.values, third.values, third.id) == ((("b", 1),), ("c", 2), "third")
