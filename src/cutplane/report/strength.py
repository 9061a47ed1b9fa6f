"""Which features say most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array


def strongest(values: Array, most: int) -> NDArray[np.intp]:
    """Up to `most` of the largest positive and of the most negative values, from the largest down; zeros are out.

    Examples
    --------
    >>> import numpy as np
    >>> strongest(np.array([0.1, -3.0, 0.0, 2.0]), 1)
    array([3, 1])
    """
    order = np.argsort(-values, kind="stable")
    positive = [index for index in order[:most] if values[index] > 0]
    negative = [index for index in order[::-1][:most] if values[index] < 0][::-1]
    return np.array(positive + negative, dtype=np.intp)
