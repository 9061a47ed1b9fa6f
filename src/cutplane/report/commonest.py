"""Whether predictions are any better than always the commonest label: for commands and reports alike."""

from __future__ import annotations

import math

import numpy as np

from cutplane._types import Labels

# Of the way from a constant answer's balanced accuracy to 1, how much is next to nothing.
_NEXT_TO_NOTHING = 0.1


def commonest_is_as_good(truth: Labels, predicted: Labels) -> bool:
    """Whether predictions are no better than always the commonest label.

    They may be right a little more often by chance: what they gain over the constant answer must exceed twice the
    standard deviation of a coin that decides each of the examples on which the two differ. A classifier that gives up
    accuracy to find rare classes is not meant: its balanced accuracy shows it.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array(["no"] * 960 + ["yes"] * 40)
    >>> commonest_is_as_good(truth, np.array(["no"] * 999 + ["yes"]))
    True
    >>> commonest_is_as_good(truth, truth)
    False
    """
    labels, codes, sizes = np.unique(truth, return_inverse=True, return_counts=True)
    if len(labels) < 2:
        return False
    commonest = codes == sizes.argmax()
    right = predicted == truth
    gained, lost = int(np.count_nonzero(right & ~commonest)), int(np.count_nonzero(~right & commonest))
    recalls = np.bincount(codes, weights=right) / sizes
    constant = 1.0 / len(labels)
    found = float(recalls.mean()) > constant + _NEXT_TO_NOTHING * (1.0 - constant)
    return gained - lost <= 2.0 * math.sqrt(gained + lost) and not found
