"""`help` of every estimator is complete: each parameter with its type, its default and what it does."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import pytest
from tests.estimators.common.family_cases import FITS

import cutplane
from cutplane.estimators.common.documented import documented, shown, table

CLASSES = [name for name in cutplane.estimators.__all__ if inspect.isclass(getattr(cutplane, name))]
ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.+)$")


def entries(described: Any, section: str) -> dict[str, tuple[str, str]]:
    """The type and the text of each name in a section of a docstring."""
    lines = inspect.getdoc(described).splitlines()
    begin = next(k for k, line in enumerate(lines) if line == section and lines[k + 1].startswith("---")) + 2
    found: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for line in lines[begin:]:
        if not line:
            break
        if line.startswith("    "):
            found |= {name: (found[name][0], f"{found[name][1]} {line.strip()}") for name in names}
            continue
        head = ENTRY.match(line)
        assert head, f"{described.__name__}: {line!r} has no type"
        names = head[1].split(", ")
        assert not found.keys() & set(names), f"{described.__name__}: {line!r} is there twice"
        found |= dict.fromkeys(names, (head[2], ""))
    return found


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_are_those_of_the_signature_in_its_order(name: str) -> None:
    described = getattr(cutplane, name)
    assert list(entries(described, "Parameters")) == list(inspect.signature(described).parameters)


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_says_what_it_does_and_its_default(name: str) -> None:
    described = getattr(cutplane, name)
    for parameter, (kind, text) in entries(described, "Parameters").items():
        assert text, f"{name}: nothing is said of {parameter}"
        default = inspect.signature(described).parameters[parameter].default
        told = re.search(r", default=(.+)$", kind)
        if parameter == "model":  # None stands for a model that a file could not hold
            continue
        assert told, f"{name}: {parameter} has no default"
        assert ast.literal_eval(told[1]) == default, f"{name}: {parameter}"


@pytest.mark.parametrize("name", CLASSES)
def test_every_attribute_says_what_it_is(name: str) -> None:
    silent = [each for each, (_, text) in entries(getattr(cutplane, name), "Attributes").items() if not text]
    assert not silent


@pytest.mark.parametrize("fit", FITS)
def test_every_attribute_of_a_fit_is_told(fit: str) -> None:
    model = FITS[fit](1)
    left = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert left <= set(entries(type(model), "Attributes"))


TABLE = table(
    """
    tol : float
        When it ends.
    way : {"a", "b"}
        How it goes,
        in two lines.
    upper_, lower_ : float
        Bounds.
    """
)


def test_names_alone_stand_for_what_the_table_says() -> None:
    @documented(TABLE)
    class Model:
        """A model.

        Parameters
        ----------
        own : int, default=3
            Its own.
        tol,
        way

        Attributes
        ----------
        upper_,
        lower_
        w_, b_
            Told together by the class.

        Examples
        --------
        tol
        """

        def __init__(self, own: int = 3, *, tol: float = 1e-3, way: str = "a") -> None: ...

    assert inspect.getdoc(Model) == inspect.cleandoc(
        """
        A model.

        Parameters
        ----------
        own : int, default=3
            Its own.
        tol : float, default=1e-3
            When it ends.
        way : {"a", "b"}, default="a"
            How it goes,
            in two lines.

        Attributes
        ----------
        upper_, lower_ : float
            Bounds.
        w_, b_
            Told together by the class.

        Examples
        --------
        tol
        """
    )


def test_a_name_that_no_table_has_is_an_error() -> None:
    class Model:
        """A model.

        Parameters
        ----------
        other
        """

    with pytest.raises(KeyError, match="other"):
        documented(TABLE)(Model)


def test_without_docstrings_nothing_is_described() -> None:
    class Model: ...

    assert documented(TABLE)(Model).__doc__ is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-3, "1e-3"), (2.5e-4, "2.5e-4"), (0.1, "0.1"), (10_000, "10_000"), (-1, "-1"), ("a", '"a"'), (None, "None")],
)
def test_defaults_are_shown_as_people_write_them(value: object, text: str) -> None:
    assert shown(value) == text
