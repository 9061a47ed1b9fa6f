"""Planes whose slopes are the running sums of dual ascent: what rounding did to these is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane.objectives.factory import make_objective
from cutplane.proof.rounding import UNIT
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.solvers.base import Cut
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source
from cutplane.sources.augmented import AugmentedSource

C = 300.0
LOSSES = ("hinge", "squared_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive")


def ascending(loss: str, constant: float = 0.0, decades: int = 3) -> tuple[ExampleAscent, Any]:
    """An ascent before its first epoch, and its examples."""
    rng = np.random.default_rng(3)
    scales = 10.0 ** rng.integers(-decades, decades + 1, size=40)
    X = sp.random_array((80, 40), density=0.2, rng=rng, format="csr") * scales
    targets = rng.normal(size=80)
    y = np.where(targets > 0.0, 1.0, -1.0) if loss in BINARY else targets
    risk = {**BINARY, **REGRESSION}[loss](y, **({"epsilon": 0.1} if "epsilon" in loss else {}))
    source = as_source(sp.csr_array(X))
    objective = make_objective(AugmentedSource(source, constant) if constant else source, risk, intercept=False)
    ascent = objective.dual_ascent(C, seed=0)
    assert isinstance(ascent, ExampleAscent)
    full = X.toarray()
    return ascent, np.hstack([full, np.full((80, 1), constant)]) if constant else full


def errors(plane: Cut, X: Any) -> Any:
    """How far each entry of the slope is from the sum of the examples with the plane's coefficients."""
    assert plane.coef is not None
    coef = [Fraction(value) for value in plane.coef.tolist()]
    return np.array(
        [
            float(abs(Fraction(there) - sum(c * Fraction(x) for c, x in zip(coef, column, strict=True))))
            for there, column in zip(plane.slope.tolist(), X.T.tolist(), strict=True)
        ]
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_a_running_sum_is_no_further_off_than_it_says(loss: str, constant: float) -> None:
    ascent, X = ascending(loss, constant)
    for _ in range(6):
        for _ in range(2):
            ascent.epoch()
        ascent.extrapolate()
    plane = ascent.plane(np.inf)
    off, sizes = errors(plane, X), np.abs(X).max(axis=0)
    assert off.max() > 0.0
    assert (off <= plane.drift * sizes).all()
    # And says little enough to be of use.
    assert plane.drift <= 1e-6 * np.abs(plane.coef).sum()
    fresh = ascent.plane(0.0)
    assert fresh.drift == 0.0
    np.testing.assert_array_equal(fresh.coef, plane.coef)


def test_variables_that_came_from_afar_leave_their_rounding_behind() -> None:
    ascent, X = ascending("squared_hinge", decades=0)
    y = np.sign(ascent._risk.y)
    far = 1e9 * y
    ascent._ascent.resume(far, ascent._source.combine(far), 0.0, 100.0)
    for _ in range(300):
        ascent.epoch()
    plane = ascent.plane(np.inf)
    off, sizes = errors(plane, X), np.abs(X).max(axis=0)
    # Far more than sums of the present variables are ever off.
    assert (off > 1000 * 80 * UNIT * np.abs(plane.coef).sum() * sizes).any()
    assert (off <= plane.drift * sizes).all()


def test_sums_that_nobody_has_counted_are_made_afresh() -> None:
    ascent, _ = ascending("hinge")
    for _ in range(3):
        ascent.epoch()
    assert 0.0 < ascent.plane(1e300).drift < np.inf
    assert ascent.climb(10, 0.0).products > 0
    assert ascent.plane(1e300).drift == 0.0
    # Nor are those of variables that were moved into their bounds.
    beyond = 1e6 * ascent._risk.y.astype(float)
    ascent._ascent.resume(beyond, ascent._source.combine(beyond), 0.0, 100.0)
    assert ascent.plane(1e300).drift == 0.0


def test_a_ledger_charges_for_the_drift_of_a_slope() -> None:
    ascent, X = ascending("hinge")
    for _ in range(3):
        ascent.epoch()
    rounding = make_objective(ascent._source, ascent._risk, intercept=False).rounding
    ledger = Ledger(C, Bundle(X.shape[1]), Stopping(relative_gap=1e-3), rounding=rounding)
    running, fresh = ascent.plane(np.inf), ascent.plane(0.0)
    more = ledger.add(running).error - ledger.add(fresh).error
    assert more == pytest.approx(running.drift * rounding.reach)
