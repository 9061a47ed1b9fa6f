"""Slack re-scaling for chains: the loss multiplies the violation, so the search must know how many labels are wrong.

As in Bauer, Görnitz, Biegler, Müller and Kloft (2014), for the Hamming loss.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.int32]


def best_by_mistakes(scores: Array, transitions: Array, truth: Labels) -> list[tuple[float, Labels]]:
    """For each number of mistakes, the best labelling with that many, and its score.

    Dynamic programming over places, mistakes so far and labels: length² · labels² steps. Labellings of many mistakes
    that do not exist, where there is one label only, score -inf.

    Parameters
    ----------
    scores : array of shape (length, n_labels)
        Of each token and label.
    transitions : array of shape (n_labels, n_labels)
        Of a label followed by another.
    truth : array of shape (length,)
    """
    length, n_labels = scores.shape
    wrong = (np.arange(n_labels) != truth[:, None]).astype(np.int64)
    reached = np.full((length, length + 1, n_labels), -np.inf)
    came_from = np.zeros((length, length + 1, n_labels), dtype=np.int32)
    labels = np.arange(n_labels)
    reached[0, wrong[0], labels] = scores[0]
    for t in range(1, length):
        moved = reached[t - 1][:, :, None] + transitions  # mistakes, label before, label
        best, where = moved.max(axis=1), moved.argmax(axis=1)
        for mistakes in range(t + 1):
            at = mistakes + wrong[t]
            reached[t, at, labels] = best[mistakes] + scores[t]
            came_from[t, at, labels] = where[mistakes]
    return [_trace(reached, came_from, wrong, mistakes) for mistakes in range(length + 1)]


def _trace(
    reached: Array, came_from: NDArray[np.int32], wrong: NDArray[np.int64], mistakes: int
) -> tuple[float, Labels]:
    length = len(reached)
    found = np.zeros(length, dtype=np.int32)
    label = int(np.argmax(reached[-1, mistakes]))
    score = float(reached[-1, mistakes, label])
    for t in range(length - 1, -1, -1):
        found[t] = label
        if t and score > -np.inf:
            label, mistakes = int(came_from[t, mistakes, label]), mistakes - int(wrong[t, label])
    return score, found
