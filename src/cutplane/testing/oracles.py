"""The contract of structured models, as a check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutplane.structured import vectors
from cutplane.structured.base import StructuredModel

# What rounding may take from a score, relative to the sizes of its parts.
Found = TypeVar("Found")
_ROUNDING = 1e-8


def check_oracle(
    model: StructuredModel,
    X: Sequence[object],
    y: Sequence[object],
    *,
    labellings: Callable[[Any, Any, np.random.Generator], object] | None = None,
    slack: bool = False,
    trials: int = 10,
    seed: int = 0,
) -> None:
    """Check that a structured model keeps its contract on some examples.

    Features must be finite, the same each time and of one length; no loss negative and that of the truth 0; and no
    labelling tried may beat what the searches return, for random weights.

    Parameters
    ----------
    model : StructuredModel
    X, y : sequences
        Some examples and their labellings.
    labellings : callable, optional
        ``labellings(x, y, rng)`` gives a random labelling of x. Without it, rivals are the truth and what the searches
        find at other weights.
    slack : bool
        Whether `slack_augmented_argmax` is checked too.
    trials : int
        Random weights tried on each example.
    seed : int

    Raises
    ------
    AssertionError
        Saying what is wrong, and at which example.

    Examples
    --------
    >>> from cutplane.structured.classes import MulticlassModel
    >>> from cutplane.testing import check_oracle
    >>> model = MulticlassModel(["a", "b"])
    >>> check_oracle(model, [[1.0, 2.0]], ["a"], labellings=lambda x, y, rng: rng.choice(model.labels))
    """
    rng = np.random.default_rng(seed)
    dimension = vectors.size(vectors.as_vector(model.joint_feature(X[0], y[0])))
    for index in range(len(y)):
        x, truth = X[index], y[index]
        model.check(x, truth)
        own = model.loss(truth, truth)
        _require(own == 0.0, f"example {index}: loss(y, y) is {own}; it must be 0.")
        rivals = [truth] + ([] if labellings is None else [labellings(x, truth, rng) for _ in range(trials)])
        for rival in rivals:
            _check_features(model, index, x, rival, dimension)
        for w in _weights(rng, dimension, trials):
            found = [
                _called(index, "argmax", model.argmax, x, w),
                _called(index, "loss_augmented_argmax", model.loss_augmented_argmax, x, truth, w),
            ]
            rivals += found
            for rival in found:
                _check_features(model, index, x, rival, dimension)
            _check_searches(model, index, x, truth, w, found, rivals)
            if slack:
                _check_slack(model, index, x, truth, w, rivals)
            del rivals[trials + 20 :]


def _weights(rng: np.random.Generator, dimension: int, trials: int) -> list[NDArray[np.float64]]:
    """At zero the loss alone decides, at large weights the scores do."""
    return [np.zeros(dimension), *(scale * rng.normal(size=dimension) for scale in np.geomspace(1e-2, 1e2, trials))]


def _called(index: int, name: str, search: Callable[..., Found], *arguments: object) -> Found:
    try:
        return search(*arguments)
    except Exception as error:
        raise AssertionError(f"example {index}: {name} failed ({type(error).__name__}: {error}).") from error


def _check_features(model: StructuredModel, index: int, x: object, y: object, dimension: int) -> None:
    first, again = (
        vectors.to_dense(vectors.as_vector(_called(index, "joint_feature", model.joint_feature, x, y)))
        for _ in range(2)
    )
    _require(
        first.shape == (dimension,),
        f"example {index}: joint_feature has length {first.size}; that of example 0 has {dimension}.",
    )
    _require(np.isfinite(first).all(), f"example {index}: joint_feature is not finite.")
    _require(np.array_equal(first, again), f"example {index}: joint_feature gives another vector the second time.")


def _check_searches(
    model: StructuredModel,
    index: int,
    x: object,
    y: object,
    w: NDArray[np.float64],
    found: list[object],
    rivals: list[object],
) -> None:
    names = ("argmax", "loss_augmented_argmax")
    for name, labelling, weight in zip(names, found, (0.0, 1.0), strict=True):
        score, size = _score(model, index, x, y, labelling, w, weight)
        for rival in rivals if model.exact else ():
            other, other_size = _score(model, index, x, y, rival, w, weight)
            _require(
                score >= other - _ROUNDING * (size + other_size),
                f"example {index}: {name} found a labelling with {score!r}, but {_shown(rival)} has {other!r}.",
            )


def _score(
    model: StructuredModel, index: int, x: object, y: object, labelling: object, w: NDArray[np.float64], weight: float
) -> tuple[float, float]:
    """The score with `weight` times the loss, and the size of its parts."""
    features = vectors.to_dense(vectors.as_vector(model.joint_feature(x, labelling)))
    loss = float(_called(index, "loss", model.loss, y, labelling))
    _require(
        np.isfinite(loss) and loss >= 0.0,
        f"example {index}: the loss of {_shown(labelling)} is {loss!r}; it must be finite, 0 or greater.",
    )
    return float(features @ w) + weight * loss, float(np.abs(features) @ np.abs(w)) + loss


def _check_slack(
    model: StructuredModel, index: int, x: object, y: object, w: NDArray[np.float64], rivals: list[object]
) -> None:
    truth, truth_size = _score(model, index, x, y, y, w, 0.0)

    def height(labelling: object) -> tuple[float, float]:
        score, size = _score(model, index, x, y, labelling, w, 0.0)
        loss = float(model.loss(y, labelling))
        return loss * (1.0 - truth + score), loss * (1.0 + truth_size + size)

    best, best_size = height(_called(index, "slack_augmented_argmax", model.slack_augmented_argmax, x, y, w))
    for rival in rivals:
        other, size = height(rival)
        _require(
            best >= other - _ROUNDING * (size + best_size),
            f"example {index}: slack_augmented_argmax found a labelling with {best!r}, "
            f"but {_shown(rival)} has {other!r}.",
        )


def _shown(labelling: object) -> str:
    text = repr(labelling)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _require(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)
