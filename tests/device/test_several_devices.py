"""Several GPUs of one process: examples are divided among them, or lie there, and are proven as in one place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from cutplane import LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression
from cutplane.cluster.local import LocalPost
from cutplane.device import arrays
from cutplane.device.kernels import Kernels
from cutplane.device.twin import TwinKernels
from cutplane.shards.device_part import DevicePart
from cutplane.shards.part_examples import PartExamples
from cutplane.shards.rounds import FIRST, Call, Errand

Put = Callable[[Any], Any]

N, D = 600, 5
TWICE = ["cuda:0", "cuda:0"]  # two parts of one device


def examples() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)).astype(np.float32)
    z = X @ rng.normal(size=D) + 0.5 * rng.normal(size=N) + 0.3
    return X, z, rng.random(N) + 0.1


def same(found: Any, alone: Any) -> None:
    """Both are proven, of the same problem."""
    for one, other in zip(found.certificates_, alone.certificates_, strict=True):
        assert one.gap <= found.tol
        assert one.lower_bound <= other.objective * (1.0 + 1e-12)
        assert other.lower_bound <= one.objective * (1.0 + 1e-12)


@pytest.fixture
def made(put: Put, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Shards that were made on a device: their numbers of examples, and in which thread."""
    found: list[tuple[int, str]] = []
    begin = DevicePart.__init__

    def noted(self: DevicePart, *args: Any, **named: Any) -> None:
        begin(self, *args, **named)
        found.append((self.examples, threading.current_thread().name))

    monkeypatch.setattr(DevicePart, "__init__", noted)
    return found


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("options", [{}, {"loss": "logistic"}, {"fit_intercept": False, "method": "newton"}], ids=str)
def test_rows_are_divided(made: list[tuple[int, str]], layout: Any, options: dict[str, Any]) -> None:
    X, z, weights = examples()
    y = np.where(z > 0.0, "yes", "no")
    found = LinearSVC(device=TWICE, tol=1e-5, **options).fit(layout(X), y, weights)
    same(found, LinearSVC(tol=1e-5, **options).fit(layout(X), y, weights))
    assert found.classes_.tolist() == ["no", "yes"]
    assert (N // 2, threading.main_thread().name) not in made
    assert len({thread for size, thread in made if size == N // 2}) == 2
    assert_array_equal(found.predict(X) == "yes", found.decision_function(X) > 0.0)


def test_the_same_bits_every_time(put: Put) -> None:
    X, z, _ = examples()
    first, second = (LinearSVC(device=TWICE).fit(X, z > 0.0) for _ in range(2))
    assert_array_equal(first.coef_, second.coef_)
    assert first.lower_bound_ == second.lower_bound_


@pytest.mark.nightly
def test_more_classes_and_targets(put: Put) -> None:
    X, z, _ = examples()
    y = np.digitize(z, [-1.0, 1.0])
    same(LinearSVC(device=TWICE).fit(X, y), LinearSVC().fit(X, y))
    same(LinearSVR(device=TWICE).fit(X, z), LinearSVR().fit(X, z))
    same(LogisticRegression(device=TWICE).fit(X, y == 1), LogisticRegression().fit(X, y == 1))


@pytest.mark.nightly
def test_cross_validation(put: Put) -> None:
    X, z, _ = examples()
    found = LinearSVCCV(device=TWICE, Cs=[0.01, 1.0], cv=3).fit(X, z > 0.0)
    assert found.scores_.shape == (2, 3)
    assert found.score(X, z > 0.0) > 0.8
    assert found.n_features_in_ == D


@pytest.mark.parametrize("cut", [True, False])
def test_arrays_that_lie_on_devices(put: Put, made: list[tuple[int, str]], cut: bool) -> None:
    X, z, weights = examples()
    y = np.where(z > 0.0, 3, 7)
    ends = [200, 450]
    rows = [put(part) for part in np.split(X, ends)]
    beside = [[put(part) for part in np.split(each, ends)] if cut else each for each in (y, weights)]
    found = LinearSVC().fit(rows, *beside)
    same(found, LinearSVC().fit(X, y, weights))
    assert {200, 250, 150} <= {size for size, _ in made}
    assert found.n_features_in_ == D
    assert found.classes_.tolist() == [3, 7]


def test_fewer_rows_than_devices(put: Put) -> None:
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    same(LinearSVC(device=["cuda:0"] * 3).fit(X, y), LinearSVC().fit(X, y))


@pytest.mark.parametrize(
    ("device", "sentence"),
    [
        ([], "device=\\[\\] must be 'cuda', a list such as"),
        (["cuda:0", "gpu"], "must be 'cuda', a list such as"),
        ([0, 1], "must be 'cuda', a list such as"),
        (["cuda:0", "cuda:99"], "has 'cuda:99', and CuPy finds \\d+ GPUs, from 'cuda:0' on."),
    ],
)
def test_names_that_mean_no_devices(put: Put, device: Any, sentence: str) -> None:
    X, z, _ = examples()
    with pytest.raises(ValueError, match=sentence):
        LinearSVC(device=device).fit(X, z > 0.0)


def test_what_is_for_one_place(put: Put) -> None:
    X, z, _ = examples()
    with pytest.raises(ValueError, match="keep_proof=True is for examples in one place"):
        LinearSVC(device=TWICE, keep_proof=True).fit(X, z > 0.0)
    with pytest.raises(ValueError, match="trained in one place"):
        LinearSVC(device=TWICE, multi_class="crammer_singer").fit(X, np.digitize(z, [-1.0, 1.0]))
    with pytest.raises(ValueError, match="A list of devices divides arrays and matrices of the host"):
        LinearSVC(device=TWICE).fit(put(X), z > 0.0)
    with pytest.raises(ValueError, match="X has 600 rows, but y has 599"):
        LinearSVC().fit([put(X[:300]), put(X[300:])], z[:-1] > 0.0)


def test_an_array_of_another_device_than_the_current_one(
    put: Put, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, z, _ = examples()
    monkeypatch.setattr(type(kernels), "current", property(lambda self: 1))
    with pytest.raises(ValueError, match="X lies on GPU 0, and GPU 1 is the current one"):
        LinearSVC().fit(put(X), z > 0.0)


def test_each_part_chooses_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    used: dict[str, int] = {}

    class Several(TwinKernels):
        def use(self, number: int) -> None:
            used[threading.current_thread().name] = number

    monkeypatch.setattr(arrays, "cuda_kernels", Several)
    X, z, _ = examples()
    LinearSVC(device=["cuda:1", "cuda:3"]).fit(X, z > 0.0)
    assert sorted(used.values()) == [1, 3]


def parts() -> list[Callable[[], PartExamples]]:
    X, z, _ = examples()
    return [lambda: PartExamples(X[:300], z[:300], None), lambda: PartExamples(X[300:], z[300:], None)]


def test_an_error_of_one_part_is_raised_when_all_are_done() -> None:
    post = LocalPost(parts())
    good = Errand([Call(FIRST, "targets", (), {}, None)], [])
    bad = Errand([Call(FIRST, "nothing_like_that", (), {}, None)], [])
    with pytest.raises(AttributeError, match="nothing_like_that"):
        post({0: bad, 1: good})
    assert_array_equal(post({1: good})[1][0], examples()[1][300:])  # it goes on
    post.close()
    with pytest.raises(RuntimeError):
        post({1: good})


def test_threads_end_where_a_part_cannot_begin() -> None:
    def fails() -> PartExamples:
        raise ValueError("No rows.")

    before = threading.active_count()
    with pytest.raises(ValueError, match="No rows"):
        LocalPost([parts()[0], fails])
    assert threading.active_count() == before


def test_threads_end_with_the_fit(put: Put) -> None:
    X, z, _ = examples()
    before = threading.active_count()
    LinearSVC(device=TWICE).fit(X, z > 0.0)
    assert threading.active_count() == before
