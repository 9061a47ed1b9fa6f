"""Where bounds are found, what dual ascent has left is a linear system: conjugate gradients solve it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.selection import first_cases

from cutplane import LinearSVC, _core
from cutplane.objectives.factory import make_objective
from cutplane.risks.intercept import balanced
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.shards.example_ascent import WITHIN, ExampleAscent
from cutplane.solvers.ascent.pace import Pace
from cutplane.solvers.base import Cut
from cutplane.sources import as_source

C = 2000.0
# The scores at which the slope of a loss jumps, as far from the target as this; others have one slope at each score.
KINKS = {"hinge": 0.0, "epsilon_insensitive": 0.1, "quantile": 0.0}
SLOPES = ("squared_hinge", "squared_epsilon_insensitive", "huber")
EPSILON: dict[str, Any] = {key: {"epsilon": 0.1} for key in ("epsilon_insensitive", "squared_epsilon_insensitive")}


def text(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """Rows of few features, some of which nearly all share, and numbers that weights of them explain in part."""
    rng = np.random.default_rng(seed)
    own = sp.random_array((n, d), density=20 / d, rng=rng, format="csr")
    X = sp.csr_array(sp.hstack([own, sp.csr_array(2.0 + rng.random((n, 5)))]))
    X = sp.csr_array(sp.diags_array(1.0 / sp.linalg.norm(X, axis=1)) @ X)
    return X, 3.0 * (X @ rng.normal(size=d + 5)) + rng.normal(size=n)


def ascending(loss: str, intercept: bool, epochs: int) -> tuple[ExampleAscent, Any, Any, Any]:
    """An ascent after some epochs, its examples, targets and risk."""
    X, targets = text(300, 400)
    y = np.where(targets > np.median(targets), 1.0, -1.0) if loss in BINARY else targets + 5.0
    risk = {**BINARY, **REGRESSION}[loss](y, **EPSILON.get(loss, {}))
    ascent = make_objective(as_source(X), risk, intercept=intercept).dual_ascent(C, seed=0)
    assert isinstance(ascent, ExampleAscent)
    for _ in range(epochs):
        ascent.epoch()
    return ascent, X, y, risk


def coefficients(ascent: ExampleAscent) -> Any:
    return -np.asarray(ascent._ascent.coefficients(1.0, False))


def proven(plane: Cut) -> float:
    """What a plane proves."""
    return C * plane.offset - 0.5 * C * C * float(plane.slope @ plane.slope)


@pytest.mark.parametrize("loss", [*KINKS, *SLOPES])
@pytest.mark.parametrize("intercept", [False, True])
def test_free_variables_end_where_their_examples_want_them(loss: str, intercept: bool) -> None:
    ascent, X, y, risk = ascending(loss, intercept, epochs=30)
    before = ascent.estimate
    climb = ascent.climb(10_000, 0.0)
    assert climb.stands
    assert climb.rise > 0.0
    # With an intercept it is a Lagrangian, and the multiplier has moved.
    assert intercept or ascent.estimate >= before * (1.0 - 1e-12)
    coef, (w, b) = coefficients(ascent), ascent.weights
    np.testing.assert_allclose(w, X.T @ coef, atol=1e-9 * np.abs(w).max())
    if intercept:
        assert abs(coef.sum()) <= 1e-9 * np.abs(coef).sum()
    scores, each = X @ w + b, coef * len(y) / C
    low, high = risk.dual_range
    free = (each > np.asarray(low) + 1e-9) & (each < np.asarray(high) - 1e-9) & (np.abs(each) > 1e-9)
    assert free.sum() >= 20
    assert (each >= low).all()
    assert (each <= high).all()
    if loss in KINKS:
        np.testing.assert_allclose(np.abs(scores - y)[free], KINKS[loss], atol=1e-7)
    else:
        np.testing.assert_allclose(-C * risk.cut(scores).coef[free], coef[free], atol=1e-6 * np.abs(coef).max())


def test_products_and_time_are_kept_to() -> None:
    ascent = ascending("hinge", intercept=True, epochs=30)[0]
    climb = ascent.climb(4, 0.0)
    assert 0 < climb.products <= 4 + 3  # the first gradient, balance and the move are counted, too
    assert ascent._ascent.climb(10_000, 0.0, -1.0)[0] <= 3


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_other_problems_are_left_alone(loss: str) -> None:
    """Heights that are no parabolas, and weights with a floor."""
    X, targets = text(50, 40)
    risk = BINARY[loss](np.sign(targets))
    floor = np.full(X.shape[1], 0.0) if loss == "hinge" else None
    ascent = make_objective(as_source(X), risk).dual_ascent(C, 0, floor)
    assert ascent is not None
    ascent.epoch()
    before = coefficients(ascent)
    assert ascent.climb(10, 0.0) == (0, 0.0, False)
    np.testing.assert_array_equal(coefficients(ascent), before)


@pytest.mark.parametrize("intercept", [False, True])
def test_epochs_are_few_where_examples_share_features(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    X, targets = text(1500, 3000, seed=1)
    y = np.where(targets > np.median(targets), 1, -1)
    counted = []
    epoch = ExampleAscent.epoch
    monkeypatch.setattr(ExampleAscent, "epoch", lambda self: (counted.append(1), epoch(self))[1])
    found = {}
    for climbs in (True, False):
        if not climbs:
            monkeypatch.setattr(Pace, "climbs", False)
        counted.clear()
        model = LinearSVC(C=1000.0, fit_intercept=intercept, tol=1e-9).fit(X, y)
        assert model.gap_ <= 1e-9
        found[climbs] = len(counted), model.objective_
    assert found[True][1] == pytest.approx(found[False][1], rel=2e-9)
    assert 3 * found[True][0] < 2 * found[False][0]  # 0.38 to 0.64 over seeds


@pytest.mark.parametrize(
    ("wide", "features", "climbs"), [(False, 300, False), (True, 300, True), (False, 20_000, True)]
)
def test_few_features_are_no_place_to_climb(wide: bool, features: int, climbs: bool) -> None:
    ledger: Any = SimpleNamespace(allowed_fraction=1e-3)
    ascent: Any = SimpleNamespace(sweeps=1, first_gap=np.inf)
    pace = Pace(ledger, ascent, wide, features, np.inf, np.inf)
    assert not pace.climbs  # before there is anything to solve for
    pace.epochs = 1000
    assert pace.climbs == climbs


def test_the_estimate_counts_what_balance_costs() -> None:
    """Variables out of balance, at a large intercept, promise what no plane proves."""
    X, targets = text(300, 400)
    risk = REGRESSION["epsilon_insensitive"](targets + 50.0, epsilon=0.1)
    ascent = make_objective(as_source(X), risk, intercept=True).dual_ascent(C, seed=0)
    assert isinstance(ascent, ExampleAscent)
    for _ in range(10):
        ascent.epoch()
    imbalance = coefficients(ascent).sum() * ascent.weights[1]
    bound = proven(ascent.plane())
    assert abs(imbalance) > 1e-6 * bound
    assert abs(ascent.estimate - bound) <= 0.5 * abs(imbalance)


@pytest.mark.parametrize("epochs", [1, 5, 30])
@pytest.mark.parametrize("loss", [*KINKS, *SLOPES, "logistic"])
def test_planes_with_an_intercept_are_balanced_and_below_the_risk(loss: str, epochs: int) -> None:
    ascent, X, _, risk = ascending(loss, intercept=True, epochs=epochs)
    plane, rng = ascent.plane(), np.random.default_rng(epochs)
    assert plane.coef is not None
    assert abs(plane.coef.sum()) <= 1e-14 * np.abs(plane.coef).sum()
    for _ in range(20):
        w, b = rng.normal(size=X.shape[1]), rng.normal(scale=5.0)
        assert float(plane.slope @ w) + plane.offset <= risk.value(X @ w + b) * (1.0 + 1e-12)


@pytest.mark.parametrize("loss", first_cases([*KINKS, "huber"], 1))
def test_free_variables_balance_the_others_at_little_cost(loss: str) -> None:
    """Scaling all of one sign costs in proportion to the imbalance."""
    ascent, _, y, risk = ascending(loss, intercept=True, epochs=30)
    for _ in range(10):
        ascent.climb(10_000, 0.0)
        for _ in range(100):
            ascent.epoch()
    ascent.climb(10_000, 0.0)
    best, coef = proven(ascent.plane()), coefficients(ascent)
    within = (1.0 - 1e-9) * C / len(y) * np.max(np.abs(risk.dual_range))
    leaning = np.where((coef > 0.0) & (coef < within), (1.0 - 1e-4) * coef, coef)
    ascent._ascent.resume(leaning, ascent._source.combine(leaning), ascent.weights[1])
    scaled_coef = balanced(np.asarray(ascent._ascent.coefficients(WITHIN / C, False)))
    moved, scaled = ascent.plane(), ascent._plane(scaled_coef, ascent._source.combine(scaled_coef))
    assert best - proven(scaled) > 1e-7 * best
    assert best - proven(moved) <= 0.1 * (best - proven(scaled))


@pytest.mark.parametrize(("loss", "intercept"), [("hinge", False), ("epsilon_insensitive", True)])
def test_a_climb_wakes_those_that_rest_where_they_should_not(loss: str, intercept: bool) -> None:
    ascent = ascending(loss, intercept, epochs=10)[0]
    active = ascent.share_active
    ascent.climb(10, 1e-9)
    assert ascent.share_active > active


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "quantile"])
def test_it_is_not_solved_closely_for_the_free_while_others_leave_more(loss: str) -> None:
    few, many = (ascending(loss, intercept=False, epochs=10)[0].climb(10_000, gap) for gap in (1e-9, 0.0))
    assert 0 < few.products < many.products


@pytest.mark.parametrize(
    ("above", "below", "epsilon", "ridge", "one_sided"),
    [(np.inf, np.inf, 0.0, 0.5, True), (np.inf, np.inf, 0.1, 0.5, False), (1.0, 1.0, 0.1, 0.0, False)],
    ids=["squared hinge", "squared tube", "tube"],
)
def test_examples_of_weight_zero_are_as_good_as_absent(above, below, epsilon, ridge, one_sided):
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((60, 5)), rng.uniform(0.5, 2.0, 60)
    y = np.sign(rng.standard_normal(60)) if one_sided else rng.standard_normal(60)
    weights[::3] = 0.0

    def ascended(rows):
        kept = [np.ascontiguousarray(part[rows]) for part in (X, y, weights)]
        matrix = _core.Matrix.dense(kept[0])
        scale = _core.AscentScale(np.einsum("ij,ij->i", kept[0], kept[0]))
        ascent = _core.DualAscent.quadratic(
            matrix,
            scale,
            kept[1],
            None,
            kept[2],
            1.0,
            above,
            below,
            epsilon,
            ridge,
            one_sided,
            intercept=False,
            constant=0.0,
            seed=0,
        )
        for _ in range(300):
            ascent.epoch()
            ascent.shrink(matrix.scores(ascent.w), 1e-12)
            ascent.unshrink(matrix.scores(ascent.w))
        return ascent

    all_of_them, some = ascended(np.arange(60)), ascended(np.flatnonzero(weights))
    assert all_of_them.dual_value == pytest.approx(some.dual_value, rel=1e-9)
    assert all_of_them.open_gap <= 1e-9 * all_of_them.dual_value
    np.testing.assert_allclose(all_of_them.w, some.w, atol=1e-6)
    np.testing.assert_array_equal(all_of_them.coefficients(1.0, False)[::3], 0.0)
