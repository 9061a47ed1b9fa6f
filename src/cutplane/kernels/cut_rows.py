"""The rows that the cuts of a model are made of, each once: what is computed for a row serves every cut that has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.kernels.expansions import Array, Expansion, KernelRows, Rows

# Rows of dropped cuts are kept until they are more than this part of all.
_UNUSED_PART = 0.1


class CutRows:
    """The rows of some cuts and the cuts' coefficients on them.

    A thousand cuts of a few hundred sampled examples share most of these where there are some ten thousand in all.

    Parameters
    ----------
    rows : KernelRows
    size : int
        The number of rows that there are.
    columns : int
        Coefficients a row.
    """

    def __init__(self, rows: KernelRows, size: int, columns: int) -> None:
        self._kernel_rows = rows
        self._columns = columns
        self._cuts: list[Expansion] = []
        self._places: list[NDArray[np.int64]] = []
        self._place_of = np.full(size, -1, dtype=np.int64)
        self._uses = np.zeros(0, dtype=np.int64)
        self._prepared: Any = None
        self.rows: Rows = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def prepared(self) -> Any:
        """The rows for products on either side."""
        if self._prepared is None:
            self._prepared = self._kernel_rows.prepare(self.rows)
        return self._prepared

    def add(self, cut: Expansion) -> None:
        """Take in the rows of a cut."""
        new = np.unique(cut.rows[self._place_of[cut.rows] < 0])
        if len(new):
            self._place_of[new] = len(self) + np.arange(len(new))
            self.rows = np.concatenate([self.rows, new])
            self._uses = np.concatenate([self._uses, np.zeros(len(new), dtype=np.int64)])
            self._prepared = None
        self._cuts.append(cut)
        self._places.append(self._place_of[cut.rows])
        self._uses += np.bincount(self._places[-1], minlength=len(self))

    def drop(self, positions: Rows) -> None:
        """Forget cuts, and their rows when enough of all are no other's."""
        for position in sorted(positions.tolist(), reverse=True):
            self._uses -= np.bincount(self._places.pop(position), minlength=len(self))
            del self._cuts[position]
        if np.count_nonzero(self._uses == 0) > _UNUSED_PART * len(self):
            self._place_of[self.rows] = -1
            self.rows = self.rows[self._uses > 0]
            self._uses = self._uses[self._uses > 0]
            self._place_of[self.rows] = np.arange(len(self))
            self._places = [self._place_of[cut.rows] for cut in self._cuts]
            self._prepared = None

    def mixture(self, weights: Array) -> Expansion:
        """Σ weights[k]·(cut k), without explicit features."""
        parts = [(k, weight) for k, weight in enumerate(weights) if weight != 0.0]
        places = np.concatenate([self._places[k] for k, _ in parts]) if parts else np.zeros(0, dtype=np.int64)
        values = [weight * self._cuts[k].coef for k, weight in parts]
        flat = (places[:, None] * self._columns + np.arange(self._columns)).ravel()
        summed = np.bincount(flat, np.concatenate(values).ravel() if parts else None, len(self) * self._columns)
        coef = np.asarray(summed, dtype=np.float64).reshape(len(self), self._columns)
        return Expansion(self.rows, coef, np.zeros(0), self.prepared if len(self) else None)

    def products(self, cut: Expansion) -> Array:
        """The product of a cut's expansion with that of each cut here."""
        if not len(self):
            return np.zeros(len(self._cuts))
        scores = self._kernel_rows.products(self.prepared, cut, len(self))
        lengths = [len(places) for places in self._places]
        terms = np.concatenate([each.coef for each in self._cuts]) * scores[np.concatenate(self._places)]
        owners = np.repeat(np.arange(len(lengths)), lengths)
        return np.bincount(owners, terms.sum(axis=1), minlength=len(lengths))
