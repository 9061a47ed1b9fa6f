"""Models trained on a device are proven, and those of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.device.test_kernels import rows_of

from cutplane import LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression, _core
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.twin_arrays import TwinArray
from cutplane.risks.hinge import Hinge
from cutplane.shards import host
from cutplane.shards.registry import make_shard
from cutplane.sources import as_source

N, D = 1500, 8


def examples(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)).astype(np.float32)
    return X, X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N) + 0.3


def same(there: Any, here: Any, tol: float) -> None:
    """Both are proven, so that neither is below what the other proves."""
    assert there.gap_ <= tol
    assert there.objective_ >= here.lower_bound_
    assert here.objective_ >= there.lower_bound_
    assert there.objective_ == pytest.approx(here.objective_, rel=2.0 * tol)


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_classifiers(kernels: Kernels, kind: str, loss: str, intercept: bool, tol: float) -> None:
    X, z = examples()
    y, weights = np.where(z > 0, 1, -1), np.random.default_rng(1).random(N) + 0.1
    rows = DeviceMatrix(rows_of(kernels, X if kind == "dense" else sp.csr_array(X)))
    settings: dict[str, Any] = {"C": 0.3, "loss": loss, "fit_intercept": intercept, "tol": tol}
    there = LinearSVC(**settings).fit(rows, y, sample_weight=weights)
    here = LinearSVC(**settings).fit(X, y, sample_weight=weights)
    same(there, here, tol)


@pytest.mark.parametrize("method", ["auto", "oca"])
def test_nothing_of_the_device_is_handed_to_the_core(
    kernels: Kernels, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the twin it would be taken, for it lies in this memory."""

    class Guard:
        def __getattr__(self, name: str) -> Any:
            found = getattr(_core, name)

            def checked(*args: Any, **kwargs: Any) -> Any:
                assert not any(isinstance(arg, TwinArray) for arg in (*args, *kwargs.values())), name
                return found(*args, **kwargs)

            return checked

    monkeypatch.setattr(host, "_core", Guard())
    X, z = examples()
    model = LinearSVC(method=method).fit(DeviceMatrix(rows_of(kernels, X)), z > 0)
    assert model.gap_ <= 1e-3


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"])
def test_regressions(kernels: Kernels, loss: str, intercept: bool) -> None:
    X, z = examples(1)
    settings: dict[str, Any] = {"C": 0.3, "loss": loss, "fit_intercept": intercept, "tol": 1e-6}
    same(LinearSVR(**settings).fit(DeviceMatrix(rows_of(kernels, X)), z), LinearSVR(**settings).fit(X, z), 1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "oca"},
        {"method": "cpa", "tol": 1e-2},
        {"method": "newton"},
        {"intercept_scaling": 1.0},
        {"nonnegative": [0, 1]},
        {"prior": np.ones(D)},
        {"loss": "roc_area", "tol": 1e-2},
        {"loss": "roc_area", "tol": 1e-6},
        {"loss": "roc_area", "method": "oca"},
        {"loss": "roc_area", "method": "oca", "line_search": "exact"},
        {"loss": "roc_area", "intercept_scaling": 1.0},
    ],
    ids=lambda settings: "-".join(settings),
)
def test_options(kernels: Kernels, settings: dict[str, Any]) -> None:
    X, z = examples(2)
    y, tol = np.where(z > 0, 1, -1), settings.get("tol", 1e-3)
    rows = DeviceMatrix(rows_of(kernels, X))
    same(LinearSVC(**settings).fit(rows, y), LinearSVC(**settings).fit(X, y), tol)


@pytest.mark.parametrize("kind", ["ovr", "crammer_singer"])
def test_several_classes(kernels: Kernels, kind: str) -> None:
    X, z = examples(3)
    y = np.digitize(z, [-1.0, 0.0, 1.0])
    rows = DeviceMatrix(rows_of(kernels, X))
    there, here = (LinearSVC(multi_class=kind, C=0.1).fit(each, y) for each in (rows, X))
    same(there, here, 1e-3)
    assert (there.predict(rows) == there.predict(X)).all()


@pytest.mark.nightly
def test_softmax_and_chosen_c(kernels: Kernels) -> None:
    X, z = examples(4)
    y = np.digitize(z, [-1.0, 0.0, 1.0])
    rows = DeviceMatrix(rows_of(kernels, X))
    same(LogisticRegression().fit(rows, y), LogisticRegression().fit(X, y), 1e-3)
    there, here = (LinearSVCCV([0.01, 0.1], cv=3).fit(each, y) for each in (rows, X))
    assert there.C_ == here.C_


def test_few_examples_on_kinks_with_an_intercept(kernels: Kernels) -> None:
    """The root of a curvature is centred on the host."""
    X, z = examples(5)
    y = np.where(z > 0, 1, -1)
    rows = rows_of(kernels, X)
    shard = make_shard(DeviceMatrix(rows), Hinge(y), intercept=True)
    here = make_shard(as_source(X), Hinge(y), intercept=True)
    w = 0.3 * np.ones(D)
    there_curved, here_curved = (each.curvature(each.at(w), 0.2, centred=True) for each in (shard, here))
    there, expected = there_curved.root(N), here_curved.root(N)
    np.testing.assert_allclose(there.T @ there, expected.T @ expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(np.tril(there.T @ there), np.tril(here_curved.matrix()), rtol=1e-5, atol=1e-6)
