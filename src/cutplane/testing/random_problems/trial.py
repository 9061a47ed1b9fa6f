"""One problem trained in all its ways, and the failures that were found."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from cutplane._types import Params
from cutplane.testing.random_problems.judge import Claim, Failure, Truth, judge
from cutplane.testing.random_problems.problem import Problem

#: What may be refused, in the words of the documentation.
REFUSALS = (
    r"has only one class",
    r"have weight zero",
    r"is zero for every example",
    r"There is no pair to compare",
    r"method='newton' (needs|has no)",
    r"is infeasible",
    r"must give each class a finite weight",  # of a class without weight, "balanced" would be infinite
    r"must contain at least one non-zero number",
    r"beyond 1e\+70|below 1e\+70|is out of range",  # sizes that squares would overflow with
    r"must stay below 1e75",  # of squared losses, whose slopes are as large as squares of features
)


class Reader(Protocol):
    """Reads what models claim."""

    def claims(self, index: int, place: int, model: BaseEstimator) -> list[Claim]:
        """Of one model, for each of its problems."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What came of a problem."""

    failures: list[Failure]
    fits: int
    refused: list[str]
    reasons: list[str]


def run_trial(
    problem: Problem,
    reader: Reader,
    *,
    others: Sequence[tuple[int, Truth]] = (),
    rounding: float = 0.0,
    before: Callable[[int], None] = lambda index: None,
) -> Outcome:
    """Train in every way and judge all models together.

    Parameters
    ----------
    problem : Problem
    reader : Reader
    others : sequence of (part, Truth)
        Of weights from elsewhere.
    rounding : float
        Excesses up to this, relative to the objective, are let pass.
    before : callable
        Called with the index of each way before it is tried.
    """
    data: Params = {}
    exec(problem.data_source(), data)
    claims: list[Claim] = []
    failures: list[Failure] = []
    refused: list[str] = []
    for index, way in enumerate(problem.ways):
        before(index)
        try:
            models, warned = _trained(problem.way_source(way), dict(data))
        except ValueError as error:
            refused.append(str(error))
            failures += _refusal(error, index)
        except Exception as error:
            failures.append(Failure("exception", f"{type(error).__name__}: {error}", index))
        else:
            failures += [Failure("warning", str(message), index) for message in warned]
            for place, model in enumerate(models):
                claims += reader.claims(index, place, model)
    failures += judge(claims, others, rounding=rounding)
    return Outcome(failures, len(claims), refused, [claim.stop_reason for claim in claims])


def _trained(source: str, names: Params) -> tuple[list[BaseEstimator], list[str]]:
    """The models, and the warnings that no documentation speaks of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(source, names)
    known = (ConvergenceWarning, UserWarning)
    unknown = [f"{each.category.__name__}: {each.message}" for each in caught if not issubclass(each.category, known)]
    return names["models"], sorted(set(unknown))


def _refusal(error: ValueError, index: int) -> list[Failure]:
    """A refusal is one sentence, and one that is known."""
    text = str(error)
    if "\n" in text or not text.endswith("."):
        return [Failure("refusal is no sentence", f"{type(error).__name__}: {text}", index)]
    if any(re.search(pattern, text) for pattern in REFUSALS):
        return []
    return [Failure("refused", text, index)]
