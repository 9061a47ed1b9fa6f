"""Several classes as one problem on a device: passes as NumPy has them, and models that are proven and the host's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.device.test_device_problems import PRELUDE, STORAGES
from tests.device.test_kernels import rows_of

from cutplane import LinearSVC
from cutplane.device.joint_sums import Interior, JointExamples, JointSums
from cutplane.device.joint_twin import TwinJointSums
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.twin import TwinKernels
from cutplane.device.twin_arrays import on_twin
from cutplane.estimators.linear import joint_classes
from cutplane.shards import joint as shards
from cutplane.solvers.newton import joint as solver
from cutplane.testing.cuda import judged

N, D, K = 400, 6, 4


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small problems go there, too."""
    monkeypatch.setattr(joint_classes, "_LEAST_WORK", 0.0)


@pytest.fixture(params=["factors", "products"])
def systems(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Systems that are factored, and those that are not."""
    if request.param == "products":
        monkeypatch.setattr(shards, "_MOST_FACTORED", 0)
    return str(request.param)


def labelled(seed: int = 0, count: int = K, n: int = N) -> tuple[Any, Any]:
    """Examples of overlapping classes, each of which has one at least."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)).astype(np.float32)
    y = (X @ rng.normal(size=(D, count)) + 0.7 * rng.normal(size=(n, count))).argmax(axis=1)
    y[:count] = np.arange(count)
    return X, y


def fitted(kernels: Kernels, X: Any, y: Any, weights: Any = None, **settings: Any) -> LinearSVC:
    model = LinearSVC(multi_class="crammer_singer", **settings)
    return model.fit(DeviceMatrix(rows_of(kernels, X)), y, sample_weight=weights)


def made_there(model: LinearSVC) -> bool:
    """Whether all steps were made there: they have estimates."""
    return all(step.estimate is not None for step in model.history_[:-1])


def objective_of(model: LinearSVC, X: Any, y: Any, C: float, weights: Any = None, cost: Any = None) -> float:
    """By definition, in extended precision."""
    wide = np.longdouble
    coef, b = model.coef_.astype(wide), np.asarray(model.intercept_).astype(wide)
    if len(model.classes_) == 2:
        coef, b = np.concatenate([-coef, coef]) / 2, np.array([-b[0], b[0]]) / 2
    scores, codes = X.astype(wide) @ coef.T + b, np.searchsorted(model.classes_, y)
    rows, costs = np.arange(len(y)), (1.0 - np.eye(len(coef)) if cost is None else cost)[codes]
    losses = (costs + scores - scores[rows, codes][:, None]).max(axis=1)
    return float((coef**2).sum() / 2 + C * (losses if weights is None else weights * losses).sum())


class Tables:
    """The same examples, weights and slacks for a device and for NumPy."""

    def __init__(self, kernels: Kernels, n: int, columns: int, *, weighted: bool) -> None:
        rng = np.random.default_rng(n + columns)
        self.there, self.here = kernels.joint_sums(), TwinJointSums()
        codes = rng.integers(0, columns, n).astype(np.int32)
        weights = rng.random(n) if weighted else None
        cost = (0.5 + rng.random((columns, columns))) * (1.0 - np.eye(columns))
        p = rng.random((n, columns)) ** 4 + 1e-6
        self.p = (p / p.sum(axis=1, keepdims=True)).astype(np.float32)
        self.s = (rng.random((n, columns)) ** 2 + 1e-3).astype(np.float32)
        self.D, self.S = rng.normal(size=(n, columns)).astype(np.float32), rng.normal(size=(n, columns))
        self.b, self.kept = rng.normal(size=columns), rng.random((columns, columns))
        self.puts = (kernels.to_device, kernels.to_host), (on_twin, np.asarray)
        self.of = [
            JointExamples(put(codes), None if weights is None else put(weights), 1.0 / n, put(cost))
            for put, _ in self.puts
        ]

    def asked(self, place: int) -> list[Any]:
        put, get = self.puts[place]
        sums: JointSums = (self.there, self.here)[place]
        of, at = self.of[place], Interior(put(self.p.copy()), put(self.s.copy()))
        plane = sums.plane(of, at)
        found = [get(plane.coef), *plane[1:], get(sums.aimed(of, at, 0.01)), get(sums.bent(of, at, None))]
        found += [get(sums.bent(of, at, put(self.D.copy()))), get(sums.shares(of, at))]
        for kept in (None, put(self.kept)):
            S = put(self.S.copy())
            found += [*sums.proven(of, at.p, S, put(self.b), kept), get(S)]
        sums.move(of, at, put(self.D), 0.01, 0.9)
        return [*found, get(at.p), get(at.s)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(3, 2), (500, 7), (40, 300)])
