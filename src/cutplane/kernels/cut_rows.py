"""The rows of a model's cuts, each stored once. All cuts share what is computed for a row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.expansions import Expansion, KernelRows, Prepared, Rows


class CutRows:
    """The rows of some cuts and the cuts' coefficients on them.

    A thousand cuts of a few hundred sampled examples share most of these where there are some ten thousand in all.

    Parameters
    ----------
    rows : KernelRows
    columns : int
        Coefficients a row.
    """

    def __init__(self, rows: KernelRows, columns: int) -> None:
        self._kernel_rows = rows
        self._columns = columns
        self._cuts: list[Expansion] = []
        self._places: list[NDArray[np.int64]] = []
        self._place_of = np.full(rows.size, -1, dtype=np.int64)
        self._uses = np.zeros(0, dtype=np.int64)
        self._stretches = [_Stretch(0, 0, None), _Stretch(0, 0, None)]
        self._entries: tuple[NDArray[np.int64], Array, NDArray[np.int64]] | None = None
        self.rows: Rows = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, cut: Expansion) -> None:
        """Take in the rows of a cut."""
        new = np.unique(cut.rows[self._place_of[cut.rows] < 0])
        if len(new):
            self._place_of[new] = len(self) + np.arange(len(new))
            self.rows = np.concatenate([self.rows, new])
            self._uses = np.concatenate([self._uses, np.zeros(len(new), dtype=np.int64)])
        self._cuts.append(cut)
        self._places.append(self._place_of[cut.rows])
        self._uses += np.bincount(self._places[-1], minlength=len(self))
        self._entries = None

    def drop(self, positions: Rows) -> None:
        """Forget cuts, and their rows when enough of all are no other's."""
        for position in sorted(positions.tolist(), reverse=True):
            self._uses -= np.bincount(self._places.pop(position), minlength=len(self))
            del self._cuts[position]
        if np.count_nonzero(self._uses == 0) > TUNING.unused_part * len(self):
            self._place_of[self.rows] = -1
            self.rows = self.rows[self._uses > 0]
            self._uses = self._uses[self._uses > 0]
            self._place_of[self.rows] = np.arange(len(self))
            self._places = [self._place_of[cut.rows] for cut in self._cuts]
            self._stretches = [_Stretch(0, 0, None), _Stretch(0, 0, None)]
        self._entries = None

    def scores(self, rows: Rows, weights: Array) -> Array:
        """The products of phi(x), for each of some rows x, with Σ weights[k]·(cut k)."""
        coef, left = self.mixture(weights), self._kernel_rows.prepare(rows)
        used = np.flatnonzero(coef.any(axis=1))
        if len(used) < TUNING.used_part * len(self):
            part = self._kernel_rows.expansion(self.rows[used], coef[used], np.zeros(0))
            return self._kernel_rows.products(left, part, len(rows))
        found = np.zeros((len(rows), self._columns))
        for begin, end, prepared in self._prepared():
            part = Expansion(self.rows[begin:end], coef[begin:end], np.zeros(0), prepared)
            found += self._kernel_rows.products(left, part, len(rows))
        return found

    def mixture(self, weights: Array) -> Array:
        """The coefficients of Σ weights[k]·(cut k) on the rows."""
        places, coef, owners = self._all_entries()
        flat = (places[:, None] * self._columns + np.arange(self._columns)).ravel()
        values = (coef * weights[owners][:, None]).ravel()
        summed = np.bincount(flat, values, minlength=len(self) * self._columns)
        return np.asarray(summed, dtype=np.float64).reshape(len(self), self._columns)

    def products(self, cut: Expansion) -> Array:
        """The product of a cut's expansion with that of each cut here."""
        stretches = self._prepared()
        if not stretches:
            return np.zeros(len(self._cuts))
        parts = [self._kernel_rows.products(prepared, cut, end - begin) for begin, end, prepared in stretches]
        places, coef, owners = self._all_entries()
        terms = (coef * np.concatenate(parts)[places]).sum(axis=1)
        return np.asarray(np.bincount(owners, terms, minlength=len(self._cuts)), dtype=np.float64)

    def _prepared(self) -> list[_Stretch]:
        """The rows for products on either side, in two stretches: so that a few new ones do not cost a copy of all."""
        old, new = self._stretches
        if len(self) - old.end > TUNING.new_part * len(self):
            old, new = self._prepare(0, len(self)), _Stretch(len(self), len(self), None)
        elif len(self) > new.end:
            new = self._prepare(old.end, len(self))
        self._stretches = [old, new]
        return [stretch for stretch in self._stretches if stretch.end > stretch.begin]

    def _prepare(self, begin: int, end: int) -> _Stretch:
        return _Stretch(begin, end, self._kernel_rows.prepare(self.rows[begin:end]))

    def _all_entries(self) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
        """The places, coefficients and cuts of every row of every cut."""
        if self._entries is None:
            lengths = [len(places) for places in self._places]
            self._entries = (
                np.concatenate([np.zeros(0, dtype=np.int64), *self._places]),
                np.concatenate([np.zeros((0, self._columns)), *(cut.coef for cut in self._cuts)]),
                np.repeat(np.arange(len(lengths)), lengths),
            )
        return self._entries


class _Stretch(NamedTuple):
    begin: int
    end: int
    prepared: Prepared | None
