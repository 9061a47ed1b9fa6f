"""Directions of smoothed Newton: to a narrower width in one step, or by what the examples on kinks will do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cutplane.objectives.factory import make_objective
from cutplane.objectives.rounded import RoundedObjective
from cutplane.risks.hinge import Hinge
from cutplane.solvers.newton.rounded import Evaluation, evaluate
from cutplane.solvers.newton.step import is_far_enough, newton_direction, search
from cutplane.solvers.newton.system import NewtonSystem
from cutplane.sources.matrix import DenseSource


def objective_of(examples: int, noise: float) -> RoundedObjective:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(examples, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + noise * generator.normal(size=examples) > 0.0, 1.0, -1.0)
    return make_objective(DenseSource(X), Hinge(y))


def solved(objective: RoundedObjective, C: float, h: float) -> tuple[object, Evaluation]:
    """The optimum of the objective rounded over h."""
    system, point = NewtonSystem(3), objective.at(np.zeros(3))
    for _ in range(50):
        now = evaluate(objective.smoothed(point, h), point.w, C)
        p, shift = newton_direction(objective, C, point, now, h, h, system, bold=True)
        direction = objective.score(p, shift)
        point = objective.move(point, direction, search(objective, point, direction, h, C))
    return point, evaluate(objective.smoothed(point, h), point.w, C)


@pytest.mark.parametrize("examples", [30, 3000])
def test_a_step_to_a_narrower_width_leaves_little_of_its_slope(examples: int) -> None:
    """Both with few examples on kinks, which mostly stay there, and with many, each of which hardly counts."""
    objective, C = objective_of(examples, 2.0), 5.0
    point, now = solved(objective, C, 0.5)
    assert now.residual <= 1e-12
    before = evaluate(objective.smoothed(point, 0.25), point.w, C)
    p, shift = newton_direction(objective, C, point, now, 0.5, 0.25, NewtonSystem(3), bold=True)
    direction = objective.score(p, shift)
    step = search(objective, point, direction, 0.25, C)
    end = objective.move(point, direction, step)
    after = evaluate(objective.smoothed(end, 0.25), end.w, C)
    assert after.residual < 0.2 * before.residual
    assert_allclose(after.upper - after.lower, after.residual + after.error, rtol=1e-9)


def test_a_search_that_is_told_the_first_slope_takes_the_same_step() -> None:
    objective, C, h = objective_of(300, 1.0), 5.0, 0.5
    point = objective.at(np.array([0.3, 0.1, 0.0]))
    now = evaluate(objective.smoothed(point, h), point.w, C)
    for p in (-now.gradient, -0.01 * now.gradient, now.gradient):
        direction, first = objective.score(p, 0.0), float(now.gradient @ p)
        told = search(objective, point, direction, h, C, first)
        assert told == pytest.approx(search(objective, point, direction, h, C), rel=1e-12)
        assert (told > 0.0) == (first < 0.0)


@pytest.mark.parametrize("length", [0.2, 0.7, 1.0, 1.3, 3.0])
def test_a_step_is_far_enough_where_at_most_half_of_the_slope_is_left(length: float) -> None:
    objective, C, h = objective_of(3000, 2.0), 5.0, 0.5
    point = objective.at(solved(objective, C, h)[0].w + np.array([0.02, -0.01, 0.0]))
    now = evaluate(objective.smoothed(point, h), point.w, C)
    newton, _ = newton_direction(objective, C, point, now, h, h, NewtonSystem(3), bold=True)
    direction = objective.score(length * newton, 0.0)
    found = objective.stepped(point, direction.w, h)
    assert found is not None
    slopes = [
        objective.smoothed_ray(point, direction, [t], h)[0][1] * C + (point.w + t * direction.w) @ direction.w
        for t in (0.0, 1.0)
    ]
    assert is_far_enough(now, C, direction.w, *found) == (abs(slopes[1]) <= 0.5 * abs(slopes[0]))
    assert is_far_enough(now, C, direction.w, *found) == (0.5 < length < 1.5)