def test_passes_are_those_of_numpy(kernels: Kernels, shape: tuple[int, int], weighted: bool) -> None:
    tables = Tables(kernels, *shape, weighted=weighted)
    for there, here in zip(tables.asked(0), tables.asked(1), strict=True):
        np.testing.assert_allclose(there, here, rtol=2e-3, atol=1e-5 * np.abs(here).max())


def test_a_step_keeps_weights_on_the_simplex_and_slacks_of_their_lines() -> None:
    tables = Tables(TwinKernels(), 60, 5, weighted=False)
    sums, of = tables.here, tables.of[1]
    at = Interior(on_twin(tables.p.copy()), on_twin(tables.s.copy()))
    sums.move(of, at, on_twin(tables.D), 0.01, 0.9)
    p, s = np.asarray(at.p), np.asarray(at.s)
    assert (p > 0.0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-6)
    assert (s >= 0.0999 * tables.s).all()
    # Slacks are a level less lines: they change as scores do, but for the level.
    rest = s - tables.s + tables.D
    np.testing.assert_allclose(rest, rest[:, :1] + 0.0 * rest, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_a_plane_holds_whatever_the_weights_on_classes_are(kernels: Kernels, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, columns = 30, 4
    codes, cost = rng.integers(0, columns, n).astype(np.int32), rng.random((columns, columns)) * (1.0 - np.eye(columns))
    of = JointExamples(kernels.to_device(codes), None, 1.0 / n, kernels.to_device(cost))
    p = rng.normal(size=(n, columns)).astype(np.float32)  # some negative, some too large
    sums, rows, zero = kernels.joint_sums(), np.arange(n), kernels.to_device(np.zeros(columns))
    there = kernels.to_device(np.zeros((n, columns)))
    plane = sums.proven(of, kernels.to_device(p), there, zero, kernels.to_device(rng.random((columns, columns))))
    coef = kernels.to_host(there)
    for scores in 3.0 * rng.normal(size=(20, n, columns)):
        risk = (cost[codes] + scores - scores[rows, codes][:, None]).max(axis=1).mean()
        assert risk >= float((coef * scores).sum()) + plane.offset - 1e-12
    assert plane.mass == pytest.approx(np.abs(coef).sum(), rel=1e-12)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("count", [2, 3, 26, 40])
@pytest.mark.parametrize("C", [1e-4, 0.05, 3.0])
def test_models_are_those_of_the_host(kernels: Kernels, systems: str, C: float, count: int, intercept: bool) -> None:
    X, y = labelled(count, count)
    weights = np.random.default_rng(1).random(N) + 0.1 if count % 2 else None
    settings: dict[str, Any] = {"C": C, "fit_intercept": intercept}
    there = fitted(kernels, X, y, weights, **settings)
    here = LinearSVC(multi_class="crammer_singer", **settings).fit(X, y, sample_weight=weights)
    assert there.gap_ <= 1e-3
    assert there.objective_ >= here.lower_bound_
    assert here.objective_ >= there.lower_bound_
    assert there.lower_bound_ <= objective_of(there, X, y, C, weights) <= there.objective_
    if C < 1.0:
        assert made_there(there)


@pytest.mark.usefixtures("small")
def test_gaps_that_single_precision_does_not_reach(kernels: Kernels) -> None:
    X, y = labelled(1)
    model = fitted(kernels, X, y, C=0.1, tol=1e-6)
    assert model.gap_ <= 1e-6
    assert model.lower_bound_ <= objective_of(model, X, y, 0.1) <= model.objective_


@pytest.mark.usefixtures("small", "systems")
@pytest.mark.parametrize("intercept", [False, True])
def test_costs_of_mistakes(kernels: Kernels, intercept: bool) -> None:
    X, y = labelled(2)
    cost = np.random.default_rng(0).choice([0.5, 1.0, 5.0], size=(K, K)) * (1.0 - np.eye(K))
    there = fitted(kernels, X, y, C=0.1, cost_matrix=cost, fit_intercept=intercept)
    here = LinearSVC(C=0.1, multi_class="crammer_singer", cost_matrix=cost, fit_intercept=intercept).fit(X, y)
    assert made_there(there)
    assert max(there.lower_bound_, here.lower_bound_) <= min(there.objective_, here.objective_)
    assert there.lower_bound_ <= objective_of(there, X, y, 0.1, cost=cost) <= there.objective_


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("dtype", ["float64", "float16", "uint8"])
def test_any_type_of_entries(kernels: Kernels, dtype: str) -> None:
    X, y = labelled(3)
    X = (32.0 * X + 128.0).clip(0, 255).astype(dtype) if dtype == "uint8" else X.astype(dtype)
    C = 1e-5 if dtype == "uint8" else 0.1
    there = fitted(kernels, X, y, C=C)
    here = LinearSVC(C=C, multi_class="crammer_singer").fit(X, y)
    assert there.gap_ <= 1e-3
    assert max(there.lower_bound_, here.lower_bound_) <= min(there.objective_, here.objective_)
    assert (there.predict(DeviceMatrix(rows_of(kernels, X))) == there.predict(X)).all()


@pytest.mark.usefixtures("small", "systems")
@pytest.mark.parametrize("what", ["doubled", "alike", "no features", "one each", "no weight"])
def test_odd_examples(kernels: Kernels, what: str) -> None:
    X, y = labelled(4)
    weights = None
    if what == "doubled":
        X, y = np.concatenate([X, X]), np.concatenate([y, np.roll(y, 1)])
    elif what == "alike":
        X = np.ones_like(X)
    elif what == "no features":
        X = np.concatenate([X[:, :1], np.zeros_like(X)], axis=1)
    elif what == "one each":
        X, y = X[:K], np.arange(K)
    else:
        weights = (np.random.default_rng(0).random(len(y)) < 0.5).astype(np.float64)
        weights[:K] = 1.0
    for intercept in (False, True):
        model = fitted(kernels, X, y, weights, C=0.5, fit_intercept=intercept)
        assert model.gap_ <= 1e-3
        assert model.lower_bound_ <= objective_of(model, X, y, 0.5, weights) <= model.objective_


@pytest.mark.usefixtures("small")
def test_steps_that_end_early_are_gone_on_from(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(5)
    monkeypatch.setattr(solver, "TUNING", solver.JointTuning(most_steps=2))
    model = fitted(kernels, X, y)
    assert model.gap_ <= 1e-3
    assert [step.iteration for step in model.history_][:3] == [1, 2, 3]
    assert not made_there(model)


@pytest.mark.usefixtures("small")
def test_a_fit_that_leaves_single_precision_begins_anew(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(6)
    found = shards.JointShard.weights.fget
    assert found is not None

    def weights(self: Any) -> Any:
        w, b = found(self)
        w[0, 0] = np.nan
        return w, b

    monkeypatch.setattr(shards.JointShard, "weights", property(weights))
    model = fitted(kernels, X, y)
    assert model.gap_ <= 1e-3
    assert np.isfinite(model.coef_).all()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "settings",
    [
        {"prior": np.ones((K, D))},
        {"nonnegative": [0]},
        {"intercept_scaling": 1.0},
        {"class_features": np.eye(K)},
        {"rescaling": "slack"},
        {"method": "oca"},
        {"max_iter": 50},
        {"on_step": lambda step: None},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_what_goes_the_way_of_the_host(kernels: Kernels, settings: dict[str, Any]) -> None:
    X, y = labelled(7)
    model = fitted(kernels, X, y, C=0.1, **settings)
    assert model.gap_ <= 1e-3
    assert all(step.estimate is None for step in model.history_)


def test_little_work_is_the_host_s(kernels: Kernels) -> None:
    X, y = labelled(8)
    assert all(step.estimate is None for step in fitted(kernels, X, y).history_)


@pytest.mark.usefixtures("small")
def test_out_of_time_is_said(kernels: Kernels) -> None:
    X, y = labelled(9)
    with pytest.warns(UserWarning, match="ran out of time"):
        model = fitted(kernels, X, y, time_limit=1e-9)
    assert model.lower_bound_ <= objective_of(model, X, y, 1.0) <= model.objective_


@pytest.mark.usefixtures("small", "systems")
@pytest.mark.parametrize("number", range(12))
def test_no_certificate_is_wrong(number: int) -> None:
    outcome = judged(number, PRELUDE, STORAGES[:1], ("LinearSVC-joint",))
    assert not outcome.failures
    assert outcome.fits or outcome.refused
