"""Partitions on GPUs: their shards answer from there, nothing of a device is sent, and checksums are the host's."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from tests.device.test_kernels import rows_of

from cutplane.device import arrays
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.source import DenseRows
from cutplane.estimators.common.training import prover_of
from cutplane.objectives.factory import objective_of
from cutplane.risks.registry import BINARY
from cutplane.shards.device_part import DevicePart
from cutplane.shards.part_examples import PartExamples
from cutplane.shards.part_queries import PartQueries
from cutplane.shards.rounds import Errand, Host, Line
from cutplane.shards.rows import RowSet
from cutplane.shards.scattered import Recipe, RemoteExamples, ScatteredRisk, ScatteredSource, scattered_shard
from cutplane.solvers.run import Settings, run
from cutplane.solvers.stopping import Stopping
from cutplane.sources.matrix import MatrixSource

N, D = 900, 6
SIZES = (200, 400, 300)
KINDS = ("dense", "sparse", "mixed", "host")


class HostPickler(pickle.Pickler):
    """Of a process whose answers go to one without a GPU."""

    def reducer_override(self, value: Any) -> Any:
        if type(value).__module__.partition(".")[0] in ("cupy", "cupyx") or type(value).__name__ == "TwinArray":
            raise TypeError("An array of the device was sent.")
        return NotImplemented


class Post:
    """Takes errands to hosts, and answers back as bytes."""

    def __init__(self, parts: list[PartExamples]) -> None:
        self.hosts = [Host(part) for part in parts]

    def __call__(self, errands: Mapping[int, Errand]) -> Mapping[int, Any]:
        room = io.BytesIO()
        HostPickler(room).dump({part: self.hosts[part].run(errand) for part, errand in errands.items()})
        return pickle.loads(room.getvalue())


def examples() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N, D)) < 0.7, rng.normal(size=(N, D)), 0.0).astype(np.float32)
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N) + 0.3 > 0.0, 1, -1)
    return X, y, rng.random(N) + 0.1


def laid(kernels: Kernels, kind: str, number: int, X: Any) -> Any:
    """The rows of a part, where they are to lie."""
    if kind == "host" or (kind == "mixed" and number == 1):
        return X
    sparse = kind == "sparse" or (kind == "mixed" and number == 2)
    return DeviceMatrix(rows_of(kernels, sp.csr_matrix(X) if sparse else X))


def parts(kernels: Kernels, kind: str) -> list[PartExamples]:
    ends = np.cumsum(SIZES)[:-1]
    pieces = zip(*(np.split(each, ends) for each in examples()), strict=True)
    return [PartExamples(laid(kernels, kind, k, X), y, weights) for k, (X, y, weights) in enumerate(pieces)]


def trained(there: list[PartExamples], *, loss: str, intercept: bool, method: str, constant: float) -> Any:
    line = Line(Post(there))
    remote = tuple(RemoteExamples.first(line, number) for number in range(len(there)))
    recipe = Recipe(BINARY[loss], np.array([-1, 1]), 1, None, float(examples()[2].sum()))
    source = ScatteredSource(remote, SIZES, D)
    objective = objective_of(scattered_shard(source, ScatteredRisk(recipe), intercept, constant), intercept=intercept)
    settings = Settings(30.0, Stopping(relative_gap=1e-6), method=method)
    return run(objective, settings, prover_of(objective, settings))


@pytest.mark.parametrize("kind", KINDS[:-1])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize(
    ("intercept", "method", "constant"),
    [(True, "auto", 0.0), (False, "auto", 0.0), (True, "oca", 0.0), (False, "auto", 2.0)],
    ids=["intercept", "none", "oca", "penalised"],
)
def test_a_fit_is_proven_as_on_the_host(
    kernels: Kernels, kind: str, loss: str, intercept: bool, method: str, constant: float
) -> None:
    given: dict[str, Any] = {"loss": loss, "intercept": intercept, "method": method, "constant": constant}
    there, here = (trained(parts(kernels, each), **given) for each in (kind, "host"))
    for one in (there, here):
        assert one.upper - one.lower <= 1e-6 * one.upper
    assert there.lower <= here.upper
    assert here.lower <= there.upper


def test_gathered_examples_are_the_hosts(kernels: Kernels) -> None:
    X, y, weights = examples()
    recipe = Recipe(BINARY["hinge"], np.array([-1, 1]), 1, None, float(weights.sum()))
    w, first, second = np.arange(1.0, D + 1.0), np.arange(3, N, 2), np.arange(0, 200, 3)
    for kind in ("dense", "sparse"):
        there, here = (
            PartExamples(laid(kernels, each, 0, X), y, weights).shard(recipe, 0.0, intercept=True)
            for each in (kind, "host")
        )
        assert isinstance(there, DevicePart)
        scores = there.at(w)
        chosen = [RowSet(kernels.to_device(each)) for each in (first, second)]
        some = there.part(chosen[0], scale=2.0)
        assert isinstance(some, DevicePart)
        sent = some.part(chosen[1], scale=3.0, gathered=True)
        assert isinstance(sent.source, MatrixSource)
        plain = here.part(RowSet(first), scale=2.0).part(RowSet(second), scale=3.0)
        assert sent.value(sent.at(w)) == pytest.approx(plain.value(plain.at(w)), rel=1e-12)
        restricted = there.restricted(scores, chosen[0], gathered=True)
        assert type(restricted) is np.ndarray
        np.testing.assert_allclose(restricted, here.at(w)[first], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("radius", [0.5, 1e-9])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_problem_of_near_examples(kernels: Kernels, radius: float, weighted: bool) -> None:
    X, y, weights = examples()
    weights = weights if weighted else None
    recipe = Recipe(BINARY["hinge"], np.array([-1, 1]), 1, None, 500.0)
    w, factors = np.arange(D) / 7.0, np.array([0.5, 0.25])
    shards = [
        PartExamples(laid(kernels, kind, 0, X), y, weights).shard(recipe, 0.0, intercept=True)
        for kind in ("host", "dense", "sparse")
    ]
    here, *there = (shard.near_problem(shard.at(w), radius, N, intercept=True) for shard in shards)
    assert (here.examples == 0) == (radius < 0.1)
    start = here.start(3.0)
    for near in there:
        assert near.examples == here.examples
        at = near.start(3.0)
        np.testing.assert_allclose(near.sides(at), here.sides(start), rtol=1e-9)
        found, expected = near.leaning_plane(at, factors), here.leaning_plane(start, factors)
        np.testing.assert_allclose(found.slope, expected.slope, rtol=1e-9, atol=1e-12)
        assert (found.offset, found.lean) == pytest.approx((expected.offset, expected.lean), rel=1e-9)
        for one, other in zip(near.dual_sums(at), here.dual_sums(start), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        curvature, known = near.bend(at).curvature, here.bend(start).curvature
        np.testing.assert_allclose(curvature.product(w), known.product(w), rtol=1e-6, atol=1e-9)
        assert curvature.sampled_root(50).shape == known.sampled_root(50).shape


# More than a block, and than several at a time; whole blocks, and less than one.
@pytest.mark.parametrize("rows", [3, 1024, 1500])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8])
def test_checksums_are_the_hosts(kernels: Kernels, monkeypatch: pytest.MonkeyPatch, dtype: Any, rows: int) -> None:
    monkeypatch.setattr("cutplane.shards.part_rows._BLOCKS", 2)
    X = (10.0 * np.random.default_rng(1).normal(size=(rows, 16))).astype(dtype)
    y = np.ones(rows)
    here = PartExamples(X, y, None).mark()
    assert PartExamples(DeviceMatrix(rows_of(kernels, X)), y, None).mark() == here
    for change in (lambda Z: Z.__setitem__((-1, 3), 1), lambda Z: Z.__setitem__([0, 1], Z[[1, 0]])):
        other = X.copy()
        change(other)
        assert PartExamples(DeviceMatrix(rows_of(kernels, other)), y, None).mark() != here


def test_checksums_of_sparse_rows_and_of_brain_floats(kernels: Kernels) -> None:
    X = sp.random_array((2000, 40), density=0.3, format="csr", rng=np.random.default_rng(2), dtype=np.float32)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    y = np.ones(2000)
    assert PartExamples(DeviceMatrix(rows_of(kernels, X)), y, None).mark() == PartExamples(X, y, None).mark()
    bits = np.random.default_rng(3).integers(0, 0x7F00, size=(2000, 40)).astype(np.uint16)
    floats = (bits.astype(np.uint32) << 16).view(np.float32)
    narrow = DenseRows(kernels, kernels.to_device(bits), "bfloat16")
    assert_array_equal(narrow.on_host(), floats)
    assert PartExamples(DeviceMatrix(narrow), y, None).mark() == PartExamples(floats, y, None).mark()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("has_device", [False, True])
def test_a_part_is_sent_to_another_worker(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch, kind: str, has_device: bool
) -> None:
    def none() -> None:
        raise ImportError

    monkeypatch.setattr(arrays, "cuda_kernels", (lambda: kernels) if has_device else none)
    X, y, weights = examples()
    part = PartExamples(laid(kernels, kind, 0, X), y, weights)
    sent = pickle.loads(pickle.dumps(part))
    assert isinstance(sent._source, DeviceMatrix if has_device else MatrixSource)
    assert sent.mark() == part.mark()
    w = np.arange(D) / 3.0
    np.testing.assert_allclose(sent.scores(w), part.scores(w), rtol=1e-12, atol=1e-12)
    folds = [each.fold(1, 3, 0, inside=True, labels=True) for each in (part, sent)]
    np.testing.assert_allclose(folds[1].scores(w), folds[0].scores(w), rtol=1e-12, atol=1e-12)
    again = pickle.loads(pickle.dumps(folds[0]))
    np.testing.assert_allclose(again.scores(w), folds[0].scores(w), rtol=1e-12, atol=1e-12)
    assert len(again.targets()) == len(again.scores(w)) < N


def test_a_sample_of_a_ranking_is_the_hosts(kernels: Kernels) -> None:
    X, y, _ = examples()
    queries = np.repeat(np.arange(N // 10), 10)
    part = PartQueries(laid(kernels, "dense", 0, X), y.astype(np.float64), None, queries)
    shard = part.pair_shard(False, 1.0)
    sent = pickle.loads(pickle.dumps(shard.sample(200, np.random.default_rng(0))))
    assert isinstance(sent.source, MatrixSource)
    assert sent.examples < N
