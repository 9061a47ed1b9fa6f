"""What a chain says beside its best labelling: the next best ones, and what another label of a token would cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array


def best_labellings(scores: Array, transitions: Array, count: int) -> list[tuple[float, NDArray[np.intp]]]:
    """The labellings with the highest scores, best first; fewer than `count` where there are no more.

    Viterbi's search with the `count` best ways to each label instead of one (list Viterbi, Seshadri and Sundberg 1994).

    Parameters
    ----------
    scores : array of shape (length, n_labels)
        Of each token and label.
    transitions : array of shape (n_labels, n_labels)
        Of a label followed by another.
    count : int
    """
    length, n_labels = scores.shape
    if not length:
        return [(0.0, np.zeros(0, np.intp))]
    reached = scores[0][None, :]  # rank, label
    came_from: list[NDArray[np.intp]] = []  # the rank and label before, as rank · n_labels + label
    for t in range(1, length):
        ways = (reached[:, :, None] + transitions).reshape(-1, n_labels)  # rank and label before, label
        order = np.argsort(-ways, axis=0, kind="stable")[:count]
        reached = np.take_along_axis(ways, order, axis=0) + scores[t]
        came_from.append(order)
    ends = np.argsort(-reached.ravel(), kind="stable")[:count]
    return [(float(reached.ravel()[end]), _traced(came_from, int(end), n_labels)) for end in ends]


def _traced(came_from: list[NDArray[np.intp]], end: int, n_labels: int) -> NDArray[np.intp]:
    labels = [end % n_labels]
    for before in reversed(came_from):
        end = int(before[end // n_labels, end % n_labels])
        labels.append(end % n_labels)
    return np.array(labels[::-1])


def max_marginals(scores: Array, transitions: Array) -> Array:
    """For each token and label, the score of the best labelling that gives the token that label.

    Forwards and backwards in length · labels² steps. Parameters are those of `best_labellings`.
    """
    forward, backward = scores.copy(), np.zeros_like(scores)
    for t in range(1, len(scores)):
        forward[t] += (forward[t - 1][:, None] + transitions).max(axis=0)
    for t in range(len(scores) - 2, -1, -1):
        backward[t] = (transitions + scores[t + 1] + backward[t + 1]).max(axis=1)
    return np.asarray(forward + backward)


def token_margins(scores: Array, transitions: Array) -> Array:
    """For each token, how much the best labelling is above the best that gives the token another label.

    Infinite where there is one label only.
    """
    best = np.sort(max_marginals(scores, transitions), axis=1)
    return np.asarray(best[:, -1] - best[:, -2]) if best.shape[1] > 1 else np.full(len(best), np.inf)
