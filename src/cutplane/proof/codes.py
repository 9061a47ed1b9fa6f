"""Dual variables as small whole numbers.

All slopes that the loss has prove something, so they may be rounded to a few bits: a bound is nearly flat at its
best point. Slopes of one sign, as those of the hinge, are stored as 0 to 2^bits - 1 parts of the steepest; those of
both signs as whole numbers of either sign. Where the intercept is free, the heavier side is scaled down when they are
read, so that the sum of weighted slopes is zero but for rounding, which the checker charges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.losses import ScoreLoss

Array = NDArray[np.float64]

#: Sizes of codes, from the smallest.
BITS = (8, 16, 32)


class Codes(NamedTuple):
    """Slopes as whole numbers; `steepest` is what the largest of them stands for, where a loss has no limit."""

    numbers: NDArray[np.unsignedinteger]
    steepest: float


def encode(p: Array, loss: ScoreLoss, y: Array, bits: int) -> Codes:
    """The nearest code of each slope; no slope becomes steeper than the loss has them."""
    low, high, steepest = _limits(loss, y, float(np.abs(p).max(initial=0.0)))
    one_sided = not ((low < 0.0) & (high > 0.0)).any()
    levels = _levels(bits, one_sided)
    limit = np.where(p > 0.0, high, -low)
    share = np.divide(np.abs(p), limit, out=np.zeros_like(p), where=limit > 0.0)
    numbers = np.rint(np.clip(share, 0.0, 1.0) * levels)
    if one_sided:
        return Codes(numbers.astype(f"u{bits // 8}"), steepest)
    return Codes((np.sign(p) * numbers).astype(f"i{bits // 8}"), steepest)


def decode(codes: Codes, loss: ScoreLoss, y: Array, weight: Array, *, balance: bool) -> Array:
    """The slopes that codes stand for, in balance if wanted."""
    kind, size = codes.numbers.dtype.kind, codes.numbers.dtype.itemsize
    if kind not in "iu" or 8 * size not in BITS or codes.numbers.shape != y.shape:
        raise ValueError("its codes are not one whole number for each example")
    if not np.isfinite(codes.steepest) or codes.steepest < 0.0:
        raise ValueError("its steepest slope is not a number")
    low, high, _ = _limits(loss, y, codes.steepest)
    numbers = codes.numbers.astype(np.float64)
    # A little less than they say, so that rounding leaves no slope steeper than the loss has them.
    share = numbers / _levels(8 * size, kind == "u") * (1.0 - 2.0**-50)
    either = np.where(high > 0.0, high, low) if kind == "u" else np.where(share >= 0.0, high, -low)
    p = np.clip(share * either, low, high)
    return _balanced(p, weight) if balance else p


def _limits(loss: ScoreLoss, y: Array, steepest: float) -> tuple[Array, Array, float]:
    """The least and greatest slopes, cut off where there is no limit."""
    low, high = loss.slopes(y)
    if np.isfinite(low).all() and np.isfinite(high).all():
        return low, high, 0.0
    return np.maximum(low, -steepest), np.minimum(high, steepest), steepest


def _levels(bits: int, one_sided: bool) -> float:
    return float(2**bits - 1) if one_sided else float(2 ** (bits - 1) - 1)


def _balanced(p: Array, weight: Array) -> Array:
    """The slopes with those of the heavier sign scaled down, until the weighted sum is zero."""
    for _ in range(3):  # again for what rounding left
        alpha = weight * p
        excess = float(alpha.sum())
        heavier = p > 0.0 if excess > 0.0 else p < 0.0
        total = float(alpha[heavier].sum())
        if excess == 0.0 or total == 0.0:
            break
        p = np.where(heavier, p * max(0.0, 1.0 - excess / total), p)
    return p
