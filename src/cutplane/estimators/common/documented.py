"""Descriptions that estimators share: written once, and in the docstring of each class that has the parameter.

A class describes what is its own. A line of names alone in its list of parameters or attributes, such as
``tol, max_iter``, stands for the descriptions that a table has of them; defaults are those of the signature.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

_NAMES = re.compile(r"\w+(, \w+)*,?")
_SECTIONS = ("Parameters", "Attributes")
_MANY = 10_000
_SMALL = 0.01


@dataclass(frozen=True)
class Description:
    """What is said of a name, or of several together.

    Attributes
    ----------
    names : tuple of str
    kind : str
        The type, as a reader needs it.
    text : tuple of str
        Lines.
    """

    names: tuple[str, ...]
    kind: str
    text: tuple[str, ...]

    def lines(self, defaults: Mapping[str, object]) -> Iterator[str]:
        """The entry in a docstring, with the default where there is one."""
        default = [f"default={shown(defaults[name])}" for name in self.names if name in defaults]
        yield f"{', '.join(self.names)} : {', '.join([self.kind, *default[:1]])}"
        yield from (f"    {line}" for line in self.text)


Table = Mapping[str, Description]


def table(text: str) -> dict[str, Description]:
    """Descriptions by name, from entries written as in a docstring, without their defaults."""
    found: dict[str, Description] = {}
    for entry in re.split(r"\n(?=\S)", inspect.cleandoc(text)):
        head, *rest = entry.splitlines()
        names, kind = head.split(" : ", 1)
        description = Description(tuple(names.split(", ")), kind, tuple(line.strip() for line in rest))
        found |= dict.fromkeys(description.names, description)
    return found


def documented(descriptions: Table) -> Callable[[type[T]], type[T]]:
    """Put descriptions into the docstring of a class, where it has nothing but names.

    Parameters
    ----------
    descriptions : mapping of str to Description
        By name; `KeyError` where a name has none.
    """

    def fill(described: type[T]) -> type[T]:
        if described.__doc__ is not None:  # python -OO has none
            described.__doc__ = "\n".join(_filled(inspect.cleandoc(described.__doc__), descriptions, described))
        return described

    return fill


def _filled(docstring: str, descriptions: Table, described: type) -> Iterator[str]:
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(described).parameters.items()
        if parameter.default is not parameter.empty
    }
    for section, lines in _sections(docstring.splitlines()):
        names: list[str] = []
        for line, below in zip(lines, [*lines[1:], ""], strict=True):
            told = below.startswith(" ")  # a class may describe several names itself
            if section in _SECTIONS and not told and _NAMES.fullmatch(line):
                names += line.rstrip(",").split(", ")
                continue
            yield from _entries(names, descriptions, defaults)
            names = []
            yield line
        yield from _entries(names, descriptions, defaults)


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The lines under each heading; headings and what comes first are under none."""
    rules = [number for number, line in enumerate(lines) if line.startswith("---")]
    ends = [*(number - 1 for number in rules), len(lines)]
    yield "", lines[: ends[0]]
    for rule, end in zip(rules, ends[1:], strict=True):
        yield "", lines[rule - 1 : rule + 1]
        yield lines[rule - 1], lines[rule + 1 : end]


def _entries(names: list[str], descriptions: Table, defaults: Mapping[str, object]) -> Iterator[str]:
    """The descriptions of names, each once where they share one."""
    for description in dict.fromkeys(descriptions[name] for name in names):
        yield from description.lines(defaults)


def shown(value: object) -> str:
    """A default as people write it: 1e-3, 10_000, "auto"."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, int) and value >= _MANY:
        return f"{value:_}"
    if isinstance(value, float) and 0.0 < value < _SMALL:
        digits, exponent = f"{value:e}".split("e")
        return f"{float(digits):g}e{int(exponent)}"
    return repr(value)
