"""What dual variables prove of a linear one-class machine, as small whole numbers and checked in one pass.

The problem is to minimise, over weights w and a threshold rho,

    ½|w|² + Σ_i limit_i·max(0, rho - <w, x_i>) - rho,        limit_i = weight_i / (nu·Σ weight).

For any pi with 0 <= pi_i <= limit_i and Σ pi_i = 1, max(0, rho - s) >= pi·(rho - s) / limit, so that the objective is
at least ½|w|² - <g, w> >= -½|g|² with g = Σ_i pi_i·x_i. Where Σ pi_i is 1 but for some delta, moving that much
elsewhere makes |g| longer by at most delta times the longest example.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Matrix
from cutplane.proof.checker import BLOCK, Bounds, blocks
from cutplane.proof.rounding import UNIT, exact_sum, gamma, half_square, length

#: Codes: whole numbers of 8, 16 or 32 bits.
Whole: TypeAlias = NDArray[np.unsignedinteger]

#: Sizes of codes, from the smallest.
BITS = (8, 16, 32)


def limits(weight: Array, nu: float) -> Array:
    """The limits, each off by three roundings at most: less than `decode` and `check_one_class` leave for them."""
    return np.asarray(weight / (nu * math.fsum(weight)))


def encode(pi: Array, limit: Array, bits: int) -> Whole:
    """The nearest code of each share of its limit."""
    share = np.divide(pi, limit, out=np.zeros_like(pi), where=limit > 0.0)
    numbers: Whole = np.rint(np.clip(share, 0.0, 1.0) * (2**bits - 1)).astype(np.dtype(f"u{bits // 8}"))
    return numbers


def decode(numbers: Whole, limit: Array) -> Array:
    """What codes stand for, brought to a sum of one: those in use shrink, or all come nearer to their limits."""
    bits = 8 * numbers.dtype.itemsize
    if numbers.dtype.kind != "u" or bits not in BITS or numbers.shape != limit.shape:
        raise ValueError("its codes are not one whole number for each example")
    pi = limit * (numbers.astype(np.float64) / (2.0**bits - 1.0))
    total, most = exact_sum(pi), exact_sum(limit)
    if total > 1.0:
        pi /= total
    elif most > total:
        pi += (limit - pi) * min(1.0, (1.0 - total) / (most - total))
    # A little less than the limits, so that rounding leaves none above them.
    return np.minimum(pi, limit * (1.0 - 2.0**-50))


def check_one_class(X: Matrix, limit: Array, w: Array, rho: float, pi: Array) -> Bounds:
    """The bounds that a model (w, rho) and dual variables prove; -inf where these are beyond their limits."""
    n, d = X.shape
    losses, longest = [], 0.0
    g, sizes = np.zeros(d), np.zeros(d)
    for part, rows in blocks(X):
        size = abs(rows)
        off = gamma(d + 4) * (size @ np.abs(w)) + 4.0 * UNIT * (np.abs(rows @ w) + abs(rho))
        below = np.maximum(0.0, rho - rows @ w + off)
        losses.extend((limit[part] * below).tolist())
        g += rows.T @ pi[part]
        sizes += size.T @ np.abs(pi[part])
        longest = max(longest, float(np.sqrt((size * size).sum(axis=1).max())))
    quadratic, error = half_square(w)
    losses_sum = exact_sum(losses)
    objective = quadratic + losses_sum - rho + error + 16.0 * UNIT * (quadratic + losses_sum + abs(rho))
    if not ((pi >= 0.0) & (pi <= limit * (1.0 - 2.0**-51))).all():
        return Bounds(objective, -math.inf)
    delta = abs(exact_sum([*pi.tolist(), -1.0])) * (1.0 + 1e-9)
    far = length(g) + length(gamma(BLOCK + n // BLOCK + 4) * sizes) + delta * longest * (1.0 + 1e-9)
    return Bounds(objective, -0.5 * far * far * (1.0 + 1e-12))
