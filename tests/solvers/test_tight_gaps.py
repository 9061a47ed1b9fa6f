"""Asking for more never gives less: at gaps where rounding counts, runs end soon, with the best that can be proven."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from cutplane import LinearSVC, LinearSVR
from cutplane.datasets import load_adult
from cutplane.objectives.factory import make_objective
from cutplane.proof.prover import Prover
from cutplane.risks.epsilon_insensitive import EpsilonInsensitive
from cutplane.risks.hinge import Hinge
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.solvers import ledger as ledgers
from cutplane.solvers.ascent.dual import DualAscent
from cutplane.solvers.base import Cut, Point
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source


def text(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """Rows of length one with few of many features, and labels that weights of some of them explain."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=20 / d, rng=rng, format="csr")
    X = sp.diags_array(1.0 / np.maximum(sp.linalg.norm(X, axis=1), 1e-9)) @ X
    y = np.where(X @ rng.normal(size=d) + 0.1 * rng.normal(size=n) > 0.0, 1, -1)
    return sp.csr_array(X), y


TEXT = text(400, 3000, seed=1)[0], 1.0


@pytest.mark.nightly
@pytest.mark.parametrize("intercept", [False, True])
def test_extrapolations_leave_weights_what_the_dual_variables_add_up_to(intercept: bool) -> None:
    """At the optimum the last epochs differ by rounding alone: steps along that have no end."""
    X, y = text(150, 2000)
    ascent = make_objective(as_source(X), Hinge(y), intercept=intercept).dual_ascent(1500.0, seed=0)
    assert ascent is not None
    for epoch in range(4000):
        if epoch % 2:
            ascent.extrapolate()
        ascent.epoch()
    coef = -np.asarray(ascent._ascent.coefficients(1.0, False))
    summed, kept = X.T @ coef, ascent.weights[0]
    np.testing.assert_allclose(kept, summed, rtol=0.0, atol=1e-9 * np.abs(summed).max())
    before = ascent.estimate
    ascent.renew()
    np.testing.assert_allclose(ascent.weights[0], summed, rtol=0.0, atol=1e-13 * np.abs(summed).max())
    assert ascent.estimate == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", [False, True])
def test_more_is_never_less(loss: str, intercept: bool) -> None:
    X, y = text(400, 3000, seed=1)
    gaps, steps = [], []
    for tol in (1e-3, 1e-6, 1e-9, 1e-11, 1e-13):
        model = LinearSVC(C=10.0, loss=loss, fit_intercept=intercept, tol=tol)
        with warnings.catch_warnings(action="ignore"):
            model.fit(X, y)
        assert model.stop_reason_ in ("gap", "stalled")
        assert model.stop_reason_ == "gap" or tol <= 1e-11
        gaps.append(model.gap_)
        steps.append(model.n_iter_)
    assert gaps[2] <= 1e-9
    assert max(gaps[3:]) <= 1e-9
    assert max(steps) < 100  # where only rounding is left, no hundred iterations are made to find out


