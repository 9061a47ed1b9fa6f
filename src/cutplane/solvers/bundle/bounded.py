"""The bundle for weights that have lower bounds, such as zero.

With g = C·Σ alpha_i a_i, the least of ½|w|² + <g, w> over w >= l is taken at w = max(l, -g), each weight by itself. So

    D(alpha) = C·Σ alpha_i b_i + Σ_j (½ w_j² + g_j w_j),   w = max(l, -g),

is below the optimum for any weights alpha that are not negative and sum to one: the bound that is proven. D is concave
and has a derivative, and as long as the same coordinates are at their bounds it is the dual of the reduced QP without
bounds, over the other coordinates alone. So: solve that QP, see which coordinates are at their bounds, search the line
to its solution where D did not rise, and repeat until nothing changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane.solvers.bundle.planes import Array, Bundle, BundleSolution
from cutplane.solvers.line_search import LineSearch
from cutplane.solvers.protocols import ObjectiveLike, P

# Rounds of the method; it mostly takes two or three. What is proven holds after any number.
_MOST_ROUNDS = 40
# A rise of D this small, relative to its size, ends the rounds.
_NO_RISE = 1e-13


class BoundedBundle:
    """Planes R(w) >= <slope, w> + offset, for w not below `bounds`; otherwise as `Bundle`.

    Parameters
    ----------
    bounds : array of shape (dimension,)
        The least that each weight may be; -inf where it is free.
    lower_bound : float
        What the risk never falls below.
    n_threads : int
        For the QPs inside.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.solvers.bundle.bounded import BoundedBundle
    >>> bundle = BoundedBundle(np.array([0.0, 0.0]))
    >>> bundle.add(np.array([-1.0, 0.5]), 1.0)
    >>> solution = bundle.solve(C=0.5)
    >>> solution.w, solution.lower
    (array([0.5, 0. ]), 0.375)
    """

    def __init__(self, bounds: Array, *, lower_bound: float = 0.0, n_threads: int = 0) -> None:
        self.bounds = np.ascontiguousarray(bounds, dtype=np.float64)
        self.lower_bound = lower_bound
        self._n_threads = n_threads
        self._slopes = np.zeros((0, len(self.bounds)))
        self._offsets = np.zeros(0)
        self._errors = np.zeros(0)
        self._weights = np.zeros(0)
        self._idle = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def dimension(self) -> int:
        """The length of a slope."""
        return len(self.bounds)

    @property
    def planes(self) -> tuple[Array, Array]:
        """The slopes, shape (len, dimension), and the offsets, shape (len,)."""
        return self._slopes, self._offsets

    @property
    def offsets(self) -> Array:
        """Of the planes, shape (len,)."""
        return self._offsets

    @property
    def errors(self) -> Array:
        """How far slopes can be from those of planes that hold, shape (len,)."""
        return self._errors

    def copy(self) -> BoundedBundle:
        """An independent bundle with the same planes."""
        twin = object.__new__(BoundedBundle)
        vars(twin).update(vars(self))
        return twin

    def add(self, slope: Array, offset: float, *, error: float = 0.0) -> None:
        """Add the plane <slope, w> + offset; `error` is how far its slope can be from one that holds."""
        self._slopes = np.vstack([self._slopes, slope])
        self._offsets = np.append(self._offsets, offset)
        self._errors = np.append(self._errors, error)
        self._weights = np.append(self._weights, 0.0)
        self._idle = np.append(self._idle, 0)

    def prune(self, idle: int) -> int:
        """Drop the planes whose weight was zero in each of the last `idle` solves; returns how many."""
        kept = self._idle < idle
        self._slopes, self._offsets, self._errors = self._slopes[kept], self._offsets[kept], self._errors[kept]
        self._weights, self._idle = self._weights[kept], self._idle[kept]
        return int(np.count_nonzero(~kept))

    def proven_by(self, slope: Array, offset: float, error: float, C: float) -> float:
        """What one plane proves, its slope being within `error` of one that holds."""
        g = C * slope
        w = np.maximum(self.bounds, -g)
        least = float((w * (0.5 * w + g)).sum())
        # D is concave, with the derivative w; and w changes by no more than g does.
        off = C * error
        return C * offset + least - off * (float(np.linalg.norm(w)) + 0.5 * off)

    def solve(self, C: float) -> BundleSolution:
        """Minimise ½|w|² + C·(highest plane at w) over w not below the bounds."""
        alpha = self._weights
        value, w = self._dual(C, alpha)
        at_bounds: NDArray[np.bool_] | None = None
        rounds = 0
        for rounds in range(1, _MOST_ROUNDS + 1):
            clamped = w <= self.bounds
            if at_bounds is not None and np.array_equal(clamped, at_bounds):
                break
            at_bounds = clamped
            target = self._restricted(C, clamped)
            step = self._best_step(C, alpha, target, value)
            tried = alpha + step * (target - alpha)
            new_value, new_w = self._dual(C, tried)
            if new_value <= value + _NO_RISE * abs(value) and rounds > 1:
                break
            if new_value > value or rounds == 1:
                alpha, value, w = tried, new_value, new_w
        self._weights = alpha
        self._idle = np.where(alpha > 0.0, 0, self._idle + 1)
        heights = self._slopes @ w + self._offsets
        risk_model = max(self.lower_bound, float(heights.max(initial=self.lower_bound)))
        primal = 0.5 * float(w @ w) + C * risk_model
        violation = (primal - value) / max(abs(primal), 1e-300)
        return BundleSolution(w, value, alpha, risk_model, violation, rounds, alpha @ self._slopes)

    def _dual(self, C: float, alpha: Array) -> tuple[float, Array]:
        """D and w at weights that may sum to less than one: the rest lies on the trivial plane."""
        g = C * (alpha @ self._slopes)
        w = np.maximum(self.bounds, -g)
        rest = max(0.0, 1.0 - float(alpha.sum()))
        value = C * (float(alpha @ self._offsets) + rest * self.lower_bound) + float((0.5 * w * w + g * w).sum())
        return value, w

    def _restricted(self, C: float, clamped: NDArray[np.bool_]) -> Array:
        """The weights of the QP whose clamped coordinates stay at their bounds."""
        fixed = np.where(clamped, self.bounds, 0.0)
        free = np.where(clamped, 0.0, 1.0)
        qp = Bundle.from_planes(
            self._slopes * free,
            self._offsets + self._slopes @ fixed,
            lower_bound=self.lower_bound,
            n_threads=self._n_threads,
        )
        weights = np.maximum(qp.solve(C).weights, 0.0)
        return weights / max(1.0, float(weights.sum()))

    def _best_step(self, C: float, alpha: Array, target: Array, value: float) -> float:
        """1 where D rises all the way; else the best of a search between."""
        if self._dual(C, target)[0] >= value and self._slope(C, target, target - alpha) >= 0.0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            if self._slope(C, alpha + middle * (target - alpha), target - alpha) > 0.0:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)

    def _slope(self, C: float, alpha: Array, direction: Array) -> float:
        """The derivative of D along a direction: C times the planes' heights at w."""
        _, w = self._dual(C, alpha)
        heights = self._slopes @ w + self._offsets - self.lower_bound
        return C * float(direction @ heights)


class BoundedLineSearch:
    """A line search that does not leave the weights allowed; the best step among those that stay is no further."""

    def __init__(self, inner: LineSearch, bounds: Array) -> None:
        self._inner = inner
        self._bounds = bounds

    def step(self, objective: ObjectiveLike[P], incumbent: P, candidate: P, C: float) -> float:
        """The step of the search inside, cut short where a weight would fall below its bound."""
        k = self._inner.step(objective, incumbent, candidate, C)
        fall, room = incumbent.w - candidate.w, incumbent.w - self._bounds
        falling = fall > 0.0
        reach = float((room[falling] / fall[falling]).min(initial=np.inf))
        return float(np.clip(k, 0.0, max(1.0, reach)))
