"""Checks of parts of plain forms, which may come from a file: `ValueError` where they do not fit together."""

from __future__ import annotations

from typing import Any

import numpy as np


def require(holds: bool, otherwise: str) -> None:
    """`ValueError` with a reason unless something holds."""
    if not holds:
        raise ValueError(otherwise)


def require_numbers(name: str, values: Any, shape: tuple[int | None, ...]) -> None:
    """Finite numbers of this shape, dense or sparse; None stands for any length."""
    entries = values.data if hasattr(values, "tocsr") else values
    require(isinstance(entries, np.ndarray) and entries.dtype.kind == "f", f"{name} is no array of numbers")
    require(bool(np.isfinite(entries).all()), f"{name} has values that are not finite")
    fits = len(values.shape) == len(shape) and all(n in (None, m) for n, m in zip(shape, values.shape, strict=True))
    require(fits, f"{name} has shape {values.shape}")


def require_places(name: str, values: Any, below: int) -> None:
    """Whole numbers from 0 on, below a number."""
    whole = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "i"
    require(whole and bool(((values >= 0) & (values < below)).all()), f"{name} has something else than places")


def require_classes(classes: Any) -> None:
    """Labels, two or more."""
    require(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) >= 2, "there are too few classes")
