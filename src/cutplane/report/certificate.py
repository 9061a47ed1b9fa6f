"""A proven gap in words."""

from __future__ import annotations

import math


def proven_within(gap: float) -> str:
    """Say what a relative gap proves.

    Rounded up, never down: what is said must be proven too.

    Examples
    --------
    >>> proven_within(0.00098123)
    'proven within 0.099 % of the optimum'
    """
    if not math.isfinite(gap):
        return "nothing proven yet"
    if gap <= 0.0:
        return "proven optimal to the last digit"
    percent = 100.0 * gap
    digits = max(0, 1 - math.floor(math.log10(percent)))
    # The small number forgives the rounding of 100 * gap itself.
    rounded = math.ceil(percent * 10**digits * (1.0 - 1e-12)) / 10**digits
    return f"proven within {rounded:.{digits}f} % of the optimum"
