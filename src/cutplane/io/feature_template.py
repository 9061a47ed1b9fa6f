"""Feature templates in the language of CRF++: which columns of which neighbours make the features of a token."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutplane.io.conll import Sentence

# No token is further away than this many places, no column further right.
_FURTHEST = 10_000
_REFERENCE = re.compile(r"%x\[(-?[0-9]+),([0-9]+)\]")


class TemplateError(ValueError):
    """A template that cannot be read; the message names the line."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line: a format, and the (offset, column) of what goes into it."""

    line: int
    format: str
    references: tuple[tuple[int, int], ...]


class FeatureTemplate:
    """Rules that make named features of the tokens of a sentence.

    A line such as ``U05:%x[-1,0]/%x[0,0]`` makes one feature of a token: its text, with each ``%x[offset,column]``
    replaced by that column of the token so many places on. Beyond the ends of a sentence stand ``_B-1``, ``_B-2``,
    ..., ``_B+1``, .... A line ``B`` stands for the weights of label pairs, which are always there. Blank lines and
    lines that begin with # are left out.

    Parameters
    ----------
    text : str
        The lines.
    name : str
        What to call it in errors.

    Examples
    --------
    >>> from cutplane.io.feature_template import FeatureTemplate
    >>> template = FeatureTemplate("U0:%x[0,0]\\nU1:%x[-1,0]/%x[0,1]\\nB")
    >>> template.apply([["He", "PRP"], ["reckons", "VBZ"]])
    [['U0:He', 'U1:_B-1/PRP'], ['U0:reckons', 'U1:He/VBZ']]
    """

    def __init__(self, text: str, name: str = "The template") -> None:
        self.text = text
        self.name = name
        self._rules = [
            self._rule(number, line.strip())
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.lstrip().startswith("#") and line.strip() != "B"
        ]
        if not self._rules:
            raise TemplateError(f"{name} has no rule; lines such as U00:%x[0,0] were expected.")
        offsets = [offset for rule in self._rules for offset, _ in rule.references]
        self._before, self._after = -min([0, *offsets]), max([0, *offsets])
        self.columns = 1 + max([-1, *(column for rule in self._rules for _, column in rule.references)])

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> FeatureTemplate:
        """The template in a file."""
        with open(path, encoding="utf-8", errors="replace") as file:
            return cls(file.read(), os.fspath(path))

    @classmethod
    def usual(cls, columns: int) -> FeatureTemplate:
        """Windows of two tokens to each side: singles of every column, pairs of the first, up to triples of others."""
        singles = [(offset,) for offset in range(-2, 3)]
        pairs, triples = [(k, k + 1) for k in range(-2, 2)], [(k, k + 1, k + 2) for k in range(-2, 1)]
        lines = ["U:bias"]
        for column in range(columns):
            for offsets in [*singles, *pairs[1:3]] if column == 0 else [*singles, *pairs, *triples]:
                references = "/".join(f"%x[{offset},{column}]" for offset in offsets)
                lines.append(f"U{len(lines):02}:{references}")
        return cls("\n".join(lines), "The usual template")

    def _rule(self, number: int, line: str) -> _Rule:
        if line[0] != "U":
            why = "rules for pairs of labels have no columns here" if line[0] == "B" else "rules begin with U"
            raise TemplateError(f"{self.name}, line {number}: {line!r} cannot be used; {why}.")
        parts = _REFERENCE.split(line)
        literals = parts[::3]
        if any("%x" in literal for literal in literals):
            raise TemplateError(f"{self.name}, line {number}: {line!r} has a %x that is not %x[offset,column].")
        references = tuple(
            (self._place(number, line, a), self._place(number, line, b))
            for a, b in zip(parts[1::3], parts[2::3], strict=True)
        )
        return _Rule(number, "%s".join(literal.replace("%", "%%") for literal in literals), references)

    def _place(self, number: int, line: str, digits: str) -> int:
        place = digits.lstrip("-").lstrip("0")
        if len(place) > len(str(_FURTHEST)) or int(place or "0") > _FURTHEST:
            shown = digits if len(digits) <= 24 else f"{digits[:20]}..."
            raise TemplateError(
                f"{self.name}, line {number}: {shown} is too far away; offsets and columns go up to {_FURTHEST}."
            )
        return int(digits)

    def apply(self, sentence: Sentence) -> list[list[str]]:
        """The names of the features of each token."""
        length, width = len(sentence), len(sentence[0])
        if width < self.columns:
            raise TemplateError(f"{self.name} uses column {self.columns - 1}, but tokens have {width} (0 the first).")
        before = [f"_B-{k}" for k in range(self._before, 0, -1)]
        after = [f"_B+{k}" for k in range(1, self._after + 1)]
        padded = [[*before, *(row[column] for row in sentence), *after] for column in range(self.columns)]
        by_rule = [self._values(rule, padded, length) for rule in self._rules]
        return [list(names) for names in zip(*by_rule, strict=True)]

    def _values(self, rule: _Rule, padded: Sequence[Sequence[str]], length: int) -> list[str]:
        if not rule.references:
            return [rule.format % ()] * length
        starts = [(column, self._before + offset) for offset, column in rule.references]
        parts = [padded[column][start : start + length] for column, start in starts]
        return [rule.format % values for values in zip(*parts, strict=True)]
