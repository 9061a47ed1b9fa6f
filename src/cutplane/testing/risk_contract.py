"""The contract of risks as a check; it raises AssertionError with what is wrong.

A new risk is ready when its check passes on samples of every kind it claims to take.

Examples
--------
>>> from typing import cast

import numpy as np
>>> from cutplane.risks.hinge import Hinge
>>> from cutplane.testing import check_risk
>>> y = np.where(np.random.default_rng(0).normal(size=50) > 0, 1, -1)
>>> check_risk(Hinge(y), n_examples=50)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from cutplane.risks.base import Risk, RoundedRisk, ScoreCut, Smoothed
from cutplane.risks.intercept import NoInterceptError
from cutplane.testing.requirements import ROUNDING, require, require_close

Array = NDArray[np.float64]


def check_risk(risk: Risk, n_examples: int, *, n_scores: int | None = None, seed: int = 0) -> None:
    """Check that a risk is what cutting planes need: convex, with cuts below it that touch it.

    Parameters
    ----------
    risk : Risk
        Of a sample of `n_examples`.
    n_examples : int
    n_scores : int, optional
        Scores per example, where a risk takes several.
    seed : int
        For the scores it is tried on.

    Raises
    ------
    AssertionError
        Saying what is wrong.
    """
    rng = np.random.default_rng(seed)
    shape = (n_examples,) if n_scores is None else (n_examples, n_scores)
    # At zero and at integer scores many examples sit exactly on a kink.
    points = [np.zeros(shape), rng.integers(-2, 3, size=shape).astype(np.float64)]
    points += [scale * rng.normal(size=shape) for scale in (1e-3, 1.0, 1e3)]
    for scores in points:
        value = risk.value(scores)
        require(
            np.isfinite(value) and value >= risk.lower_bound,
            f"value is {value!r}; it must be finite and at least lower_bound={risk.lower_bound!r}.",
        )
        _check_plane("cut", risk.cut(scores), risk, scores, points)
        decided = np.asarray(risk.decide(scores))
        require(
            len(decided) == n_examples,
            f"decide gave {len(decided)} predictions for {n_examples} examples.",
        )
    for start in points:
        for end in points:
            if end is not start:
                _check_ray(risk, start, end)
    if (n_scores is None or type(risk).shift is not Risk.shift) and _has_intercept(risk, points[0]):
        for scores in points:
            _check_intercept(risk, scores, points)
    if hasattr(risk, "smoothed"):
        for scores in points:
            _check_smoothed(cast(RoundedRisk, risk), scores, points)


def _has_intercept(risk: Risk, scores: Array) -> bool:
    if not risk.takes_intercept:
        return False
    try:
        risk.shift(scores)
    except NoInterceptError:
        return False
    return True


def _size(coef: Array, scores: Array) -> float:
    """The size of the terms of <coef, scores>: what rounding is measured by."""
    return float(np.abs(coef).ravel() @ np.abs(scores).ravel())


def _check_plane(
    name: str, plane: ScoreCut | Smoothed, risk: Risk, scores: Array, points: Sequence[Array], *, tight: bool = True
) -> None:
    coef, offset = np.asarray(plane.coef), float(plane.offset)
    require(
        coef.shape == scores.shape,
        f"{name}: coef has the shape {coef.shape}; it must be that of the scores, {scores.shape}.",
    )
    size = abs(offset) + _size(coef, scores) + risk.value(scores)
    require_close(plane.value, risk.value(scores), size, f"{name}: its value is not the risk where it was taken")
    if tight:
        require_close(
            np.vdot(coef, scores) + offset,
            risk.value(scores),
            size,
            f"{name}: the plane <coef, S> + offset does not touch the risk where it was taken",
        )
    for other in points:
        height, value = float(np.vdot(coef, other)) + offset, risk.value(other)
        slack = ROUNDING * (abs(offset) + _size(coef, other) + abs(value))
        require(
            height <= value + slack,
            f"{name}: the plane is above the risk, {height!r} > {value!r}: "
            "coef is no subgradient, or the risk is not convex.",
        )


def _check_ray(risk: Risk, start: Array, end: Array) -> None:
    ray = risk.ray(start, end)
    if ray is None:
        return

    def at(t: float) -> float:
        return risk.value(start + t * (end - start))

    far = float(np.abs(start).max() + np.abs(end).max())
    scale = risk.value(start) + risk.value(end) + far
    for t in (0.0, 0.3, 1.0, 2.5):
        require_close(ray.value(t), at(t), scale * (1.0 + t), f"ray.value({t}) is not the risk there")
        right = t + 1e-7
        step = right - t  # exactly, as `right` is rounded
        value = ray.value(right)
        chord = (value - ray.value(t)) / step
        # The chord of a convex function is between the slopes at its ends, up to the rounding of the two values.
        # Beyond the ends of the ray these may be far greater than at them.
        slack = 2.0 * _rounding_of_sums(start.size) * (abs(value) + far * (1.0 + t)) / step
        require(
            ray.slope(t) <= chord + slack,
            f"ray.slope({t}) is {ray.slope(t)!r}, steeper than the risk right of it, {chord!r}.",
        )
        require(
            ray.slope(right) >= chord - slack,
            f"ray.slope({right}) is {ray.slope(right)!r}, flatter than the risk left of it, {chord!r}.",
        )
    for quadratic, linear, C in ((1.0, 0.0, 1.0), (0.1, -0.5, 10.0), (2.0, 1.0, 0.1)):
        missed = getattr(ray, "accuracy", 0.0)
        _check_ray_minimum(ray.minimise(quadratic, linear, C), at, quadratic, linear, C, missed)


def _rounding_of_sums(terms: int) -> float:
    """The most that a sum may be off, relative to the sizes of its terms, in whatever order they are added.

    Each addition rounds once, and so do a handful of operations inside each term. Loops without vectors add one term
    after the other and come closer to it than those that keep several sums.
    """
    return (terms + 8) * float(np.finfo(np.float64).eps) / 2.0


def _check_ray_minimum(
    found: float, at: Callable[[float], float], quadratic: float, linear: float, C: float, missed: float
) -> None:
    """Check a minimiser that may miss a fraction `missed` of the descent it makes."""

    def f(t: float) -> float:
        return 0.5 * quadratic * t * t + linear * t + C * at(t)

    require(found >= 0.0, f"ray.minimise gave {found!r}; steps are never negative.")
    value = f(found)
    grid = np.concatenate([np.linspace(0.0, 3.0, 301), found + np.linspace(-0.1, 0.1, 21)])
    best, t = min((f(t), t) for t in grid if t >= 0.0)
    size = C * (abs(at(found)) + abs(at(0.0))) + abs(linear * found) + quadratic * found**2
    require(
        value <= best + 1e-11 * size + missed * max(0.0, f(0.0) - value),
        f"ray.minimise({quadratic}, {linear}, {C}) gave {found!r} with the value {value!r}; {t!r} has {best!r}.",
    )


def _check_intercept(risk: Risk, scores: Array, points: Sequence[Array]) -> None:
    shift = risk.shift(scores)
    settled = scores + shift
    least = risk.value(settled)
    moves: list[float | Array] = [-shift, 0.0, *np.linspace(-3.0, 3.0, 61), -1e3, 1e3]
    accuracy = ROUNDING
    if scores.ndim > 1:  # one intercept for each column; several at a time are found up to a small width
        moves = [-shift, *(size * move for size in (1e-3, 1.0, 1e3) for move in _directions(scores.shape[1]))]
        accuracy = 1e-5
    for other in moves:
        value = risk.value(settled + other)
        require(
            least <= value + accuracy * (1.0 + value + float(np.abs(other).max())),
            f"shift gave {shift!r} with the risk {least!r}; adding {np.round(other, 3)} more gives {value!r}.",
        )
    plane = risk.balanced_cut(settled)
    total = float(np.abs(np.sum(plane.coef, axis=0)).max())
    require(
        total <= ROUNDING * max(1.0, float(np.abs(plane.coef).sum())),
        f"balanced_cut: its coefficients sum to {total!r}; they must to 0, for the intercept is free.",
    )
    # Kinks are met up to a width: the plane is tight up to that.
    height = float(np.vdot(plane.coef, settled)) + plane.offset
    require(
        height >= least - max(1e-8, accuracy) * max(1.0, _size(plane.coef, settled)),
        f"balanced_cut: the plane has the height {height!r} where it was taken and the risk is {least!r}.",
    )
    _check_plane("balanced_cut", plane, risk, settled, points, tight=False)


def _directions(columns: int) -> Array:
    """Moves of single intercepts and of many at once."""
    single = np.eye(columns)
    return np.concatenate([single, -single, np.random.default_rng(0).normal(size=(20, columns))])


def _check_smoothed(risk: RoundedRisk, scores: Array, points: Sequence[Array]) -> None:
    last = np.inf
    for h in (4.0, 1.0, 0.1, 1e-3):
        rounded = risk.smoothed(scores, h)
        _check_plane(f"smoothed(h={h})", rounded, risk, scores, points, tight=False)
        height = float(np.vdot(rounded.coef, scores)) + rounded.offset
        size = abs(rounded.offset) + _size(rounded.coef, scores) + abs(rounded.value)
        require_close(
            rounded.error,
            rounded.value - height,
            size,
            f"smoothed(h={h}): error is not value - <coef, S> - offset",
        )
        require(
            rounded.error <= last + ROUNDING * size,
            f"smoothed: rounding over h={h} costs {rounded.error!r}, over a greater width only {last!r}.",
        )
        last = rounded.error
