"""What the ways of finding the cuts of a kernel machine have in common.

A cut is the plane offset + <slope, w>, its slope an expansion over rows of X. Finders keep the slopes of the model's
cuts, in the model's order; w = -C Σ weight·slope. They differ in the examples that a cut is made of: all or r sampled
among those with a loss (`cutplane.kernels.whole_sample_cuts`), or r sampled among all
(`cutplane.kernels.constant_time_cuts`).
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cutplane._types import Array
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.definite import NEGATIVE_SHARE
from cutplane.kernels.exact import UNIT
from cutplane.kernels.expansions import Expansion, KernelRows, Rows
from cutplane.kernels.whole_planes import Labelling
from cutplane.solvers.bundle.gram import GramSolution
from cutplane.structured.factored import FactoredRisk


class Answer(NamedTuple):
    """The point that a run returns: Σ coef[j] phi(x_rows[j]) and weights of explicit features; its objective, and by
    how much its risk is above the model.
    """

    rows: Rows
    coef: Array
    explicit: Array
    objective: float
    violation: float


class CutPlane(NamedTuple):
    """R(w) >= <slope, w> + offset; the slope is an expansion like that of a model.

    A coefficient is a sum of at most `terms` numbers; `size` is the sum of their absolute values. `offset` may be off
    by gamma(terms) of itself.
    """

    rows: Rows
    coef: Array
    explicit: Array
    offset: float
    size: Array
    explicit_size: Array
    terms: int


@dataclass(frozen=True, slots=True)
class Found:
    """A cut and the objective that a run would return now; once complete, its products with the cuts and itself.

    `scores` are the products of the slope with every row, and `whole` the labellings of all examples, where the finder
    has them.
    """

    cut: Expansion
    offset: float
    objective: float
    products: Array | None = None
    scores: Array | None = None
    whole: Labelling | None = None


class CutFinder(ABC):
    """Finds cuts and remembers those of the model.

    Parameters
    ----------
    risk : FactoredRisk
    rows : KernelRows
    """

    #: Whether cuts are planes below the risk.
    exact = False

    def __init__(self, risk: FactoredRisk, rows: KernelRows) -> None:
        self._risk, self._rows = risk, rows
        self._cuts: list[Expansion] = []
        self._marked: list[tuple[Expansion, float]] = []
        self._best_planes: tuple[list[Expansion], Array, Array] = [], np.zeros(0), np.zeros(0)
        #: Whether some rows or a cut show that the kernel is not positive semi-definite.
        self.indefinite = False
        if not rows.kernel.definite:
            self._try_kernel()

    @abstractmethod
    def find(self, solution: GramSolution | None, C: float) -> Found:
        """A cut for the model's minimiser (None: zero)."""

    @abstractmethod
    def complete(self, found: Found) -> Found:
        """The cut with its products; `TimeIsUpError` where they take longer than there is time."""

    @abstractmethod
    def bound(self, C: float, risk_tol: float, violation: float, probability: float, iterations: int) -> float:
        """The excess of the objective over the optimum that is proven with this probability.

        T, the number of estimates that may fail, is `iterations` here: the most that were allowed. The paper bounds T
        by the risk_tol that every cut violates the model by, which gives a far larger number.
        """

    @property
    def full(self) -> bool:
        """Whether no more cuts can be kept."""
        return False

    def keep(self, found: Found) -> None:
        """The cut was added to the model."""
        self._cuts.append(replace(found.cut, prepared=None))

    def drop(self, positions: Rows) -> None:
        """Cuts were dropped from the model."""
        gone = set(positions.tolist())
        self._cuts = [cut for position, cut in enumerate(self._cuts) if position not in gone]

    def satisfied(self, violation: float, risk_tol: float) -> bool:
        """Whether to end."""
        return violation <= risk_tol

    def mark(self, solution: GramSolution | None, C: float) -> None:
        """Remember the point that was looked at last. A run that is interrupted later returns it."""
        scales = [] if solution is None else (-C * solution.weights).tolist()
        self._marked = list(zip(self._cuts, scales, strict=True))

    def answer(self, C: float, objective: float, violation: float) -> Answer:
        """The point that was marked, where these were found."""
        return Answer(*self._sum(self._marked), self._explicit_sum(self._marked), objective, violation)

    @property
    def mean_size(self) -> float:
        """The mean over examples of the sizes of their scores at the last point, where they are known."""
        return 0.0

    def remember(self, solution: GramSolution, offsets: Array) -> None:
        """Keep what the model's planes prove together: the best so far."""
        self._best_planes = list(self._cuts), offsets, solution.weights

    @property
    def plane(self) -> CutPlane:
        """The weighted mean of the planes that were remembered."""
        cuts, offsets, weights = self._best_planes
        # A little less than one in all, so that rounding leaves no more weight than there is.
        share = (1.0 - 2.0 * (len(cuts) + 8) * UNIT) / max(1.0, float(weights.sum()))
        weights = share * np.maximum(weights, 0.0)
        parts = list(zip(cuts, weights.tolist(), strict=True))
        rows, coef = self._sum(parts)
        size = self._sum([(replace(cut, coef=np.abs(cut.coef)), weight) for cut, weight in parts])[1]
        sizes = [(replace(cut, explicit=np.abs(cut.explicit)), weight) for cut, weight in parts]
        explicit, explicit_size = self._explicit_sum(parts), self._explicit_sum(sizes)
        terms = self._risk.examples + len(cuts) + 16  # offsets and explicit features are means over examples
        return CutPlane(rows, coef, explicit, float(weights @ offsets), size, explicit_size, terms)

    def _explicit_sum(self, parts: list[tuple[Expansion, float]]) -> Array:
        weights = np.zeros(self._risk.explicit)
        for cut, scale in parts:
            weights += scale * cut.explicit
        return weights

    def _sum(self, parts: list[tuple[Expansion, float]]) -> tuple[Rows, Array]:
        """The sum of scaled expansions, each row once."""
        parts = [(cut, scale) for cut, scale in parts if scale != 0.0 and len(cut.rows)]
        if not parts:
            return np.zeros(0, dtype=np.int64), np.zeros((0, self._risk.columns))
        rows, where = np.unique(np.concatenate([cut.rows for cut, _ in parts]), return_inverse=True)
        coef = np.zeros((len(rows), self._risk.columns))
        np.add.at(coef, where, np.concatenate([scale * cut.coef for cut, scale in parts]))
        return rows.astype(np.int64), coef

    def _explicit(self, solution: GramSolution | None, C: float) -> Array:
        """The weights of explicit features at the model's minimiser."""
        if solution is None or not self._risk.explicit:
            return np.zeros(self._risk.explicit)
        return np.asarray(-C * (solution.weights @ np.stack([cut.explicit for cut in self._cuts])))

    def _gram_row(self, cut: Expansion, others: Array, own: Array) -> Array:
        """Products of a slope with the model's slopes and itself.

        `others` are its products with the model's expansions, `own` those of its expansion with its rows.
        """
        square = float(np.vdot(cut.coef, own)) + float(cut.explicit @ cut.explicit)
        if not (self._rows.kernel.definite or self.indefinite) and square < -self._lost(cut, own):
            self._warn_of(f"A cut has the squared length {square:.2g}")
        if self._risk.explicit and self._cuts:
            others = others + np.stack([each.explicit for each in self._cuts]) @ cut.explicit
        return np.append(others, max(0.0, square))

    def _lost(self, cut: Expansion, own: Array) -> float:
        """What rounding explains of a negative squared length: terms may cancel, in products and in their sum."""
        terms = NEGATIVE_SHARE * abs(float(np.vdot(np.abs(cut.coef), np.abs(own))))
        return terms + self._rows.off * float(np.abs(cut.coef).sum()) ** 2 * self._largest

    @cached_property
    def _largest(self) -> float:
        """The largest value of an example with itself, in size."""
        return float(np.abs(self._rows.squared_lengths()).max(initial=0.0))

    def _try_kernel(self) -> None:
        """Look at the kernel matrix of some rows: one that is not positive semi-definite is warned of at once."""
        some = np.unique(np.linspace(0, self._rows.size - 1, min(TUNING.tried_rows, self._rows.size)).astype(np.int64))
        block = self._rows.block(some)
        i, j = np.unravel_index(np.abs(block - block.T).argmax(), block.shape)
        if abs(block[i, j] - block[j, i]) > 1e-3 * np.abs(block).max():
            raise ValueError(
                f"The kernel is {block[i, j]:.6g} for rows {some[i]} and {some[j]} of X, and {block[j, i]:.6g} for the "
                "same two the other way round; a kernel is symmetric."
            )
        values = np.linalg.eigvalsh(0.5 * (block + block.T))
        if values[0] < -NEGATIVE_SHARE * np.abs(values).max():
            self._warn_of(f"The kernel matrix of {len(some)} rows has the eigenvalue {values[0]:.2g}")

    def _warn_of(self, sign: str) -> None:
        self.indefinite = True
        warnings.warn(
            f"{sign}: the kernel is not positive semi-definite, so what is found need not be a minimum and nothing is "
            "proven of it.",
            UserWarning,
            stacklevel=2,
        )

    def _reach(self) -> float:
        """The paper's R."""
        longest = 1.0 if self._rows.kernel.unit_length else max(0.0, float(self._rows.squared_lengths().max()))
        return self._risk.reach(longest)
