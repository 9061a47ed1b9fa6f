"""What the checks share: facts that must hold, numbers that must be equal up to rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# Sums of a few thousand products, in any order, agree to about this much of the sum of their sizes.
ROUNDING = 1e-12


def require(condition: object, message: str) -> None:
    """Raise AssertionError with the message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def require_close(found: ArrayLike, expected: ArrayLike, scale: ArrayLike, message: str) -> None:
    """Equal up to the rounding of sums whose terms have the size `scale`."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    require(found.shape == expected.shape, f"{message}: the shape is {found.shape} instead of {expected.shape}.")
    off = np.abs(found - expected)
    wrong = ~(off <= ROUNDING * np.asarray(scale))  # NaN is wrong, too
    if wrong.any():
        place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        where = f" at {tuple(int(k) for k in place)}" if place else ""
        raise AssertionError(f"{message}: {found[place]!r} instead of {expected[place]!r}{where}.")
