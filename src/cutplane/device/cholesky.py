"""Cholesky's factor of a matrix on a device, in place: nearly all of it is products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutplane.device.kernels import DeviceArray

# Columns that are factorised at a time: products of blocks of so many run at nearly their full rate.
_AT_ONCE = 2048

#: The inverse of the lower factor of a small matrix; None where that is not positive definite.
InverseRoot = Callable[[DeviceArray], DeviceArray | None]


class Factor:
    """L of A = L L', where A lay; in place of its diagonal blocks are their inverses."""

    def __init__(self, values: DeviceArray, blocks: list[slice]) -> None:
        self._values, self._blocks = values, blocks

    def solve(self, right: DeviceArray, xp: Any) -> DeviceArray:
        """A^-1 right, of shape (n, k)."""
        L, x = self._values, xp.ascontiguousarray(right).copy()
        for here in self._blocks:
            if here.start:
                x[here] -= L[here, : here.start] @ x[: here.start]
            x[here] = L[here, here] @ x[here]
        for here in reversed(self._blocks):
            if here.stop < len(L):
                x[here] -= L[here.stop :, here].T @ x[here.stop :]
            x[here] = L[here, here].T @ x[here]
        return x


def factorised(A: DeviceArray, inverse_root: InverseRoot, at_once: int = _AT_ONCE) -> Factor | None:
    """The factor of A, whose lower triangle is read and overwritten; None where A is not positive definite."""
    n = len(A)
    blocks = [slice(begin, min(begin + at_once, n)) for begin in range(0, n, at_once)]
    for here in blocks:
        if here.start:
            A[here.start :, here] -= A[here.start :, : here.start] @ A[here, : here.start].T
        inverse = inverse_root(A[here, here])
        if inverse is None:
            return None
        A[here, here] = inverse
        if here.stop < n:
            A[here.stop :, here] = A[here.stop :, here] @ inverse.T
    return Factor(A, blocks)
