"""The contract of models whose joint kernel factorises, as a check."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Integers
from cutplane.structured.base import StructuredModel
from cutplane.structured.factored import Choices, FactoredRisk

Array = NDArray[np.float64]

_ROUNDING = 1e-8


def check_factors(
    model: StructuredModel, X: Sequence[object], y: Sequence[object], *, trials: int = 5, seed: int = 0
) -> None:
    """Check that the `factors` of a structured model keep their contract on some examples.

    For random scores of rows: the hinge of an example is the loss of the labelling found plus its product with the
    direction, no labelling found at other scores beats it, an example has the same hinge alone as among others, no
    direction is longer than `reach` says, and no labelling tried scores higher than the one predicted.

    Parameters
    ----------
    model : StructuredModel
        One whose `factors` are not None.
    X, y : sequences
        Some examples and their labellings.
    trials : int
        Random scores tried.
    seed : int

    Raises
    ------
    AssertionError
        Saying what is wrong, and at which example.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.structured.classes import MulticlassModel
    >>> from cutplane.testing import check_factors
    >>> check_factors(MulticlassModel(["a", "b"]), np.array([[1.0], [2.0]]), ["a", "b"])
    """
    factors = model.factors()
    _require(factors is not None, f"{type(model).__name__} has no factors: its factors() is None.")
    assert factors is not None
    risk = factors.risk(X, y, n_threads=1)
    everyone = np.arange(risk.examples, dtype=np.int64)
    rows = int(factors.rows(X).shape[0])
    _require(risk.examples == len(y), f"the risk has {risk.examples} examples; there are {len(y)}.")
    _require(np.array_equal(risk.rows(everyone), np.arange(rows)), "all examples must own all rows, in their order.")
    rng = np.random.default_rng(seed)
    rivals: list[Choices] = []
    for scale in np.geomspace(0.1, 10.0, trials):
        scores, weights = scale * rng.normal(size=(rows, risk.columns)), scale * rng.normal(size=risk.explicit)
        found = risk.violations(everyone, scores, weights)
        rivals.append(found.labels)
        for example in range(risk.examples):
            _check_example(risk, example, scores, weights, found.values[example], rivals)
        _check_prediction(factors.risk(X, factors.label(X, scores, weights, n_threads=1), n_threads=1), scores, weights)


def _check_example(
    risk: FactoredRisk, example: int, scores: Array, weights: Array, value: float, rivals: list[Choices]
) -> None:
    alone = np.array([example])
    mine = scores[risk.rows(alone)]
    found = risk.violations(alone, mine, weights)
    rounding = _ROUNDING * (1.0 + float(np.abs(mine).sum()) + float(np.abs(weights).sum()))
    _require(found.values[0] >= 0.0, f"example {example}: the hinge is {found.values[0]!r}; none is negative.")
    _require(
        abs(found.values[0] - value) <= rounding,
        f"example {example}: the hinge is {found.values[0]!r} alone and {value!r} among others.",
    )
    _require(
        0.0 <= found.losses[0] <= risk.largest_loss,
        f"example {example}: a loss is {found.losses[0]!r}; the largest is said to be {risk.largest_loss!r}.",
    )
    height = float(found.losses[0]) + _along(risk, alone, found.labels, mine, weights)
    _require(
        abs(max(0.0, height) - found.values[0]) <= rounding,
        f"example {example}: the hinge is {found.values[0]!r}, but loss and direction make it {height!r}.",
    )
    for labels in rivals:
        chosen = risk.choose(labels, alone)
        coef, explicit = risk.direction(alone, chosen)
        length = float(np.sqrt(np.sum(coef**2) + np.sum(explicit**2)))
        reach = risk.reach(1.0)
        _require(
            length <= reach * (1.0 + _ROUNDING), f"example {example}: a direction of {length!r} is beyond {reach!r}."
        )
        other = _along(risk, alone, chosen, mine, weights)
        _require(
            other <= found.values[0] + rounding,
            f"example {example}: the hinge is {found.values[0]!r}, but a labelling without its loss has {other!r}.",
        )


def _check_prediction(risk: FactoredRisk, scores: Array, weights: Array) -> None:
    """`risk` takes what was predicted for the truth: no labelling may score higher."""
    everyone = np.arange(risk.examples, dtype=np.int64)
    found = risk.violations(everyone, scores, weights).labels
    for example in range(risk.examples):
        alone = np.array([example])
        mine = scores[risk.rows(alone)]
        more = _along(risk, alone, risk.choose(found, alone), mine, weights)
        rounding = _ROUNDING * (1.0 + float(np.abs(mine).sum()) + float(np.abs(weights).sum()))
        _require(more <= rounding, f"example {example}: a labelling scores {more!r} more than the one predicted.")


def _along(risk: FactoredRisk, example: Integers, labels: Choices, scores: Array, weights: Array) -> float:
    coef, explicit = risk.direction(example, labels)
    return float(np.vdot(coef, scores)) + float(explicit @ weights)


def _require(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)
