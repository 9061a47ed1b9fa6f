"""Several values of a parameter on the command line: 0.1,1,10, or 0.001:100:6 for equal factors."""

from __future__ import annotations

import math

import numpy as np
import typer


def several(text: str, option: str) -> list[float]:
    """Positive numbers, rising: those between commas, or FROM:TO:COUNT of them."""
    try:
        if ":" not in text:
            return sorted({_positive(each) for each in text.split(",")})
        first, last, count = text.split(":")
        return spaced(_positive(first), _positive(last), int(count))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither positive numbers, as 0.1,1,10, nor FROM:TO:COUNT, as 0.001:100:6.", param_hint=option
        ) from None


def spaced(first: float, last: float, count: int) -> list[float]:
    """Numbers that are equal factors apart, both ends included."""
    if not first < last or count < 2:
        raise ValueError(f"{first:g}:{last:g}:{count} has no values.")
    return [float(value) for value in np.geomspace(first, last, count)]


def _positive(text: str) -> float:
    value = float(text)
    if not (value > 0.0 and math.isfinite(value)):
        raise ValueError(text)
    return value
