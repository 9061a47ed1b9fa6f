"""Passes over strings on a device are those over their features, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.device import string_source
from cutplane.device.kernels import Kernels
from cutplane.device.string_source import StringRows, rows_of_strings
from cutplane.sources.packed import PackedStrings
from cutplane.sources.strings import StringPart, StringSource, degree_weights

LENGTH = 23


def part(positional: bool, begin: int, end: int, order: int) -> StringPart:
    return StringPart(positional, begin, end, tuple(degree_weights(order).tolist()), normalize=False)


PARTS = {
    "both": [part(False, 0, 9, 3), part(False, 11, LENGTH, 4), part(True, 0, LENGTH, 3)],
    "degree": [part(True, 0, LENGTH, 4)],
    "spectra": [part(False, 2, 9, 2), part(False, 7, 20, 4), part(False, 14, 20, 4)],
    "inside": [part(True, 3, 12, 2), part(False, 5, 19, 3)],
    "letters": [part(True, 0, LENGTH, 1), part(False, 4, 5, 1)],
}
# Letters, and whether some are unknown: not every alphabet has one for these.
LETTERS = [("ACGT", False), ("ACGT", True), ("01", False), ("abc", False), ("ACDEFGHIKL", False), ("ACDEFGHIKL", True)]


def strings_of(letters: str, n: int, *, unknown: bool, seed: int = 0) -> PackedStrings:
    rng = np.random.default_rng(seed)
    drawn = rng.choice(list(letters), size=(n, LENGTH))
    drawn[:, 10:14] = np.where(rng.random((n, 4)) < 0.7, letters[0], drawn[:, 10:14])  # k-mers that come again
    if unknown:
        drawn[rng.random((n, LENGTH)) < 0.02] = "N" if letters == "ACGT" else "X"
        drawn[3] = "N" if letters == "ACGT" else "X"
    name = {"ACGT": "dna", "ACDEFGHIKL": "protein"}.get(letters, letters)
    return PackedStrings.pack(["".join(row) for row in drawn], name)


def both(
    kernels: Kernels, kind: str, letters: str, n: int = 300, *, unknown: bool, normalize: bool
) -> tuple[StringSource, StringRows]:
    strings = strings_of(letters, n, unknown=unknown)
    here = StringSource(strings, PARTS[kind], normalize=normalize)
    return here, rows_of_strings(kernels, strings, PARTS[kind], normalize=normalize)


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize(("letters", "unknown"), LETTERS)
@pytest.mark.parametrize("normalize", [False, True])
def test_passes(kernels: Kernels, kind: str, letters: str, unknown: bool, normalize: bool) -> None:
    here, there = both(kernels, kind, letters, unknown=unknown, normalize=normalize)
    rng = np.random.default_rng(1)
    n, d = here.shape
    assert there.shape == (n, d)
    w, coef = rng.normal(size=d), rng.normal(size=n) * (rng.random(n) < 0.7)
    assert_allclose(kernels.to_host(there.scores(w)), here.scores(w), rtol=1e-12, atol=1e-12)
    assert_allclose(there.combine(coef), here.combine(coef), rtol=1e-12, atol=1e-13)
    assert_array_equal(there.combine(0.0 * coef), np.zeros(d))
    rows = np.sort(rng.choice(n, 70, replace=False))
    some = there.take(kernels.to_device(rows))
    assert_allclose(kernels.to_host(some.scores(w)), here.scores(w)[rows], rtol=1e-12, atol=1e-12)
    assert_allclose(some.combine(coef[rows]), here.take(rows).combine(coef[rows]), rtol=1e-12, atol=1e-13)
    rows = rows[:5]  # four million features in the widest alphabet
    dense = here.combine(np.eye(n)[:, rows]).T
    weights = rng.random(len(rows))
    found = there.dense_rows(kernels.to_device(rows), kernels.to_device(weights))
    assert_allclose(found, weights[:, None] * dense, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("kind", PARTS)
def test_lookups_for_several_positions(
    kernels: Kernels, kind: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = both(kernels, kind, "ACGT", unknown=True, normalize=True)
    w = np.random.default_rng(2).normal(size=here.shape[1])
    monkeypatch.setattr(string_source, "_PAYS", 0)
    monkeypatch.setattr(string_source, "_WIDEST", width)
    monkeypatch.setattr(string_source, "_TABLES_AT_ONCE", 1 << 16)  # several chunks
    assert there._width == width
    assert_allclose(kernels.to_host(there.scores(w)), here.scores(w), rtol=1e-12, atol=1e-12)
    coef = np.random.default_rng(3).normal(size=here.shape[0])
    assert_allclose(there.combine(coef), here.combine(coef), rtol=1e-12, atol=1e-13)


def test_sums_are_the_same_in_any_order(kernels: Kernels) -> None:
    """Whole numbers are added up: as rows lie otherwise, nothing changes, not the last bit."""
    here, there = both(kernels, "both", "ACGT", unknown=True, normalize=False)
    rng = np.random.default_rng(4)
    coef, order = rng.normal(size=here.shape[0]), rng.permutation(here.shape[0])
    coef *= 1.0 / np.abs(coef).sum()
    again = there.take(kernels.to_device(order)).combine(coef[order])
    assert_array_equal(again, there.combine(coef))


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e70])
def test_sums_of_any_size(kernels: Kernels, size: float) -> None:
    here, there = both(kernels, "both", "ACGT", unknown=False, normalize=True)
    coef = size * np.random.default_rng(5).normal(size=here.shape[0])
    expected = here.combine(coef)
    assert_allclose(there.combine(coef), expected, rtol=1e-9, atol=1e-13 * np.abs(expected).max())


def test_squares(kernels: Kernels) -> None:
    """Of features at fixed positions they are sums of squares; of spectra, nearly."""
    here, there = both(kernels, "both", "ACGT", unknown=True, normalize=True)
    weights = np.random.default_rng(6).random(here.shape[0])
    dense = here.combine(np.eye(here.shape[0])).T
    expected = weights @ dense**2
    found = kernels.to_host(there.squares_there(kernels.to_device(weights)))
    spectra = sum(each.dimension(4) for each in PARTS["both"][:2])
    assert_allclose(found[spectra:], expected[spectra:], rtol=1e-12, atol=1e-15)
    seen = expected[:spectra] > 0.0
    ratio = found[:spectra][seen] / expected[:spectra][seen]
    assert 0.7 < np.median(ratio) < 1.4
    assert ratio.min() > 0.2


def test_extent_covers_what_is_rounded_off(kernels: Kernels) -> None:
    here, there = both(kernels, "both", "ACGT", unknown=True, normalize=True)
    assert there.extent.reach == here.extent.reach
    assert there.extent.row_depth == here.extent.row_depth
    longest = float(np.sqrt(kernels.to_host(kernels.strings().squared_lengths(there.strings, there.layout)).max()))
    assert there._spread * longest >= longest
    assert there._spread > 1.0


def test_more_pieces_than_one_and_back(kernels: Kernels) -> None:
    n = (1 << 16) + 77
    rng = np.random.default_rng(7)
    codes = np.frombuffer(b"ACGTN", np.uint8)[rng.choice(5, size=(n, LENGTH), p=[0.3, 0.2, 0.25, 0.2499, 0.0001])]
    strings = PackedStrings.pack(codes)
    assert strings.has_unknown
    here = StringSource(strings, PARTS["both"])
    there = rows_of_strings(kernels, strings, PARTS["both"], normalize=False)
    w, coef = rng.normal(size=here.shape[1]), rng.normal(size=n)
    assert_allclose(kernels.to_host(there.scores(w)), here.scores(w), rtol=1e-12, atol=1e-12)
    assert_allclose(there.combine(coef), here.combine(coef), rtol=1e-10, atol=1e-11)
    back: Any = there.on_host()
    assert_array_equal(back.strings.data, strings.data)
    for mine, given in zip(back.strings.unknown, strings.unknown, strict=True):
        assert_array_equal(mine, given)
