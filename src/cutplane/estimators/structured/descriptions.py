"""What estimators of structured models say of their parameters and attributes."""

from __future__ import annotations

from cutplane.estimators.common.descriptions import COMMON
from cutplane.estimators.common.documented import table

STRUCTURED = COMMON | table(
    """
    line_search : {"three-point", "exact", "adaptive"}
        For ``method="oca"``.
    random_state : int, RandomState or None
        For the order of examples in "frank-wolfe". None is a fixed seed.
    checkpoint : path-like or None
        A file for what has been reached: a fit that was killed goes on from there. For "one-slack" and "oca"; see
        docs/files.md.
    """
)
