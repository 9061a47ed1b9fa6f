"""Collections of Dask whose blocks lie on GPUs: trained there, proven as on the host; predictions are such blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from dask import delayed
from distributed import Client
from numpy.testing import assert_array_equal

from cutplane import LinearSVC, LinearSVCCV, LinearSVR, RankSVM
from cutplane.device import arrays
from cutplane.device.kernels import Kernels
from cutplane.device.twin import TwinKernels
from cutplane.shards.device_part import DevicePart

Put = Callable[[Any], Any]

D, SIZES = 5, (150, 250, 200)


class PretendCsr(sp.csr_matrix):
    """The twin's sparse matrices are SciPy's: this one says that it lies on the device."""


@pytest.fixture
def put_sparse(put: Put, kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Puts a matrix on the device, as a sparse one."""
    if not isinstance(kernels, TwinKernels):
        from cupyx.scipy.sparse import csr_matrix

        return lambda X: csr_matrix(sp.csr_matrix(X))
    plain = arrays.is_on_device
    monkeypatch.setattr(arrays, "is_on_device", lambda values: isinstance(values, PretendCsr) or plain(values))
    return PretendCsr


@pytest.fixture
def parts_there(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of examples of shards that were made on a device."""
    made: list[int] = []
    begin = DevicePart.__init__

    def noted(self: DevicePart, *args: Any, **named: Any) -> None:
        begin(self, *args, **named)
        made.append(self.examples)

    monkeypatch.setattr(DevicePart, "__init__", noted)
    return made


def examples() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    n = sum(SIZES)
    X = rng.normal(size=(n, D)).astype(np.float32)
    return X, X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n), rng.random(n) + 0.1


def cut(*each: Any) -> list[list[Any]]:
    return [np.split(values, np.cumsum(SIZES)[:-1]) for values in each]


def laid(put: Put, values: Any) -> list[Any]:
    """Blocks that workers put on the device."""
    return [delayed(put)(block) for block in cut(values)[0]]


def array_of(put: Put, values: Any) -> da.Array:
    """The same as one array of Dask."""
    shapes = [(size, *values.shape[1:]) for size in SIZES]
    blocks = zip(laid(put, values), shapes, strict=True)
    return da.concatenate([da.from_delayed(block, shape, meta=put(values[:0])) for block, shape in blocks])


def same(found: Any, alone: Any) -> None:
    """Both are proven, of the same problem."""
    for one, other in zip(found.certificates_, alone.certificates_, strict=True):
        assert one.gap <= found.tol
        assert one.lower_bound <= other.objective * (1.0 + 1e-12)
        assert other.lower_bound <= one.objective * (1.0 + 1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse", "mixed"])
@pytest.mark.parametrize("options", [{}, {"loss": "logistic"}, {"intercept_scaling": 2.0}], ids=str)
def test_blocks_are_trained_where_they_lie(
    client: Client,
    kernels: Kernels,
    put: Put,
    put_sparse: Put,
    parts_there: list[int],
    kind: str,
    options: dict[str, Any],
) -> None:
    X, z, weights = examples()
    y = np.where(z > 0.0, 3, 7)
    places = {"dense": [put] * 3, "sparse": [put_sparse] * 3, "mixed": [put, np.asarray, put_sparse]}[kind]
    rows = [delayed(place)(block) for place, block in zip(places, cut(X)[0], strict=True)]
    labels, weigh = laid(put, y), laid(put, weights)
    alone = LinearSVC(tol=1e-5, **options).fit(X, y, weights)
    found = LinearSVC(tol=1e-5, **options).fit(rows, labels, weigh)
    same(found, alone)
    assert found.classes_.dtype == alone.classes_.dtype
    assert found.classes_.tolist() == [3, 7]
    on_device = [size for place, size in zip(places, SIZES, strict=True) if place is not np.asarray]
    assert bool(parts_there) == ("intercept_scaling" not in options)  # whose scores are the host's
    if parts_there:
        assert set(on_device) <= set(parts_there)
    answers = client.gather(client.compute(found.predict(rows)))
    for place, answer, block in zip(places, answers, cut(X)[0], strict=True):
        assert (type(answer) is np.ndarray) == (place is np.asarray)
        assert_array_equal(answer if place is np.asarray else kernels.to_host(answer), found.predict(block))


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_blocks_of_the_host_are_copied_where_a_device_is_asked_for(
    client: Client, put: Put, parts_there: list[int], layout: Any
) -> None:
    X, z, _ = examples()
    y = np.where(z > 0.0, 1, -1)
    model = LinearSVC(device="cuda").fit(laid(layout, X), laid(np.asarray, y))
    same(model, LinearSVC().fit(X, y))
    assert set(SIZES) <= set(parts_there)
    assert all(type(each) is np.ndarray for each in client.gather(client.compute(model.predict(laid(layout, X)))))


def test_arrays_of_dask(client: Client, put: Put, kernels: Kernels) -> None:
    X, z, _ = examples()
    y = np.where(z > 0.0, 1, -1)
    rows, labels = array_of(put, X), array_of(put, y)
    model = LinearSVC().fit(rows, labels)
    same(model, LinearSVC().fit(X, y))
    same(LinearSVC().fit(rows, put(y)), LinearSVC().fit(X, y))
    for name in ("predict", "decision_function"):
        answer = getattr(model, name)(rows)
        assert isinstance(answer, da.Array)
        assert type(answer._meta) is not np.ndarray
        computed = answer.compute()
        assert type(computed) is not np.ndarray
        np.testing.assert_allclose(kernels.to_host(computed), getattr(model, name)(X), rtol=1e-6, atol=1e-6)


def test_scores(client: Client, put: Put, kernels: Kernels) -> None:
    X, z, weights = examples()
    y = np.where(z > 0.0, 3, 7)
    for model, targets in ((LinearSVC().fit(X, y), y), (LinearSVR().fit(X, z), z)):
        for given in ((X, targets), (X, targets, weights)):
            expected = pytest.approx(model.score(*given), rel=1e-5)
            assert model.score(*(laid(put, values) for values in given)) == expected
            assert model.score(*(array_of(put, values) for values in given)) == expected
    queries = np.repeat(np.arange(len(z) // 10), 10)
    ranking = RankSVM().fit(X, z, qid=queries)
    np.testing.assert_allclose(kernels.to_host(ranking.predict(put(X))), ranking.predict(X), rtol=1e-5, atol=1e-5)
    found = ranking.score(laid(put, X), laid(put, z), qid=laid(put, queries))
    assert found == pytest.approx(ranking.score(X, z, qid=queries), rel=1e-3)


@pytest.mark.nightly
def test_regressions_folds_and_rankings(client: Client, put: Put) -> None:
    X, z, weights = examples()
    rows, targets, weigh = (laid(put, values) for values in (X, z, weights))
    same(LinearSVR(tol=1e-5).fit(rows, targets, weigh), LinearSVR(tol=1e-5).fit(X, z, weights))
    signs = np.sign(z)
    chosen = LinearSVCCV([0.01, 1.0], cv=2).fit(rows, laid(put, signs))
    assert chosen.C_ in (0.01, 1.0)
    same(chosen, LinearSVC(C=chosen.C_).fit(X, signs))
    queries = np.repeat(np.arange(len(z) // 10), 10)
    found = RankSVM(tol=1e-3).fit(rows, targets, qid=laid(put, queries))
    alone = RankSVM(tol=1e-3).fit(X, z, qid=queries)
    assert found.lower_bound_ <= alone.objective_
    assert alone.lower_bound_ <= found.objective_


def test_empty_blocks_and_bad_values(client: Client, put: Put) -> None:
    X, z, _ = examples()
    y = np.where(z > 0.0, 1, -1)
    rows, labels = ([*laid(put, values), delayed(put)(values[:0])] for values in (X, y))
    model = LinearSVC().fit(rows, labels)
    same(model, LinearSVC().fit(X, y))
    broken = X.copy()
    broken[200, 2] = np.nan
    with pytest.raises(ValueError, match=r"In partition 1: Column 2 of X has a value that is not finite"):
        LinearSVC().fit(laid(put, broken), laid(put, y))
    empty = client.gather(client.compute(model.predict(rows)))[-1]
    assert len(empty) == 0
