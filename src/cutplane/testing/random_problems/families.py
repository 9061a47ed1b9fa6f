"""All estimators that problems are drawn for, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from cutplane.testing.random_problems.kernel import KERNEL, KernelJudge
from cutplane.testing.random_problems.linear import LINEAR, LinearJudge
from cutplane.testing.random_problems.problem import Problem
from cutplane.testing.random_problems.strings import StringJudge, strings
from cutplane.testing.random_problems.structured import STRUCTURED, StructuredJudge
from cutplane.testing.random_problems.trial import Reader


class Family(NamedTuple):
    """How problems of an estimator are drawn, and who reads its models."""

    draw: Callable[[np.random.Generator], Problem]
    reader: Callable[[Problem], Reader]


FAMILIES: Mapping[str, Family] = {
    **{name: Family(draw, LinearJudge) for name, draw in LINEAR.items()},
    "StringSVC": Family(strings, StringJudge),
    **{name: Family(draw, StructuredJudge) for name, draw in STRUCTURED.items()},
    **{name: Family(draw, KernelJudge) for name, draw in KERNEL.items()},
}

#: One round of problems: more where there are more losses and settings.
ROUND = (*FAMILIES, *("LinearSVC",) * 5, *("LinearSVR",) * 2, *("LinearSVC-joint",) * 2, "RankSVM", "OrdinalSVC")


def drawn(names: tuple[str, ...], seed: int, number: int) -> tuple[Family, Problem]:
    """The problem of that number: the same every time."""
    family = FAMILIES[names[number % len(names)]]
    return family, family.draw(np.random.default_rng([seed, number]))
