"""Several classes by a machine for each pair of them: LIBSVM's order of coefficients, votes, coupled probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cutplane._types import Array


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """(0, 1), (0, 2), ..., (1, 2), ...: the first class of a pair is the positive one."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def places(n_classes: int) -> Iterator[tuple[int, int, int, int, int]]:
    """For each pair its number, its classes i < j and the rows that hold the coefficients of i's and of j's examples.

    An example of class c takes part in n_classes - 1 machines; row r is the one against class r, or r + 1 from c on.
    """
    for number, (i, j) in enumerate(pairs(n_classes)):
        yield number, i, j, j - 1, i


def votes(decisions: Array, n_classes: int, *, zero_to_first: bool = False) -> NDArray[np.int64]:
    """How many of its pairs each class wins, of shape (n, n_classes); a decision of 0 is the second's, if not said."""
    won = np.zeros((len(decisions), n_classes), np.int64)
    for number, (i, j) in enumerate(pairs(n_classes)):
        first = decisions[:, number] >= 0 if zero_to_first else decisions[:, number] > 0
        won[:, i] += first
        won[:, j] += ~first
    return won


def class_scores(decisions: Array, n_classes: int) -> Array:
    """A score for each class: its votes, and a fraction below one half that grows with its decision values.

    As in scikit-learn, a decision of exactly 0 is a vote for the first class here, and for the second in predictions.
    """
    confidence = np.zeros((len(decisions), n_classes))
    for number, (i, j) in enumerate(pairs(n_classes)):
        confidence[:, i] += decisions[:, number]
        confidence[:, j] -= decisions[:, number]
    return votes(decisions, n_classes, zero_to_first=True) + confidence / (3.0 * (np.abs(confidence) + 1.0))


def couple(pairwise: Array, n_classes: int) -> Array:
    """Class probabilities from those of the pairs (Wu, Lin and Weng 2004, their second method).

    With r_ij the probability of i against j, the p that minimises Σ_i Σ_j≠i (r_ji p_i - r_ij p_j)², Σ p = 1.
    """
    n = len(pairwise)
    r = np.zeros((n, n_classes, n_classes))
    for number, (i, j) in enumerate(pairs(n_classes)):
        r[:, i, j] = pairwise[:, number]
        r[:, j, i] = 1.0 - pairwise[:, number]
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = np.sum(r**2, axis=1)
    system[:, :-1, -1] = system[:, -1, :-1] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, -1] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
