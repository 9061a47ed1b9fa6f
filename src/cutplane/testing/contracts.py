"""The contracts of sources, risks and certificates, as checks: each raises AssertionError with what is wrong.

A new source or risk is ready when its check passes on samples of every kind it claims to take.

Examples
--------
>>> import numpy as np
>>> from cutplane.risks.hinge import Hinge
>>> from cutplane.sources import DenseSource
>>> from cutplane.testing import check_risk, check_source
>>> X = np.random.default_rng(0).normal(size=(50, 3))
>>> check_source(DenseSource(X), X)
>>> check_risk(Hinge(np.where(X[:, 0] > 0, 1, -1)), n_examples=50)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane.risks.base import Risk, RoundedRisk
from cutplane.risks.intercept import NoInterceptError
from cutplane.solvers.result import Step
from cutplane.sources.base import Source
from cutplane.testing import reference

Array = NDArray[np.float64]

# Sums of a few thousand products, in any order, agree to about this much of the sum of their sizes.
_ROUNDING = 1e-12


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _require_close(found: ArrayLike, expected: ArrayLike, scale: ArrayLike, message: str) -> None:
    """Equal up to the rounding of sums whose terms have the size `scale`."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    _require(found.shape == expected.shape, f"{message}: the shape is {found.shape} instead of {expected.shape}.")
    off = np.abs(found - expected)
    wrong = ~(off <= _ROUNDING * np.asarray(scale))  # NaN is wrong, too
    if wrong.any():
        place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        where = f" at {tuple(int(k) for k in place)}" if place else ""
        raise AssertionError(f"{message}: {found[place]!r} instead of {expected[place]!r}{where}.")


# --- sources ---


def check_source(
    source: Source, X: ArrayLike, *, seed: int = 0, twins: Sequence[Source] = (), taken: bool = True
) -> None:
    """Check that a source is the linear map X.

    Parameters
    ----------
    source : Source
    X : array of shape (n, d)
        The same examples as a dense array.
    seed : int
        For the vectors it is tried on.
    twins : sequence of Source
        The same source with other numbers of threads: their results must be the same to the bit.
    taken : bool
        Whether `take` is checked as well.

    Raises
    ------
    AssertionError
        Saying what is wrong.
    """
    full = reference.dense(X)
    n, d = full.shape
    _require(source.shape == (n, d), f"shape is {source.shape}; it must be (n, d) = {(n, d)}.")
    rng = np.random.default_rng(seed)
    for columns in ((), (1,), (3,)):
        w, coef = rng.normal(size=(d, *columns)), rng.normal(size=(n, *columns))
        coef[rng.random(n) < 0.3] = 0.0
        found_scores, found_sums = source.scores(w), source.combine(coef)
        name = f"of shape {w.shape}"
        _require_close(found_scores, full @ w, np.abs(full) @ np.abs(w), f"scores(w), w {name}, is not X @ w")
        _require_close(
            found_sums,
            full.T @ coef,
            np.abs(full).T @ np.abs(coef),
            f"combine(coef), coef of shape {coef.shape}, is not X.T @ coef",
        )
        _require(
            found_scores.dtype == found_sums.dtype == np.float64,
            f"scores and combine gave {found_scores.dtype} and {found_sums.dtype}; they must give float64.",
        )
        _require_close(
            np.vdot(found_scores, coef),
            np.vdot(w, found_sums),
            np.vdot(np.abs(full) @ np.abs(w), np.abs(coef)),
            f"combine is not the adjoint of scores for w {name}: <X w, g> differs from <w, X' g>",
        )
        for twin in twins:
            _require(
                np.array_equal(twin.scores(w), found_scores) and np.array_equal(twin.combine(coef), found_sums),
                f"{twin!r} gives other bits than {source!r}: the number of threads must not matter.",
            )
    _check_curvature(source, full, rng, twins)
    if taken:
        _check_take(source, full, rng)


def _check_curvature(source: Source, full: Array, rng: np.random.Generator, twins: Sequence[Source]) -> None:
    n, d = full.shape
    rows = np.flatnonzero(rng.random(n) < 0.5).astype(np.int64)
    weights: Array = rng.uniform(size=(len(rows),))
    v: Array = rng.normal(size=(d,))
    part = np.abs(full[rows])
    found = source.curvature(rows, weights, v)
    _require_close(
        found,
        reference.curvature(full, rows, weights, v),
        part.T @ (weights * (part @ np.abs(v))),
        "curvature(rows, weights, v) is not the sum of weights[i] x_i <x_i, v>",
    )
    for twin in twins:
        _require(
            np.array_equal(twin.curvature(rows, weights, v), found),
            f"{twin!r} gives another curvature than {source!r}: the number of threads must not matter.",
        )
    # A gram only serves as a preconditioner: single precision will do.
    lower = np.tril_indices(d)
    gram, expected = source.gram(rows, weights), reference.gram(full, rows, weights)
    _require(gram.shape == (d, d), f"gram has the shape {gram.shape}; it must be {(d, d)}.")
    _require_close(
        gram[lower],
        expected[lower],
        1e-5 / _ROUNDING * np.asarray((part.T * weights) @ part)[lower],
        "the lower triangle of gram(rows, weights) is not that of the sum of weights[i] x_i x_i'",
    )


