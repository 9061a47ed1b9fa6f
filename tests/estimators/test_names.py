"""Every public name is found, at the top and in `cutplane.estimators`, and is the same thing in both."""

from __future__ import annotations

import pytest

import cutplane
from cutplane import estimators


@pytest.mark.parametrize("name", estimators.__all__)
def test_a_name_is_the_same_thing_in_both(name: str) -> None:
    assert getattr(cutplane, name) is getattr(estimators, name)
    assert getattr(estimators, name).__name__ == name
    assert name in dir(cutplane)


def test_no_name_is_missing_in_the_list() -> None:
    assert set(estimators._MODULES) == set(estimators.__all__)
    assert set(cutplane.__all__) == {*estimators.__all__, "__version__"}


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match=r"'cutplane\.estimators' has no attribute 'nothing'"):
        _ = estimators.nothing
    with pytest.raises(AttributeError, match="'cutplane' has no attribute 'nothing'"):
        _ = cutplane.nothing
