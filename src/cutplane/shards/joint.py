"""Classes that are one problem, on examples of a device: an interior point whose examples each go as far as they can.

In single precision. What is proven of the weights that come of it is in double precision: see
`cutplane.shards.joint_planes`.
"""

from __future__ import annotations

import numpy as np

from cutplane.device.class_sums import Array, ClassSums, DeviceArray
from cutplane.device.joint_sums import Interior, JointExamples, JointSums
from cutplane.device.source import DenseRows, rows_at_once
from cutplane.shards.joint_systems import FactoredSystem, JointRows, ProductSystem, System
from cutplane.solvers.newton.joint import JointLook

# Weights and slacks go no further than this on their way to zero.
_MOST = 0.9
# Systems of so many weights, between so many classes, are factored.
_MOST_FACTORED, _MOST_CLASSES = 16_000, 32
# While the gap is larger, factors of products may be rounded to ten bits for the matrix of a system.
_ROUGH_MATRIX = 0.05
# Widths of rows in memory, which the tensor cores of a GPU ask for.
_PADDED = 8


def joint_rows(sums: ClassSums, rows: DenseRows, *, intercept: bool) -> JointRows:
    """The rows in single precision, with a constant feature where intercepts are free."""
    n, d = rows.shape
    if not intercept:
        return JointRows(sums, rows.block(0, n, np.float32), np.ones(d))
    width = -(-(d + 1) // _PADDED) * _PADDED
    X, penalty, size = sums.xp.zeros((n, width), np.float32), np.ones(width), rows_at_once(d)
    for begin in range(0, n, size):
        X[begin : begin + size, :d] = rows.block(begin, begin + size, np.float32)
    X[:, d] = 1.0
    penalty[d] = 0.0
    return JointRows(sums, X, penalty)


def is_factored(d: int, classes: int) -> bool:
    """Whether systems are solved by their factor."""
    return d * classes <= _MOST_FACTORED and classes <= _MOST_CLASSES


class JointShard:
    """Where an interior point stands: weights of classes, weights of examples on classes, and slacks.

    Parameters
    ----------
    joint : JointSums
    rows : JointRows
    of : JointExamples
    cost : array of shape (n_classes, n_classes)
        As `of` has it.
    C : float
        Of the whole risk.
    rough : bool
        Whether factors of products may be rounded to ten bits.
    """

    def __init__(
        self, joint: JointSums, rows: JointRows, of: JointExamples, cost: Array, C: float, *, rough: bool
    ) -> None:
        self._joint, self._rows, self._of, self._C, self._rough = joint, rows, of, C, rough
        self._scale = float(cost.max())
        (n, d), columns, xp = rows.X.shape, len(cost), joint.xp
        # Weights of zero, the same weight on each class, and a level one cost above the highest line.
        self._W = xp.zeros((d, columns), np.float32)
        slack = cost.max(axis=1, keepdims=True) + self._scale - cost
        self._at = Interior(xp.full((n, columns), 1.0 / columns, np.float32), rows.sums.in_single(slack)[of.codes])
        factored = is_factored(d, columns)
        self._rough = rough and not factored
        self._rough_matrix = rough
        system = FactoredSystem if factored else ProductSystem
        self._system: System = system(joint, rows, of, C)
        self._gap = np.inf

    @property
    def pairs(self) -> float:
        """C times classes: what a product of weights and slacks costs on each of them."""
        return self._C * int(self._at.p.shape[1])

    @property
    def weights(self) -> tuple[Array, Array]:
        """Weights, a column for each class, and intercepts."""
        found = self._rows.sums.to_host(self._W)
        free, columns = self._rows.free, found.shape[1]
        return (found, np.zeros(columns)) if free is None else (found[:free], found[free])

    @property
    def on_classes(self) -> DeviceArray:
        """The weights of examples on classes."""
        return self._at.p

    def look(self) -> JointLook:
        """Where the classes stand, by estimates in single precision."""
        sums, C, penalty = self._rows.sums, self._C, self._rows.column
        found = self._joint.plane(self._of, self._at)
        slope = self._rows.combined(found.coef, rough=self._rough)
        free = self._rows.free
        lean = 0.0 if free is None else float(np.abs(sums.to_host(slope[free])).sum())
        slope *= penalty * np.float32(C)
        W = self._W * penalty
        upper = 0.5 * float(sums.dots(W, W).sum()) + C * found.value
        # What leans is taken from the plane.
        lower = C * (found.offset - self._scale * lean) - 0.5 * float(sums.dots(slope, slope).sum())
        self._gap = (upper - lower) / max(abs(upper), 1e-300)
        return JointLook(upper, lower, found.product / self._at.p.shape[1])

    def step(self, target: float) -> None:
        """A Newton step towards weights times slacks of `target`."""
        rows, rough = self._rows, self._rough
        right = rows.combined(self._joint.aimed(self._of, self._at, target), rough=rough)
        right *= np.float32(-self._C)
        right -= rows.column * self._W
        matrix_rough = self._rough_matrix and self._gap > _ROUGH_MATRIX
        way = self._system.solved(self._at, right, rough=rough or matrix_rough)
        self._joint.move(self._of, self._at, rows.scores(way, rough=rough), target, _MOST)
        self._W += way
