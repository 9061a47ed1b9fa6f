"""Rankings, ordered classes and ROC area trained on a device are proven, and those of the host."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.device.test_device_fits import same
from tests.device.test_kernels import rows_of

from cutplane import LinearSVC, OrdinalSVC, RankSVM, load
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.shards.device_pairs import DevicePairShard

N, D = 1200, 6
Put = Callable[[Any], Any]


def examples(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Rows, targets of a few values, queries, which are not in order, and weights, of which some are zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)).astype(np.float32)
    z = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N)
    return X, np.digitize(z, [-1.0, 0.0, 1.0]), rng.integers(0, 60, N), rng.random(N) * (rng.random(N) > 0.1)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("weighting", ["queries", "pairs"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rankings(kernels: Kernels, kind: str, weighted: bool, weighting: str, tol: float) -> None:
    X, y, qid, weights = examples()
    rows = DeviceMatrix(rows_of(kernels, X if kind == "dense" else sp.csr_array(X)))
    model = RankSVM(C=0.1, weighting=weighting, tol=tol)
    given = {"qid": qid, "sample_weight": weights if weighted else None}
    there = model.fit(rows, y, **given)
    here = RankSVM(C=0.1, weighting=weighting, tol=tol).fit(X, y, **given)
    same(there, here, tol)
    assert (there.n_queries_, there.n_pairs_) == (here.n_queries_, here.n_pairs_)


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
def test_every_method(kernels: Kernels, method: str) -> None:
    X, y, qid, _ = examples(1)
    tol = 1e-2 if method == "cpa" else 1e-3
    rows = DeviceMatrix(rows_of(kernels, X))
    same(RankSVM(method=method, tol=tol).fit(rows, y, qid=qid), RankSVM(tol=tol).fit(X, y, qid=qid), tol)


@pytest.mark.parametrize("names", [lambda q: q.astype(str), lambda q: q * 2**40, lambda q: q - 7.5, lambda q: -q])
@pytest.mark.parametrize("targets", [lambda y: y, lambda y: y - 0.25, lambda y: y * 1e6])
def test_queries_and_targets_of_every_type(kernels: Kernels, names: Any, targets: Any) -> None:
    X, y, qid, _ = examples(2)
    rows = DeviceMatrix(rows_of(kernels, X))
    there = RankSVM(tol=1e-4).fit(rows, targets(y), qid=names(qid))
    same(there, RankSVM(tol=1e-4).fit(X, y, qid=qid), 1e-4)


def test_real_targets_of_one_query(kernels: Kernels) -> None:
    X, _, _, _ = examples(3)
    z = X[:, 0] + np.random.default_rng(0).normal(size=N)
    with pytest.warns(UserWarning, match="qid is None"):
        there, here = (RankSVM(C=30.0).fit(each, z) for each in (DeviceMatrix(rows_of(kernels, X)), X))
    same(there, here, 1e-3)
    assert there.n_pairs_ == here.n_pairs_ == N * (N - 1) // 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("words", [False, True])
def test_ordered_classes(kernels: Kernels, words: bool, weighted: bool) -> None:
    X, y, _, weights = examples(4)
    order = ["none", "few", "some", "many"] if words else None
    labels = np.array(["none", "few", "some", "many"])[y] if words else y
    given = {"sample_weight": weights} if weighted else {}
    rows = DeviceMatrix(rows_of(kernels, X))
    there, here = (OrdinalSVC(C=0.1, class_order=order, tol=1e-6).fit(each, labels, **given) for each in (rows, X))
    same(there, here, 1e-6)
    np.testing.assert_allclose(there.thresholds_, here.thresholds_, atol=1e-2)
    assert (there.predict(X) == here.predict(X)).mean() > 0.99
    assert there.score(rows, labels) == there.score(X, labels)


def test_the_area_under_the_roc_curve_is_the_ranking_of_two(kernels: Kernels) -> None:
    X, y, _, _ = examples(5)
    rows, signs = DeviceMatrix(rows_of(kernels, X)), np.where(y > 1, 1, -1)
    area = LinearSVC(loss="roc_area", C=0.1, tol=1e-5).fit(rows, signs)
    ordinal = OrdinalSVC(C=0.1, tol=1e-5).fit(rows, signs)
    assert area.objective_ == pytest.approx(ordinal.objective_, rel=1e-5)
    here = LinearSVC(loss="roc_area", C=0.1, tol=1e-5).fit(X, signs)
    assert area.score(X, signs) == pytest.approx(here.score(X, signs), abs=0.01)


def test_the_same_bits_every_time(kernels: Kernels) -> None:
    X, y, qid, weights = examples(6)
    rows = DeviceMatrix(rows_of(kernels, X))
    first, second = (RankSVM().fit(rows, y, qid=qid, sample_weight=weights) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_)
    assert (first.objective_, first.lower_bound_) == (second.objective_, second.lower_bound_)


def test_arrays_of_the_device(put: Put, kernels: Kernels, tmp_path: Any) -> None:
    X, y, qid, weights = examples(7)
    model = RankSVM().fit(put(X), put(y), sample_weight=put(weights), qid=put(qid))
    same(model, RankSVM().fit(X, y, sample_weight=weights, qid=qid), 1e-3)
    found = model.predict(put(X))
    assert not isinstance(found, np.ndarray) or hasattr(found, "__dlpack_device__")
    np.testing.assert_allclose(kernels.to_host(found), model.predict(X), rtol=1e-5, atol=1e-6)
    assert model.score(put(X), put(y), qid=put(qid)) == pytest.approx(model.score(X, y, qid=qid), abs=1e-6)
    ordinal = OrdinalSVC().fit(put(X), put(y))
    np.testing.assert_array_equal(kernels.to_host(ordinal.predict(put(X))), ordinal.predict(X))
    assert ordinal.score(put(X), put(y)) == pytest.approx(ordinal.score(X, y))
    model.save(tmp_path / "there.cutplane")
    assert np.array_equal(load(tmp_path / "there.cutplane").predict(X), model.predict(X))


@pytest.mark.parametrize("model", [RankSVM(device="cuda"), OrdinalSVC(device="cuda")])
def test_examples_of_the_host_are_copied(put: Put, monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
    X, y, qid, _ = examples(8)
    ranked = []
    swept = DevicePairShard.smoothed
    monkeypatch.setattr(DevicePairShard, "smoothed", lambda self, *a: (ranked.append(1), swept(self, *a))[1])
    more = {"qid": qid} if isinstance(model, RankSVM) else {}
    found = model.fit(X, y, **more)
    assert ranked
    assert found.gap_ <= 1e-3
    assert type(found.predict(X)) is np.ndarray


def test_bad_input_is_one_sentence(put: Put) -> None:
    X, y, qid, _ = examples(9)
    with pytest.raises(ValueError, match=r"in every query, y has one target only"):
        RankSVM().fit(put(X), y, qid=np.arange(N))
    with pytest.raises(ValueError, match=r"y has only one class"):
        OrdinalSVC().fit(put(X), np.zeros(N, int))
    with pytest.raises(ValueError, match=r"y has one class only"):
        OrdinalSVC().fit(put(X), y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match=r"qid has shape \(5,\)"):
        RankSVM().fit(put(X), y, qid=qid[:5])
    with pytest.raises(ValueError, match=r"n_samples=1"):
        RankSVM().fit(put(X[:1]), y[:1], qid=qid[:1])
    with pytest.raises(ValueError, match=r"compared on one GPU"):
        RankSVM(device=["cuda:0", "cuda:1"]).fit(X, y, qid=qid)
    alone = np.where(np.arange(N) < 3, 1000 + np.arange(N), qid)
    with pytest.warns(UserWarning, match=r"3 of 63 queries have one target only"):
        RankSVM().fit(put(X), y, qid=alone)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RankSVM().fit(put(X), y, qid=qid, sample_weight=np.where(qid == 3, 0.0, 1.0))