def test_what_an_ascent_has_is_not_lost_where_it_gets_no_closer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own estimate of the bound is off by rounding: never good enough, so that no proof was ever asked for."""
    X, y = text(400, 3000, seed=1)
    estimate = ExampleAscent.estimate
    monkeypatch.setattr(ExampleAscent, "estimate", property(lambda self: estimate.fget(self) * (1.0 - 1e-8)))
    model = LinearSVC(C=10.0, tol=1e-9).fit(X, y)
    assert model.gap_ <= 1e-9
    assert model.n_iter_ < 8  # 4; where the ascent is given up first, 10


def test_a_run_that_is_asked_for_less_aims_at_a_billionth_first() -> None:
    ledger = Ledger(2.0, Bundle(3), Stopping(relative_gap=1e-12))
    assert ledger.allowed_fraction == 1e-9
    ledger.upper, ledger.lower = 1.0, 1.0 - 1e-8
    assert ledger.allowed_fraction == 1e-9
    ledger.lower = 1.0 - 9e-10
    assert ledger.allowed_fraction == 1e-12
    assert not ledger.proven
    ledger.lower = 1.0 - 1e-8  # once proven, it is not aimed at again: a prover may be stricter
    assert ledger.allowed_fraction == 1e-12


def test_what_reached_the_first_aim_is_kept_for_the_prover() -> None:
    """Later weights and planes may seem better, and be charged more."""
    ledger = Ledger(2.0, Bundle(3), Stopping(relative_gap=1e-13))
    ledger.offer(Point(np.zeros(3), 0.0), 0.5)
    for offset in (0.4, 0.5 - 4e-10, 0.5 - 1e-11):
        ledger.prove_by(Cut(np.zeros(3), offset, 0.5))
        assert (ledger.first_reached is None) == (offset == 0.4)
    assert ledger.first_reached is not None
    assert ledger.first_reached[1].offset == pytest.approx(0.5 - 4e-10, abs=1e-12)
    assert ledger.witness.offset == pytest.approx(0.5 - 1e-11, abs=1e-12)


@pytest.mark.parametrize("gap", [1e-9, 1e-3])
def test_no_run_aims_at_more_than_it_is_asked_for(gap: float) -> None:
    ledger = Ledger(2.0, Bundle(3), Stopping(relative_gap=gap))
    ledger.upper, ledger.lower = 1.0, 0.5
    assert ledger.allowed_fraction == gap


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [{"epsilon": 0.1}, {"epsilon": 0.0}, {"loss": "quantile"}], ids=str)
@pytest.mark.parametrize("data", ["adult", "digits", "text"])
def test_regressions_asked_for_more_never_give_less(data: str, loss: dict[str, Any], intercept: bool) -> None:
    X, C = {"adult": (load_adult()[0][:6000], 1.0), "digits": (load_digits().data / 16.0, 0.1), "text": TEXT}[data]
    rng = np.random.default_rng(2)
    y = X @ rng.normal(size=X.shape[1]) + 0.3 * rng.normal(size=X.shape[0])
    models = []
    for tol in (1e-9, 1e-11):
        model = LinearSVR(C=C, fit_intercept=intercept, tol=tol, **loss)
        with warnings.catch_warnings(action="ignore"):
            models.append(model.fit(X, y))
    assert models[0].gap_ <= 1e-9
    assert models[0].stop_reason_ == "gap"
    assert models[1].gap_ <= models[0].gap_
    assert models[1].stop_reason_ in ("gap", "stalled")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("charges", "least"),
    [((1.5e-9,), 1e-9), ((1.5e-9, 4e-9, 4e-9), 1.6e-9)],
    ids=["it goes on where the prover is stricter", "it keeps what was granted first"],
)
def test_what_the_first_aim_is_refused_is_gone_for_again(
    charges: tuple[float, ...], least: float, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is asked for more than can be proven stalls; whether the first aim is proven, the prover says."""
    X, y = TEXT[0], np.random.default_rng(2).normal(size=400)
    upper, left = Prover.upper, list(charges)

    def charged(self: Prover, *at: Any) -> float:
        value = upper(self, *at)
        return value * (1.0 + (left.pop(0) if left else 0.0))

    monkeypatch.setattr(Prover, "upper", charged)
    model = LinearSVR(C=1.0, epsilon=0.1, fit_intercept=intercept, tol=1e-15)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y)
    assert model.stop_reason_ == "stalled"
    assert not left
    assert model.gap_ <= least


@pytest.mark.parametrize("unit", [1e-5, 1e5])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "quantile"])
def test_the_unit_of_targets_does_not_matter(loss: str, unit: float) -> None:
    """Prices of the sides of a tube are no sizes of targets: small ones were charged for rounding that is not there."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 40))
    y = unit * (X @ rng.normal(size=40) + 0.3 * rng.normal(size=3000))
    model = LinearSVR(C=1e-3 * unit, loss=loss, tol=1e-9).fit(X, y)
    assert model.gap_ <= 1e-9


@pytest.mark.parametrize("epochs", [12, 30, 45])
def test_out_of_time_the_weights_reached_count(epochs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Towards a tight gap certificates are far between: the last incumbent may be many epochs behind."""
    X, _ = text(1500, 1200, seed=4)
    rng = np.random.default_rng(4)
    y = X @ rng.normal(size=1200) + 0.1 * rng.normal(size=1500)
    ascents: list[ExampleAscent] = []
    epoch = ExampleAscent.epoch

    def ticking(self: ExampleAscent) -> None:
        epoch(self)
        ascents.append(self)

    monkeypatch.setattr(ExampleAscent, "epoch", ticking)
    monkeypatch.setattr(ledgers, "time", SimpleNamespace(perf_counter=lambda: float(len(ascents))))
    objective: Any = make_objective(as_source(X), EpsilonInsensitive(y, epsilon=0.01))
    stopping = Stopping(relative_gap=1e-9, time_limit=float(epochs))
    ledger = Ledger(20.0 * len(y), Bundle(1200), stopping, rounding=objective.rounding)
    assert DualAscent().run(objective, ledger) == "time_limit"
    assert 0.8 * epochs <= len(ascents) <= epochs, "some of the time is for the proof"
    w = ascents[-1].weights[0]
    there = 0.5 * w @ w + ledger.C * objective.value(objective.score(w, 0.0))
    assert ledger.upper <= there * (1.0 + 1e-9)


def test_a_run_whose_steps_lead_nowhere_stands_still() -> None:
    """OCA in single precision once repeated one iteration a hundred times on three features of very different scale."""
    ledger = Ledger(1.0, Bundle(2), Stopping(relative_gap=1e-3))
    ledger.upper, ledger.lower = 375.2, 374.6
    reasons = [ledger.close_iteration(0.0) for _ in range(32)]
    assert reasons == [None] * 31 + ["stalled"]