def _check_take(source: Source, full: Array, rng: np.random.Generator) -> None:
    n = len(full)
    choices: dict[str, NDArray[np.int64]] = {
        "some rows, shuffled": rng.permutation(n)[: max(1, n // 2)],
        "a row twice": np.array([0, n - 1, 0], dtype=np.int64),
        "no row": np.zeros(0, dtype=np.int64),
    }
    for name, rows in choices.items():
        try:
            check_source(source.take(rows), full[rows], taken=False)
            inner = np.arange(len(rows), dtype=np.int64)[::-2].copy()
            check_source(source.take(rows).take(inner), full[rows[inner]], taken=False)
        except AssertionError as error:
            raise AssertionError(f"take, {name}: {error}") from None


# --- risks ---


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
        _require(
            np.isfinite(value) and value >= risk.lower_bound,
            f"value is {value!r}; it must be finite and at least lower_bound={risk.lower_bound!r}.",
        )
        _check_plane("cut", risk.cut(scores), risk, scores, points)
        decided = np.asarray(risk.decide(scores))
        _require(
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
    if isinstance(risk, RoundedRisk):
        for scores in points:
            _check_smoothed(risk, scores, points)


def _has_intercept(risk: Risk, scores: Array) -> bool:
    try:
        risk.shift(scores)
    except NoInterceptError:
        return False
    return True


def _size(coef: Array, scores: Array) -> float:
    """The size of the terms of <coef, scores>: what rounding is measured by."""
    return float(np.abs(coef).ravel() @ np.abs(scores).ravel())


def _check_plane(
    name: str, plane: Any, risk: Risk, scores: Array, points: Sequence[Array], *, tight: bool = True
) -> None:
    coef, offset = np.asarray(plane.coef), float(plane.offset)
    _require(
        coef.shape == scores.shape,
        f"{name}: coef has the shape {coef.shape}; it must be that of the scores, {scores.shape}.",
    )
    size = abs(offset) + _size(coef, scores) + risk.value(scores)
    _require_close(plane.value, risk.value(scores), size, f"{name}: its value is not the risk where it was taken")
    if tight:
        _require_close(
            np.vdot(coef, scores) + offset,
            risk.value(scores),
            size,
            f"{name}: the plane <coef, S> + offset does not touch the risk where it was taken",
        )
    for other in points:
        height, value = float(np.vdot(coef, other)) + offset, risk.value(other)
        slack = _ROUNDING * (abs(offset) + _size(coef, other) + abs(value))
        _require(
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

    scale = risk.value(start) + risk.value(end) + float(np.abs(start).max() + np.abs(end).max())
    for t in (0.0, 0.3, 1.0, 2.5):
        _require_close(ray.value(t), at(t), scale * (1.0 + t), f"ray.value({t}) is not the risk there")
        step = 1e-7
        chord = (ray.value(t + step) - ray.value(t)) / step
        # Right of t a convex function rises at least as fast as its right derivative says.
        slack = 1e-8 * scale  # the rounding of the two values, divided by the step
        _require(
            ray.slope(t) <= chord + slack,
            f"ray.slope({t}) is {ray.slope(t)!r}, steeper than the risk right of it, {chord!r}.",
        )
        _require(
            ray.slope(t + step) >= chord - slack,
            f"ray.slope({t + step}) is {ray.slope(t + step)!r}, flatter than the risk left of it, {chord!r}.",
        )
    for quadratic, linear, C in ((1.0, 0.0, 1.0), (0.1, -0.5, 10.0), (2.0, 1.0, 0.1)):
        _check_ray_minimum(ray.minimise(quadratic, linear, C), at, quadratic, linear, C)


def _check_ray_minimum(found: float, at: Callable[[float], float], quadratic: float, linear: float, C: float) -> None:
    def f(t: float) -> float:
        return 0.5 * quadratic * t * t + linear * t + C * at(t)

    _require(found >= 0.0, f"ray.minimise gave {found!r}; steps are never negative.")
    value = f(found)
    grid = np.concatenate([np.linspace(0.0, 3.0, 301), found + np.linspace(-0.1, 0.1, 21)])
    best, t = min((f(t), t) for t in grid if t >= 0.0)
    size = C * (abs(at(found)) + abs(at(0.0))) + abs(linear * found) + quadratic * found**2
    _require(
        value <= best + 1e-11 * size,
        f"ray.minimise({quadratic}, {linear}, {C}) gave {found!r} with the value {value!r}; {t!r} has {best!r}.",
    )


def _check_intercept(risk: Risk, scores: Array, points: Sequence[Array]) -> None:
    shift: Any = risk.shift(scores)
    settled = scores + shift
    least = risk.value(settled)
    moves: list[Any] = [-shift, 0.0, *np.linspace(-3.0, 3.0, 61), -1e3, 1e3]
    accuracy = _ROUNDING
    if scores.ndim > 1:  # one intercept for each column; several at a time are found up to a small width
        moves = [-shift, *(size * move for size in (1e-3, 1.0, 1e3) for move in _directions(scores.shape[1]))]
        accuracy = 1e-5
    for other in moves:
        value = risk.value(settled + other)
        _require(
            least <= value + accuracy * (1.0 + value + float(np.abs(other).max())),
            f"shift gave {shift!r} with the risk {least!r}; adding {np.round(other, 3)} more gives {value!r}.",
        )
    plane = risk.balanced_cut(settled)
    total = float(np.abs(np.sum(plane.coef, axis=0)).max())
    _require(
        total <= _ROUNDING * max(1.0, float(np.abs(plane.coef).sum())),
        f"balanced_cut: its coefficients sum to {total!r}; they must to 0, for the intercept is free.",
    )
    # Kinks are met up to a width: the plane is tight up to that.
    height = float(np.vdot(plane.coef, settled)) + plane.offset
    _require(
        height >= least - max(1e-8, accuracy) * max(1.0, _size(plane.coef, settled)),
        f"balanced_cut: the plane has the height {height!r} where it was taken and the risk is {least!r}.",
    )
    _check_plane("balanced_cut", plane, risk, settled, points, tight=False)


def _directions(columns: int) -> Array:
    """Moves of single intercepts and of many at once."""
    single = np.eye(columns)
    return np.concatenate([single, -single, np.random.default_rng(0).normal(size=(20, columns))])


def _check_smoothed(risk: Any, scores: Array, points: Sequence[Array]) -> None:
    last = np.inf
    for h in (4.0, 1.0, 0.1, 1e-3):
        rounded = risk.smoothed(scores, h)
        _check_plane(f"smoothed(h={h})", rounded, risk, scores, points, tight=False)
        height = float(np.vdot(rounded.coef, scores)) + rounded.offset
        size = abs(rounded.offset) + _size(rounded.coef, scores) + abs(rounded.value)
        _require_close(
            rounded.error,
            rounded.value - height,
            size,
            f"smoothed(h={h}): error is not value - <coef, S> - offset",
        )
        _require(
            rounded.error <= last + _ROUNDING * size,
            f"smoothed: rounding over h={h} costs {rounded.error!r}, over a greater width only {last!r}.",
        )
        last = rounded.error


# --- certificates ---


def check_certificate(
    history: Sequence[Step], upper: float, lower: float, optimum: float, *, accuracy: float = 1e-7
) -> None:
    """Check the bounds of a run against the optimum, known from elsewhere up to a relative `accuracy`.

    Parameters
    ----------
    history : sequence of Step
        What the iterations reported.
    upper, lower : float
        What the run reported in the end.
    optimum : float
        The least value of the objective.
    accuracy : float

    Raises
    ------
    AssertionError
        Saying what is wrong.
    """
    slack = accuracy * abs(optimum)
    steps = [*history]
    _require(steps, "the history is empty; every run has at least one iteration.")
    for step in steps:
        _require(
            step.lower <= optimum + slack,
            f"iteration {step.iteration} claims a lower bound {step.lower!r}, above the optimum {optimum!r}.",
        )
        _require(
            step.upper >= optimum - slack,
            f"iteration {step.iteration} claims the objective {step.upper!r}, below the optimum {optimum!r}.",
        )
    for before, after in pairwise(steps):
        _require(
            after.upper <= before.upper,
            f"upper rises from {before.upper!r} to {after.upper!r} in iteration {after.iteration}.",
        )
        # Where the bounds meet, the lower one is cut off at the upper one: that much it may fall.
        _require(
            after.lower >= before.lower - _ROUNDING * abs(before.lower),
            f"lower falls from {before.lower!r} to {after.lower!r} in iteration {after.iteration}.",
        )
    last = steps[-1]
    _require(
        upper <= last.upper and lower >= last.lower,
        f"the result, [{lower!r}, {upper!r}], is worse than the last iteration, [{last.lower!r}, {last.upper!r}].",
    )
    _require(
        lower <= optimum + slack and upper >= optimum - slack,
        f"the result, [{lower!r}, {upper!r}], does not hold the optimum {optimum!r}.",
    )
