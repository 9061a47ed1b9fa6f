"""Small problems: the interior point over all examples proves what it finds, for every loss it knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from cutplane import LinearSVC, LinearSVR, _core
from cutplane.objectives.factory import make_objective
from cutplane.risks.hinge import Hinge
from cutplane.risks.logistic import Logistic
from cutplane.risks.squared_hinge import SquaredHinge
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.run import Settings
from cutplane.solvers.small import SmallInterior
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

LOSSES: dict[str, tuple[type, dict[str, Any]]] = {
    "hinge": (LinearSVC, {"loss": "hinge"}),
    "squared_hinge": (LinearSVC, {"loss": "squared_hinge"}),
    "epsilon_insensitive": (LinearSVR, {"loss": "epsilon_insensitive", "epsilon": 0.3}),
    "squared_epsilon_insensitive": (LinearSVR, {"loss": "squared_epsilon_insensitive", "epsilon": 0.1}),
    "huber": (LinearSVR, {"loss": "huber"}),
    "quantile": (LinearSVR, {"loss": "quantile", "loss_options": {"quantile": 0.8}}),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "free intercept": {},
    "no intercept": {"fit_intercept": False},
    "penalised intercept": {"intercept_scaling": 2.0},
    "prior": {"prior": np.array([0.5, -1.0, 0.0, 2.0])},
}


def problem(model: type, n: int = 120, d: int = 4) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d)) * 10.0 ** np.linspace(-1.0, 1.0, d) + 1.0
    y = X @ rng.normal(size=d) / d + 0.5 * rng.normal(size=n)
    return X, np.where(y > np.median(y), 1, -1) if model is LinearSVC else 5.0 + y


def by_interior_point(model: Any) -> bool:
    return model.stop_reason_ == "gap" and "interior_point" in model.history_[-1].phases


def posed(X: Any, risk: Any, C: float, tol: float = 1e-3) -> tuple[Any, Ledger]:
    objective = make_objective(as_source(X), risk, intercept=True)
    settings = Settings(C, Stopping(tol))
    return objective, Ledger(C, settings.new_bundle(objective), settings.stopping)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_finds_what_cutting_planes_find(loss: str, weighted: bool, options: dict[str, Any]) -> None:
    kind, given = LOSSES[loss]
    X, y = problem(kind)
    weights = np.random.default_rng(0).integers(0, 3, len(y)) if weighted else None
    found = kind(C=2.0, tol=1e-6, **given, **options).fit(X, y, sample_weight=weights)
    other = kind(C=2.0, tol=1e-6, method="oca", **given, **options).fit(X, y, sample_weight=weights)
    assert by_interior_point(found)
    assert found.n_iter_ <= 2
    assert found.objective_ - found.lower_bound_ <= 1e-6 * found.objective_
    assert found.lower_bound_ <= other.objective_
    assert other.lower_bound_ <= found.objective_


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("loss", LOSSES)
def test_any_C_ends_in_a_proof(loss: str, C: float) -> None:
    kind, given = LOSSES[loss]
    X, y = problem(kind)
    assert by_interior_point(kind(C=C, **given).fit(X, y))


@pytest.mark.parametrize("risk", [Hinge, SquaredHinge])
@pytest.mark.parametrize("digit", [0, 3, 8])
def test_unscaled_digits_take_few_steps(risk: type, digit: int) -> None:
    """Hard margins and features up to 16: dual ascent needs up to 80,000 epochs there."""
    X, classes = load_digits(return_X_y=True)
    objective, ledger = posed(X, risk(np.where(classes == digit, 1, -1)), float(len(X)))
    interior = objective.interior(ledger.C)
    steps = 0
    while interior.gap > 1e-3 * interior.upper:
        assert interior.step()
        steps += 1
    assert steps <= 25
    plane, (w, b) = interior.plane(), interior.weights
    point = objective.score(w, b)
    upper = 0.5 * w @ w + ledger.C * objective.value(point)
    lower = ledger.C * plane.offset - 0.5 * ledger.C**2 * plane.slope @ plane.slope
    assert lower <= upper
    assert upper - lower <= 1.1e-3 * upper


@pytest.mark.parametrize("d", [1, 7, 8, 9, 30])
@pytest.mark.parametrize("layout", ["dense", "float32", "by columns", "csr"])
def test_every_layout_gives_the_same_model(layout: str, d: int) -> None:
    X, y = problem(LinearSVC, 90, d)
    X = X.astype(np.float32).astype(np.float64)
    ways = {"dense": X, "float32": X.astype(np.float32), "by columns": np.asfortranarray(X), "csr": sp.csr_array(X)}
    expected = LinearSVC(tol=1e-6).fit(X, y)
    found = LinearSVC(tol=1e-6).fit(ways[layout], y)
    assert by_interior_point(found)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


def test_the_model_is_the_same_to_the_bit_for_any_number_of_threads() -> None:
    X, classes = load_digits(return_X_y=True)
    models = [LinearSVC(n_jobs=n_jobs).fit(X, classes == 3) for n_jobs in (1, 2, 3)]
    assert by_interior_point(models[0])
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)


def test_targets_that_a_constant_meets_need_no_weights() -> None:
    X, _ = problem(LinearSVR)
    model = LinearSVR(loss="epsilon_insensitive", epsilon=0.1).fit(X, np.full(len(X), 3.0))
    assert model.gap_ == 0.0
    np.testing.assert_array_equal(model.coef_, 0.0)


def test_what_is_large_or_wide_is_left_to_others() -> None:
    rng = np.random.default_rng(0)
    wide, many = rng.normal(size=(30, 40)), rng.normal(size=(30_000, 3))
    for X in (wide, many, rng.normal(size=(400, 250))):
        assert SmallInterior.of(*posed(X, Hinge(np.where(X[:, 0] > 0.0, 1, -1)), 1e9)) is None


@pytest.mark.parametrize("C", [0.01, 100.0])
def test_newtons_method_solves_small_problems_of_the_logistic_loss(C: float) -> None:
    """With unscaled features dual ascent takes seconds there."""
    X, y = problem(LinearSVC, 500, 20)
    assert not posed(X, Logistic(y), 1.0)[0].interior(1.0).knows_loss
    model = LinearSVC(loss="logistic", C=C).fit(X, y)
    phases = {name for step in model.history_ for name in step.phases}
    assert "newton" in phases
    assert "epochs" not in phases


def test_dual_ascent_comes_first_where_examples_hardly_move_their_scores() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 30))
    risk = Hinge(np.where(X[:, 0] > 0.0, 1, -1))
    assert SmallInterior.of(*posed(X, risk, 2000 * 1e-2)) is None
    assert SmallInterior.of(*posed(X, risk, 2000 * 1.0)) is not None


def test_features_beyond_its_reach_are_left_to_others() -> None:
    """Products of such features are no numbers: it stalls at once, and says so."""
    X = np.array([[1e160], [-1e160]])
    source = as_source(X)
    interior = _core.InteriorPoint(
        source.core, np.array([1.0, -1.0]), None, None, 1.0, 1.0, 1.0, 0.0, 0.0, True, True, 0.0, 1
    )
    assert not interior.step()


def test_arrays_of_another_length_are_refused() -> None:
    source = as_source(np.eye(3))
    with pytest.raises(ValueError, match="one target"):
        _core.InteriorPoint(source.core, np.ones(2), None, None, 1.0, 1.0, 1.0, 0.0, 0.0, True, True, 0.0, 1)
