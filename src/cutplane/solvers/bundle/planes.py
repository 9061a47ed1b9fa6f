"""The bundle: planes below a convex risk, and the small QP that minimises over them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane import _core

Array = NDArray[np.float64]

# From this many weights on, planes are stored in single precision unless the gap to be proven is finer than this.
SINGLE_FROM = 1 << 20
_COARSE = 1e-5
# Bytes for planes, and the fewest that cutting planes can do with.
_PLANE_MEMORY = 4e9
_FEWEST = 20


class BundleSolution(NamedTuple):
    """The minimiser of ½|w|² + C·(highest plane at w), and what it proves.

    Attributes
    ----------
    w : array of shape (dimension,)
        -C times the weighted sum of the slopes.
    lower : float
        A lower bound on min ½|w|² + C·R(w) for any risk R above the planes. It is computed from the planes
        at `weights`, so it holds however well the QP was solved.
    weights : array of shape (len(bundle),)
        The dual weights: none negative. What they lack to one lies on the trivial plane R >= lower_bound.
    risk_model : float
        The highest plane at `w`, the trivial one included.
    violation : float
        The QP's own duality gap relative to its value, as far as the Gram matrix can tell.
    pivots : int
        How many planes entered or left the set that carries weight.
    mean_slope : array or None
        The weighted sum of the slopes, where `w` is not -C times that.
    """

    w: Array
    lower: float
    weights: Array
    risk_model: float
    violation: float
    pivots: int
    mean_slope: Array | None = None

    def slopes_sum(self, C: float) -> Array:
        """-C times the weighted sum of the slopes: w itself, unless bounds kept it away from there."""
        return self.w if self.mean_slope is None else -C * self.mean_slope


class BundleLike(Protocol):
    """Planes below the risk, and the problem that they make: `Bundle`, or `BoundedBundle` where weights have bounds."""

    def __len__(self) -> int: ...

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def lower_bound(self) -> float: ...  # noqa: D102

    @property
    def bounds(self) -> Array | None: ...  # noqa: D102

    @property
    def planes(self) -> tuple[Array, Array]: ...  # noqa: D102

    @property
    def offsets(self) -> Array: ...  # noqa: D102

    @property
    def errors(self) -> Array: ...  # noqa: D102

    def copy(self) -> BundleLike: ...  # noqa: D102

    def add(self, slope: Array, offset: float, *, error: float = 0.0) -> None: ...  # noqa: D102

    def prune(self, idle: int) -> int: ...  # noqa: D102

    def proven_by(self, slope: Array, offset: float, error: float, C: float) -> float: ...  # noqa: D102

    def solve(self, C: float) -> BundleSolution: ...  # noqa: D102


class Bundle:
    """Planes R(w) >= <slope, w> + offset, and the trivial plane R(w) >= lower_bound.

    Each `solve` starts from the weights of the last one, also where C has changed or planes were added or
    pruned in between.

    Parameters
    ----------
    dimension : int
        The length of a slope.
    lower_bound : float
        What the risk never falls below.
    n_threads : int
        Threads for sums over long slopes; 0 leaves it to OpenMP. Results do not depend on it.
    single : bool
        Whether slopes are stored in single precision. How far each is from the plane's own is kept, and bounds allow
        for it: with a the slopes, â what is stored and |aᵢ - âᵢ| ≤ eᵢ, |Σ βᵢaᵢ| ≤ |Σ βᵢâᵢ| + Σ βᵢeᵢ, so the dual
        value with this in place of |Σ βᵢaᵢ| is below that of the planes themselves.
    most : int, optional
        The most planes to keep. One more, and a plane without weight is dropped, the one idle for longest; if all have
        weight, the two with least are replaced by their weighted mean, which takes nothing from the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.solvers.bundle.planes import Bundle
    >>> bundle = Bundle(2)
    >>> bundle.add(np.array([-1.0, 0.0]), 1.0)
    >>> solution = bundle.solve(C=0.5)
    >>> solution.w, solution.lower
    (array([0.5, 0. ]), 0.375)
    """

    __slots__ = ("_core", "_dimension", "_lower_bound", "_most", "_n_threads", "_single")

    def __init__(
        self,
        dimension: int,
        *,
        lower_bound: float = 0.0,
        n_threads: int = 0,
        single: bool = False,
        most: int | None = None,
    ) -> None:
        self._dimension = int(dimension)
        self._lower_bound = float(lower_bound)
        self._n_threads = int(n_threads)
        self._single = bool(single)
        self._most = most
        if most is not None and most < 2:
            raise ValueError(f"most={most} must be at least 2 planes.")
        if self._dimension < 1:
            raise ValueError(f"dimension={dimension} must be at least 1.")
        if not np.isfinite(self._lower_bound):
            raise ValueError(f"lower_bound={lower_bound} must be a finite number.")
        self._core = _core.Bundle(self._dimension, self._lower_bound, self._single, self._n_threads)

    @classmethod
    def from_planes(
        cls, slopes: ArrayLike, offsets: ArrayLike, *, lower_bound: float = 0.0, n_threads: int = 0
    ) -> Bundle:
        """A bundle of the planes that `planes` gave, in their order."""
        rows = np.asarray(slopes, dtype=np.float64)
        heights = np.asarray(offsets, dtype=np.float64)
        if rows.ndim != 2 or heights.shape != rows.shape[:1]:
            raise ValueError(
                f"slopes of shape {rows.shape} and offsets of shape {heights.shape} "
                "must have shapes (planes, dimension) and (planes,)."
            )
        bundle = cls(rows.shape[1], lower_bound=lower_bound, n_threads=n_threads)
        for slope, offset in zip(rows, heights.tolist(), strict=True):
            bundle.add(slope, offset)
        return bundle

    def copy(self) -> Bundle:
        """An independent bundle with the same planes and weights; the slopes themselves are shared."""
        twin = object.__new__(Bundle)
        twin._dimension = self._dimension
        twin._lower_bound = self._lower_bound
        twin._n_threads = self._n_threads
        twin._single = self._single
        twin._most = self._most
        twin._core = _core.Bundle(self._core)
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its planes; the weights are found again by the next `solve`."""
        slopes, offsets = self.planes
        settings = {
            "lower_bound": self._lower_bound,
            "n_threads": self._n_threads,
            "single": self._single,
            "most": self._most,
        }
        return _unpickled, (self._dimension, slopes, offsets, self._core.errors(), settings)

    def __len__(self) -> int:
        return len(self._core)

    @property
    def dimension(self) -> int:
        """The length of a slope."""
        return self._dimension

    @property
    def lower_bound(self) -> float:
        """The height of the trivial plane."""
        return self._lower_bound

    @property
    def bounds(self) -> None:
        """Weights are free."""

    @property
    def planes(self) -> tuple[Array, Array]:
        """Copies of the slopes, shape (len, dimension), and the offsets, shape (len,)."""
        return self._core.slopes(), self._core.offsets()

    @property
    def offsets(self) -> Array:
        """Of the planes, shape (len,)."""
        return self._core.offsets()

    @property
    def errors(self) -> Array:
        """How far stored slopes can be from the planes' own, shape (len,)."""
        return self._core.errors()

    @property
    def memory(self) -> int:
        """Bytes that the slopes take."""
        return len(self) * self._dimension * (4 if self._single else 8)

    def proven_by(self, slope: Array, offset: float, error: float, C: float) -> float:
        """What one plane proves, its slope being within `error` of one that holds."""
        length = C * (float(np.sqrt(_core.inner(slope, slope))) + error)
        return C * offset - 0.5 * length**2

    def add(self, slope: ArrayLike, offset: float, *, error: float = 0.0) -> None:
        """Add the plane <slope, w> + offset; the slope is copied.

        A slope that is only close to the plane's own comes with its distance from it, `error`.
        """
        values = np.ascontiguousarray(slope, dtype=np.float64)
        if values.shape != (self._dimension,):
            raise ValueError(f"A slope of shape {values.shape} must have shape ({self._dimension},).")
        try:
            self._core.add(values, float(offset), float(error))
        except ValueError:
            raise ValueError(_why_refused(values, float(offset))) from None
        if self._most is not None and len(self) > self._most:
            self._make_room()

    def _make_room(self) -> None:
        """Drop the plane that has been idle for longest, or merge the two that matter least; never the newest."""
        idle = self._core.idle()[:-1]
        longest = int(idle.max())
        if longest > 0:
            first = int(np.argmax(idle))
            self._core.drop(first)
            return
        least = np.sort(np.argsort(self._core.weights()[:-1], kind="stable")[:2])
        self._core.merge(int(least[0]), int(least[1]))

    def solve(self, C: float) -> BundleSolution:
        """Minimise ½|w|² + C·(highest plane at w)."""
        return BundleSolution(*self._core.solve(C))

    def prune(self, idle: int) -> int:
        """Drop the planes whose weight was zero in each of the last `idle` solves; returns how many."""
        if idle < 1:
            raise ValueError(f"idle={idle} must be at least 1 solve.")
        return self._core.prune(idle)

    def reset(self) -> None:
        """Forget the weights, so that the next `solve` starts cold."""
        self._core.reset()


