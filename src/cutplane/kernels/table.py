"""The kernels by name. There is one table, in core/smo/kernel_function.hpp; every list of names comes from it."""

from __future__ import annotations

from cutplane import _core

#: What is known of each kernel that the core computes.
TABLE = {entry.name: entry for entry in _core.kernels()}
#: Their names.
COMPUTED = tuple(TABLE)
#: What each of them computes for a pair of examples x, z.
FORMULAS = {name: entry.formula for name, entry in TABLE.items()}
#: The names of all kernels; the values of the last two come from the caller.
NAMES = (*COMPUTED, "precomputed", "callable")


def positive_only(kernel: object) -> bool:
    """Whether a kernel, by the name that an estimator was given, takes no negative values."""
    return isinstance(kernel, str) and kernel in TABLE and TABLE[kernel].positive_only
