"""Tables of what it costs to take one label for another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_cost(cost: ArrayLike, n_labels: int) -> NDArray[np.float64]:
    """cost[true, predicted] as an array: finite, nowhere negative, 0 on its diagonal."""
    table = np.ascontiguousarray(cost, dtype=np.float64)
    if table.shape != (n_labels, n_labels):
        raise ValueError(f"cost has the shape {table.shape}; {n_labels} labels need {(n_labels, n_labels)}.")
    wrong = ~np.isfinite(table) | (table < 0.0)
    np.fill_diagonal(wrong, np.diag(table) != 0.0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"cost[{row}, {column}]={table[row, column]:g}; costs must be finite, 0 or greater, and 0 where the two "
            "labels are the same."
        )
    return table