def _unpickled(dimension: int, slopes: Array, offsets: Array, errors: Array, settings: dict[str, Any]) -> Bundle:
    bundle = Bundle(dimension, **settings)
    for slope, offset, error in zip(slopes, offsets.tolist(), errors.tolist(), strict=True):
        bundle.add(slope, offset, error=error)
    return bundle


def plane_storage(dimension: int, relative_gap: float) -> dict[str, Any]:
    """How to store planes: long slopes in single precision where the gap allows it, and no more than fit.

    The distance of stored slopes from the planes' own is about 3e-8 of their length. What that takes from the bound is
    a multiple of it, so a gap much finer needs double precision.
    """
    if dimension < SINGLE_FROM:
        return {}
    single = relative_gap >= _COARSE
    return {"single": single, "most": max(_FEWEST, int(_PLANE_MEMORY / (dimension * (4 if single else 8))))}


def _why_refused(slope: Array, offset: float) -> str:
    if not np.isfinite(offset):
        return f"A plane's offset is {offset}, and must be finite: scale the features, or lower C."
    bad = np.flatnonzero(~np.isfinite(slope))
    if bad.size:
        return f"A plane's slope has the value {slope[bad[0]]} at feature {bad[0]}; all must be finite."
    reached = np.abs(slope).max()
    return f"The risk's slope reaches {reached:.3g}, and must stay below 1e75: scale the features, or lower C."
