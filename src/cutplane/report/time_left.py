"""How long a run will take to its tolerance, if its gap goes on falling as it did."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Below this many gaps there is no trend.
_FEWEST = 3


def time_left(seconds: Sequence[float], gaps: Sequence[float], tol: float) -> float | None:
    """Seconds until the gap is at the tolerance; None where that cannot be said.

    A cutting-plane method gains about a constant factor in a given time, so a line is fitted to the logarithms of the
    gaps (least squares). Only the later half counts: the start of a run is no like of its end.

    Parameters
    ----------
    seconds, gaps : sequence of float
        Proven until now; gaps that are not finite are left out.
    tol : float

    Examples
    --------
    >>> round(time_left([1.0, 2.0, 3.0], [1e-1, 1e-2, 1e-3], 1e-5), 6)
    2.0
    """
    known = [(when, math.log(gap)) for when, gap in zip(seconds, gaps, strict=True) if 0.0 < gap < math.inf]
    if gaps and gaps[-1] <= tol:
        return 0.0
    later = known[min(len(known) // 2, max(len(known) - _FEWEST, 0)) :]
    if len(later) < _FEWEST or not tol > 0.0:
        return None
    middle = sum(when for when, _ in later) / len(later)
    level = sum(value for _, value in later) / len(later)
    spread = sum((when - middle) ** 2 for when, _ in later)
    if not spread > 0.0:
        return None
    slope = sum((when - middle) * (value - level) for when, value in later) / spread
    if not slope < 0.0:
        return None
    return (later[-1][1] - math.log(tol)) / -slope


def in_words(left: float | None) -> str:
    """The time left, no more exact than it is known."""
    if left is None:
        return ""
    if left < 1.0:
        return "under 1 s left"
    if left < 90.0:
        return f"about {left:.0f} s left"
    if left < 5400.0:
        return f"about {left / 60.0:.0f} min left"
    hours = left / 3600.0
    return f"about {hours:.0f} h left" if hours < 48.0 else "days left"
