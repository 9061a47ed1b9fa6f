"""Many classes in lockstep on a device: sums as NumPy has them, and models that are proven and those of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.device.test_kernels import rows_of

from cutplane import LinearSVC
from cutplane.device.class_sums import CLASS_LOSSES, ClassExamples, ClassSums
from cutplane.device.class_twin import TwinClassSums
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.twin_arrays import on_twin
from cutplane.estimators.linear import lockstep
from cutplane.proof.losses import make_loss
from cutplane.shards import lockstep as shards
from cutplane.solvers.newton import lockstep as solver

N, D, K = 900, 9, 5


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few features are enough."""
    monkeypatch.setattr(lockstep, "_FEWEST_FEATURES", 1)


def labelled(seed: int = 0, dtype: str = "float32") -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)).astype(dtype)
    return X, np.digitize(X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N), np.linspace(-1.2, 1.2, K - 1))


def stopped_together(model: Any) -> list[str]:
    """How each class ended; all of them in lockstep, whose steps have estimates."""
    assert all(step.estimate is not None for c in model.certificates_ for step in c.history[:-1])
    return [c.stop_reason for c in model.certificates_]


class Sums:
    """The same examples for a device and for NumPy."""

    def __init__(self, kernels: Kernels, loss: str, n: int, columns: int, *, weighted: bool) -> None:
        rng = np.random.default_rng(n + columns)
        self.there, self.here = kernels.class_sums(), TwinClassSums()
        codes = rng.integers(0, columns + 1, n).astype(np.int32)
        weights = rng.random(n) if weighted else None
        classes = rng.permutation(columns).astype(np.int32)
        self.of, self.twins = (
            ClassExamples(loss, put(codes), None if weights is None else put(weights), 1.0 / n, classes)
            for put in (kernels.to_device, on_twin)
        )
        self.S = rng.normal(size=(n, columns)).astype(np.float32)
        self.D = rng.normal(size=(n, columns)).astype(np.float32)
        self.h, self.t = rng.random(columns) + 0.1, rng.normal(size=columns)

    def single(self, sums: ClassSums, array: Any) -> Any:
        return sums.in_single(array.copy())

    def both(self, ask: Any) -> tuple[Any, Any]:
        """What either answers."""
        return ask(self.there, self.of), ask(self.here, self.twins)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(3, 2), (1000, 7), (40, 300)])
@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_sums_are_those_of_numpy(kernels: Kernels, loss: str, shape: tuple[int, int], weighted: bool) -> None:
    given = Sums(kernels, loss, *shape, weighted=weighted)

    def asked(sums: ClassSums, of: ClassExamples) -> list[Any]:
        S, D = (given.single(sums, each) for each in (given.S, given.D))
        rounded = sums.smoothed(of, S, given.h)
        coef, lean = sums.extrapolated(of, S, given.h, 2.0 * given.h)
        double = sums.xp.asarray(sums.to_host(S))
        factors = np.full_like(given.h, 0.7), np.full_like(given.h, 0.9)
        proven = sums.proven(of, double, given.t, given.h, 0.1 * given.h, factors, write=True)
        found = [sums.to_host(rounded.coef), *rounded[1:], sums.to_host(coef), lean, *proven, sums.to_host(double)]
        found += [sums.along(of, S, D, given.t, given.h), sums.along(of, S, None, given.t, given.h)]
        found += [sums.dots(S, D), sums.to_host(sums.bent(of, S, given.h, None))]
        found.append(sums.to_host(sums.bent(of, S, given.h, given.single(sums, given.D))))
        sums.mix(S, D, given.t, given.h)
        sums.mix(D, None, given.h, given.t)
        sums.damp(D, S[:, 0] * S[:, 0], given.h)
        return [*found, sums.to_host(S), sums.to_host(D)]

    for there, here in zip(*given.both(asked), strict=True):
        np.testing.assert_allclose(there, here, rtol=2e-4, atol=2e-6)


@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_what_is_proven_is_by_definition(kernels: Kernels, loss: str) -> None:
    given = Sums(kernels, loss, 200, 3, weighted=True)
    assert given.of.weights is not None
    weights, codes = (np.asarray(kernels.to_host(each)) for each in (given.of.weights, given.of.codes))
    scores = given.there.xp.asarray(given.S.astype(np.float64))
    ones = np.ones(3)
    sums = given.there.proven(given.of, scores, given.t, given.h, 0.01 * ones, (ones, 0.5 * ones), write=True)
    coef = np.asarray(kernels.to_host(scores))
    for k, label in enumerate(given.of.classes):
        y, s = np.where(codes == label, 1.0, -1.0), given.S[:, k].astype(np.float64) + given.t[k]
        definition = make_loss(loss, {})
        assert sums.value[k] == pytest.approx(weights @ definition.value(s, y), rel=1e-12)
        assert sums.steep[k] == pytest.approx(weights @ definition.steepness(s, y, 0.01), rel=1e-12)
        assert sums.offset[k] == pytest.approx(-weights @ definition.conjugate(coef[:, k] / weights, y), rel=1e-9)
        assert sums.rising[k] - sums.falling[k] == pytest.approx(coef[:, k].sum(), rel=1e-9)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_models_are_those_of_the_host(kernels: Kernels, loss: str, intercept: bool, weighted: bool, tol: float) -> None:
    X, y = labelled()
    weights = np.random.default_rng(1).random(N) + 0.1 if weighted else None
    settings: dict[str, Any] = {"C": 0.3, "loss": loss, "fit_intercept": intercept, "tol": tol}
    rows = DeviceMatrix(rows_of(kernels, X))
    there = LinearSVC(**settings).fit(rows, y, sample_weight=weights)
    here = LinearSVC(**settings).fit(X, y, sample_weight=weights)
    assert there.gap_ <= tol
    for one, other in zip(there.certificates_, here.certificates_, strict=True):
        assert one.objective >= other.lower_bound
        assert other.objective >= one.lower_bound
    if tol == 1e-3:
        assert set(stopped_together(there)) == {"gap"}
        assert (there.predict(rows) == there.predict(X)).all()


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("dtype", ["float64", "float16", "uint8"])
def test_any_type_of_entries(kernels: Kernels, dtype: str) -> None:
    X, y = labelled(2, "float64")
    X = (32.0 * X + 128.0).clip(0, 255).astype(dtype) if dtype == "uint8" else X.astype(dtype)
    C = 1e-5 if dtype == "uint8" else 0.1
    there = LinearSVC(C=C).fit(DeviceMatrix(rows_of(kernels, X)), y)
    here = LinearSVC(C=C).fit(X, y)
    assert there.gap_ <= 1e-3
    assert there.objective_ >= here.lower_bound_
    assert here.objective_ >= there.lower_bound_


