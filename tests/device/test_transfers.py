"""Long arrays to a device and back: in parts, by way of two buffers."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cutplane.device import transfers
from cutplane.device.kernels import Kernels
from cutplane.device.transfers import LONG, Transfers


class Stream:
    """Does what it was asked for when it is waited for, not before."""

    def __init__(self, **_: Any) -> None:
        self.asked: list[Any] = []

    def synchronize(self) -> None:
        while self.asked:
            self.asked.pop(0)()


class There:
    """An array of a device that writes and reads behind the back of its caller."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.shape, self.dtype, self.size = values.shape, values.dtype, values.size

    def __getitem__(self, part: slice) -> There:
        return There(self.values[part])

    def reshape(self, size: int) -> There:
        return There(self.values.reshape(size))

    def get(self, stream: Stream, out: Any, *, blocking: bool) -> None:
        assert not blocking
        stream.asked.append(lambda: np.copyto(out, self.values))

    def set(self, source: Any, stream: Stream) -> None:
        stream.asked.append(lambda: np.copyto(self.values, source))


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Transfers:
    monkeypatch.setattr(transfers, "_PINNED", 64)  # eight numbers
    cuda = SimpleNamespace(get_current_stream=Stream, Stream=Stream, Device=nullcontext)
    return Transfers(SimpleNamespace(cuda=cuda, empty=lambda shape, dtype: There(np.zeros(shape, dtype))), np.zeros)


@pytest.mark.parametrize("shape", [1, 7, 8, 9, 16, 17, 1000, (40, 3), (5, 8), (7, 20), (3, 2, 2)])
def test_every_part_arrives(between: Transfers, shape: int | tuple[int, ...]) -> None:
    for _ in range(2):  # the buffers are kept
        values = np.random.default_rng(0).random(shape)
        assert_array_equal(between.to_host(There(values)), values)
        assert_array_equal(between.to_device(values).values, values)


@pytest.mark.parametrize("shape", [(40, 3), (7, 20), 50])
def test_stretches_are_seen_once_when_they_have_arrived(
    between: Transfers, monkeypatch: pytest.MonkeyPatch, shape: int | tuple[int, int]
) -> None:
    monkeypatch.setattr(transfers, "_STRETCH", 200)
    values, found = np.random.default_rng(0).random(shape), {}
    between.to_device(values, lambda begin, part: found.update({begin: part.values.copy()}))
    assert len(found) > 1
    assert_array_equal(np.concatenate([found[begin] for begin in sorted(found)]), values)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_there_and_back(kernels: Kernels, dtype: str) -> None:
    values = np.arange(5 * LONG + 3, dtype=np.int64).astype(dtype)
    there = kernels.to_device(values)
    assert_array_equal(kernels.to_host(there), values)
    assert_array_equal(kernels.to_host(there[::2]), values[::2])


def test_rows_are_seen_on_their_way(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "_STRETCH", LONG)
    values = np.random.default_rng(0).random((LONG // 8, 7)).astype(np.float32)
    sums: list[tuple[int, Any]] = []
    there = kernels.to_device(values, lambda begin, part: sums.append((begin, part.max())))
    assert_array_equal(kernels.to_host(there), values)
    assert len(sums) > 1
    begins = sorted(begin for begin, _ in sums)
    wanted = {begin: part.max() for begin, part in zip(begins, np.split(values, begins[1:]), strict=True)}
    assert {begin: float(found) for begin, found in sums} == wanted
