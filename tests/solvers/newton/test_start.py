"""Where Newton's method goes on from when another C comes next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cutplane.objectives.factory import make_objective
from cutplane.objectives.rounded import RoundedObjective
from cutplane.risks.hinge import Hinge
from cutplane.solvers.base import Evaluated
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.progress import Progress, Within
from cutplane.solvers.newton.rounded import evaluate, widened
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.newton.start import from_last, resumed_start, worth_a_sample
from cutplane.solvers.stopping import Stopping
from cutplane.sources.matrix import DenseSource


def plenty(n: int = 40_000, d: int = 4) -> RoundedObjective:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return make_objective(DenseSource(X), Hinge(np.where(X[:, 0] + rng.normal(size=n) > 0.2, 1, -1)))


def books(objective: RoundedObjective, C: float, gap: float = 1e-3) -> Ledger:
    ledger = Ledger(C, Bundle(objective.dimension, lower_bound=0.0), Stopping(relative_gap=gap))
    ledger.handover.more = True
    return ledger


def solved(objective: RoundedObjective, C: float, gap: float = 1e-3) -> Ledger:
    ledger = books(objective, C, gap)
    assert SmoothedNewton().run(objective, ledger) == "gap"
    return ledger


def next_after(objective: RoundedObjective, last: Ledger, C: float, gap: float = 1e-3) -> Ledger:
    """The books of a run for another C, as a path opens them."""
    ledger = books(objective, C, gap)
    ledger.bundle = last.bundle.copy()
    ledger.handover = replace(last.handover)
    assert last.incumbent is not None
    ledger.offer(last.incumbent, objective.value(last.incumbent))
    ledger.solve()
    return ledger


def test_the_last_evaluation_is_kept_only_where_another_C_comes_next() -> None:
    objective = plenty()
    ledger = solved(objective, 10.0)
    last = ledger.handover.evaluated
    assert last is not None
    now = objective.smoothed(objective.at(last.point.w), last.h)
    np.testing.assert_allclose(last.cut.slope, now.slope, atol=1e-12)
    assert ledger.handover.sample is not None
    alone, objective = Ledger(10.0, Bundle(4, lower_bound=0.0), Stopping(relative_gap=1e-3)), plenty()
    SmoothedNewton().run(objective, alone)
    assert alone.handover.evaluated is None
    assert alone.handover.sample is None


def test_near_the_optimum_one_step_is_made_from_the_last_evaluation() -> None:
    objective = plenty()
    last = solved(objective, 1000.0)
    ledger = next_after(objective, last, 1100.0)
    start = from_last(objective, ledger)
    assert start is not None
    assert last.handover.evaluated is not None
    assert start.scored is last.handover.evaluated.point
    assert start.known is not None
    np.testing.assert_allclose(start.known.gradient, start.w + 1100.0 * last.handover.evaluated.cut.slope)
    assert SmoothedNewton().run(objective, ledger, start) == "gap"
    assert len(ledger.history) <= 1


def test_far_from_it_a_sample_shows_the_way() -> None:
    objective = plenty()
    last = solved(objective, 1.0)
    ledger = next_after(objective, last, 4.0)
    assert worth_a_sample(objective, ledger, ledger.handover.evaluated)
    start = resumed_start(objective, ledger)
    assert start is not None
    assert start.anchor is ledger.handover.evaluated
    assert start.known is None
    assert SmoothedNewton().run(objective, ledger, start) == "gap"
    close = solved(objective, 4.0, 1e-9)
    assert ledger.lower <= close.upper
    assert ledger.upper >= close.lower


def test_a_sample_that_is_far_off_is_not_asked_from_the_last_model() -> None:
    """With a large C the slope of a sample says nothing any more."""
    objective = plenty()
    last = solved(objective, 100.0)
    assert last.handover.evaluated is not None
    ledger = next_after(objective, last, 1e9)
    assert ledger.upper - ledger.lower > 0.03 * ledger.upper
    assert not worth_a_sample(objective, ledger, ledger.handover.evaluated)
    assert worth_a_sample(objective, ledger)  # as far as is known without one
    assert from_last(objective, ledger) is None
    start = resumed_start(objective, ledger)
    assert start is not None
    assert start.scored is ledger.incumbent


def test_few_examples_are_no_sample() -> None:
    objective = plenty(2000, 4)
    ledger = books(objective, 1.0)
    ledger.upper, ledger.lower = 1.0, 0.0
    assert not worth_a_sample(objective, ledger)


def test_without_an_incumbent_there_is_nothing_to_go_on_from() -> None:
    objective = plenty(2000)
    assert resumed_start(objective, books(objective, 1.0)) is None


@pytest.mark.parametrize("foreseen", [1e-2, 1e-3, 1e-9])
def test_where_the_error_of_a_start_is_foreseen_rounding_costs_as_much(foreseen: float) -> None:
    objective = plenty(3000)
    point = objective.at(np.array([0.9, 0.05, 0.0, 0.0]))
    ledger = books(objective, 50.0)
    ledger.offer(point, objective.value(point))
    ledger.lower = 0.5 * ledger.upper
    ledger.foreseen_error = foreseen * ledger.upper
    start = resumed_start(objective, ledger)
    assert start is not None
    error = ledger.C * objective.rounding_error(point, start.h) / ledger.upper
    assert error == pytest.approx(foreseen if foreseen > 2e-3 else 4e-4, rel=0.3)


def test_a_width_is_scaled_by_what_rounding_may_cost() -> None:
    assert widened(0.2, 4.0, 1.0) == pytest.approx(0.1)
    assert widened(0.2, 0.0, 1.0) == 0.2


def test_one_step_on_all_examples_is_for_paths_where_rounding_is_fine_enough() -> None:
    objective = plenty(3000)
    last = solved(objective, 50.0)
    assert isinstance(last.handover.evaluated, Evaluated)
    now = evaluate(last.handover.evaluated.cut, last.handover.evaluated.point.w, 50.0)
    assert Progress(objective, last, 0).in_one_step(now)
    assert not Within(1e-3, 30).in_one_step(now)
    last.handover.more = False
    assert not Progress(objective, last, 0).in_one_step(now)
    last.handover.more = True
    finer = books(objective, 50.0, 1e-8)
    finer.upper = last.upper
    assert not Progress(objective, finer, 0).in_one_step(now)