@pytest.mark.usefixtures("narrow")
def test_balanced_classes_and_groups_of_them(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(3)
    together = LinearSVC(class_weight="balanced").fit(DeviceMatrix(rows_of(kernels, X)), y)
    # Two classes at a time.
    monkeypatch.setattr(lockstep, "_BYTES", 0.6 * kernels.free_bytes / (2.5 * N))
    in_groups = LinearSVC(class_weight="balanced").fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert max(together.gap_, in_groups.gap_) <= 1e-3
    assert in_groups.objective_ == pytest.approx(together.objective_, rel=2e-3)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("weighted", [False, True])
def test_first_steps_on_a_sample(kernels: Kernels, monkeypatch: pytest.MonkeyPatch, weighted: bool) -> None:
    X, y = labelled(10)
    weights = np.random.default_rng(2).random(N) + 0.5 if weighted else None
    rows, begun = DeviceMatrix(rows_of(kernels, X)), []
    begin = shards.LockstepShard.begin
    monkeypatch.setattr(shards.LockstepShard, "begin", lambda self, *given: (begun.append(1), begin(self, *given))[1])
    alone = LinearSVC().fit(rows, y, sample_weight=weights)
    assert not begun
    monkeypatch.setattr(lockstep, "_LEAST_SAMPLE", 1)
    monkeypatch.setattr(lockstep, "_LEAST_SAMPLE_PER_FEATURE", 1)
    monkeypatch.setattr(lockstep, "_EVERY", 2)
    sampled = LinearSVC().fit(rows, y, sample_weight=weights)
    assert begun
    assert sampled.gap_ <= 1e-3
    assert sampled.objective_ == pytest.approx(alone.objective_, rel=2e-3)
    assert sampled.certificates_[0].history[0].objective < alone.certificates_[0].history[0].objective
    assert [c.history[0].problem for c in sampled.certificates_] == list(range(K))


@pytest.mark.usefixtures("narrow")
def test_systems_that_are_factored(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(4)
    counted = []
    directly = shards.LockstepShard._solve_directly
    monkeypatch.setattr(
        shards.LockstepShard, "_solve_directly", lambda self, *given: (counted.append(1), directly(self, *given))[0]
    )
    monkeypatch.setattr(shards, "_FACTORS", 0.0)
    monkeypatch.setattr(shards, "_FEWEST_PRODUCTS", 1)
    for intercept in (False, True):
        model = LinearSVC(fit_intercept=intercept).fit(DeviceMatrix(rows_of(kernels, X)), y)
        assert set(stopped_together(model)) == {"gap"}
    assert len(counted) > K


@pytest.mark.usefixtures("narrow")
def test_classes_that_give_up_go_on_by_themselves(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(5)
    monkeypatch.setattr(solver, "TUNING", solver.LockstepTuning(most_steps=3))
    model = LinearSVC().fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert model.gap_ <= 1e-3
    assert [step.iteration for step in model.certificates_[2].history][:4] == [1, 2, 3, 4]


@pytest.mark.usefixtures("narrow")
def test_a_class_that_leaves_single_precision_begins_anew(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(11)
    found = shards.LockstepShard.weights.fget
    assert found is not None

    def weights(self: Any) -> Any:
        w, b = found(self)
        w[0, 0] = np.nan
        return w, b

    monkeypatch.setattr(shards.LockstepShard, "weights", property(weights))
    model = LinearSVC().fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert model.gap_ <= 1e-3
    assert np.isfinite(model.coef_).all()


@pytest.mark.nightly
@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    "settings",
    [
        {"prior": np.ones((K, D))},
        {"nonnegative": [0]},
        {"intercept_scaling": 1.0},
        {"method": "oca"},
        {"max_iter": 50},
        {"on_step": lambda step: None},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_what_goes_class_by_class(kernels: Kernels, settings: dict[str, Any]) -> None:
    X, y = labelled(6)
    model = LinearSVC(C=0.1, **settings).fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert model.gap_ <= 1e-3
    assert all(step.estimate is None for c in model.certificates_ for step in c.history)


@pytest.mark.usefixtures("narrow")
def test_a_class_without_weight_is_never_said(kernels: Kernels) -> None:
    X, y = labelled(7)
    model = LinearSVC().fit(DeviceMatrix(rows_of(kernels, X)), y, sample_weight=(y != 2).astype(float))
    assert 2 not in model.classes_


@pytest.mark.usefixtures("narrow")
def test_out_of_time_is_said(kernels: Kernels) -> None:
    X, y = labelled(8)
    with pytest.warns(UserWarning, match="ran out of time"):
        model = LinearSVC(time_limit=1e-9).fit(DeviceMatrix(rows_of(kernels, X)), y)
    assert all(c.lower_bound <= c.objective for c in model.certificates_)
