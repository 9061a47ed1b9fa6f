"""Pairs of different rank on a device: sums are those over all pairs, one by one, and those of the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.device.test_kernels import rows_of

from cutplane import _core
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.pair_risk import DevicePairRisk
from cutplane.device.rank_thresholds import least_error_thresholds_there
from cutplane.risks.pairs import NoPairsError, PairRisk
from cutplane.risks.thresholds import least_error_thresholds
from cutplane.shards.device_pairs import DevicePairShard
from cutplane.shards.registry import make_shard
from cutplane.sources import as_source

#: Examples, ranks, groups (0: all are one), whether weighted, and whether scores are few, so that many are equal.
CASES = {
    "two ranks": (300, 2, 0, False, False),
    "two ranks, ties": (300, 2, 0, False, True),
    "two ranks, weighted": (300, 2, 0, True, True),
    "five ranks": (300, 5, 0, False, False),
    "ranks of their own": (257, 10_000, 0, False, True),
    "queries": (400, 3, 40, False, False),
    "queries, weighted": (400, 5, 23, True, True),
    "long": (5000, 3, 0, True, False),
    "long queries": (9000, 4, 3, True, True),
    "a tile and one more": (2049, 2, 0, False, True),
}
every_case = pytest.mark.parametrize("case", CASES)


def drawn(case: str) -> tuple[PairRisk, Any, Any]:
    """A risk, scores and a direction."""
    n, ranks, groups, weighted, ties = CASES[case]
    rng = np.random.default_rng(sorted(CASES).index(case))
    weights = rng.random(n) * (rng.random(n) > 0.1) if weighted else None
    queries = rng.integers(0, groups, n) if groups else None
    risk = PairRisk(rng.integers(0, ranks, n), queries, weights, equal_groups=bool(groups % 2))
    scores, direction = 1.5 * rng.normal(size=(2, n))
    return risk, np.round(2.0 * scores) / 2.0 if ties else scores, direction


def brute_force(risk: PairRisk, s: Any, h: float | None) -> tuple[Any, float, float]:
    """Coefficients, offset and value of the plane of a risk rounded over h (None: not), pair by pair."""
    ranks, groups, weights, equal, _, share = risk.made_of
    groups = np.zeros(len(s), int) if groups is None else groups
    own = np.ones(len(s)) if weights is None else weights
    z = 1.0 - (s[:, None] - s[None, :])
    pairs = (ranks[:, None] > ranks[None, :]) & (groups[:, None] == groups[None, :])
    each = np.where(pairs, np.outer(own, own), 0.0)
    total = {g: each[groups == g].sum() for g in np.unique(groups)}
    present = sum(mass > 0.0 for mass in total.values())
    scale = np.array([0.0 if total[g] == 0.0 else share / (present * total[g]) for g in groups])
    each = each * (scale[:, None] if equal else share / sum(total.values()))
    counted = each * ((z >= 0.0) if h is None else np.clip(z / h + 0.5, 0.0, 1.0))
    return counted.sum(axis=0) - counted.sum(axis=1), float(counted.sum()), float((each * np.maximum(z, 0.0)).sum())


@every_case
@pytest.mark.parametrize("h", [None, 0.01, 0.7, 5.0])
def test_sums_over_pairs(kernels: Kernels, case: str, h: float | None) -> None:
    risk, s, _ = drawn(case)
    there = DevicePairRisk.on(kernels, risk)
    order, here = there.sort(kernels.to_device(s)), risk.sort(s)
    coef, offset, value = order.cut() if h is None else order.smoothed(h, h)
    if len(s) < 2000:
        known = brute_force(risk, s, h)
        assert_allclose(kernels.to_host(coef), known[0], rtol=1e-9, atol=1e-13)
        assert (offset, value) == pytest.approx(known[1:], rel=1e-10)
    core = here.cut() if h is None else here.smoothed(h, h)
    assert_allclose(kernels.to_host(coef), core[0], rtol=1e-10, atol=1e-14)
    assert (offset, value) == pytest.approx(core[1:], rel=1e-11)
    assert (there.n_pairs, there.n_groups) == (risk.n_pairs, risk.n_groups)
    assert there.total_mass == pytest.approx(risk.total_mass, rel=1e-12)


@every_case
def test_the_same_bits_every_time(kernels: Kernels, case: str) -> None:
    risk, s, _ = drawn(case)
    first, second = (DevicePairRisk.on(kernels, risk).sort(kernels.to_device(s)).smoothed(0.3, 0.3) for _ in range(2))
    assert_array_equal(kernels.to_host(first[0]), kernels.to_host(second[0]))
    assert first[1:] == second[1:]


@every_case
def test_pairs_that_stay_on_a_wider_kink(kernels: Kernels, case: str) -> None:
    risk, s, _ = drawn(case)
    coef = DevicePairRisk.on(kernels, risk).sort(kernels.to_device(s)).smoothed(0.2, 0.9)[0]
    assert_allclose(kernels.to_host(coef), risk.sort(s).smoothed(0.2, 0.9)[0], rtol=1e-9, atol=1e-12)


@every_case
def test_the_risk_along_a_line(kernels: Kernels, case: str) -> None:
    risk, s, direction = drawn(case)
    here = risk.ray(s, s + direction)
    there = DevicePairRisk.on(kernels, risk).ray(kernels.to_device(s), kernels.to_device(s + direction))
    for t in (0.3, 1.7):  # not where pairs of equal scores are on their kinks
        assert there.at(t) == pytest.approx(here.at(t), rel=1e-9)
    found, known = there.minimise(1.0, 0.1, 30.0), here.minimise(1.0, 0.1, 30.0)
    assert found == pytest.approx(known, rel=0.2, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e12, 1e60])
def test_scores_of_any_size(kernels: Kernels, scale: float) -> None:
    risk, s, _ = drawn("five ranks")
    here, there = risk.cut(scale * s), DevicePairRisk.on(kernels, risk).cut(kernels.to_device(scale * s))
    assert_allclose(kernels.to_host(there.coef), here.coef, rtol=1e-12, atol=1e-15)
    assert there.value == pytest.approx(here.value, rel=1e-12)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused(kernels: Kernels, wrong: float) -> None:
    risk, s, _ = drawn("two ranks")
    s[17] = wrong
    with pytest.raises(ValueError, match="must be finite"):
        DevicePairRisk.on(kernels, risk).cut(kernels.to_device(s))


def shards(kernels: Kernels, case: str) -> tuple[DevicePairShard, Any]:
    risk, s, _ = drawn(case)
    X = np.random.default_rng(1).normal(size=(len(s), 6)).astype(np.float32)
    there = make_shard(DeviceMatrix(rows_of(kernels, X)), risk)
    assert isinstance(there, DevicePairShard)
    return there, make_shard(as_source(X), risk)


@every_case
def test_shards_say_what_those_of_the_host_say(kernels: Kernels, case: str) -> None:
    there, here = shards(kernels, case)
    w, p = np.random.default_rng(2).normal(size=(2, 6))
    at, known = there.at(w), here.at(w)
    found, expected = there.plane(there.smoothed(at, 0.3), at, 0.3), here.plane(here.smoothed(known, 0.3), known, 0.3)
    assert_allclose(found.slope, expected.slope, rtol=1e-9, atol=1e-12)
    assert found[1:4] == pytest.approx(expected[1:4], rel=1e-9)
    assert found.mass == pytest.approx(expected.mass, rel=1e-9)
    rise = (
        there.slope_along(there.smoothed(at, 0.3), there.at(p)),
        here.slope_along(here.smoothed(known, 0.3), here.at(p)),
    )
    assert rise[0] == pytest.approx(rise[1], rel=1e-9)
    assert_allclose(there.cut(at).slope, here.cut(known).slope, rtol=1e-9, atol=1e-12)
    assert_allclose(there.extrapolated(at, 0.1, 0.3), here.extrapolated(known, 0.1, 0.3), rtol=1e-8, atol=1e-11)
    bent, curved = there.curvature(at, 0.5).product(p), here.curvature(known, 0.5).product(p)
    assert_allclose(bent, curved, rtol=1e-7, atol=1e-10)
    value, error = there.evaluated(w, 0.0, 1e-12)
    other, more = here.evaluated(w, 0.0, 1e-12)
    assert abs(value - other) <= error + more
    assert error == pytest.approx(more, rel=1.0)


@pytest.mark.parametrize("case", ["two ranks", "five ranks", "queries", "long queries"])
def test_samples(kernels: Kernels, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there, _ = shards(kernels, case)
    for most in (1 << 17, 1):  # on the host, and on the device
        monkeypatch.setattr("cutplane.shards.device_pairs._MOST_ON_HOST", most)
        part = there.sample(120, np.random.default_rng(0))
        assert part is not None
        assert 60 <= part.examples <= 240 or case == "long queries"
        assert isinstance(part, DevicePairShard) == (most == 1)
        w = np.ones(6)
        assert part.value(part.at(w)) == pytest.approx(there.value(there.at(w)), rel=0.5)


def test_samples_have_as_many_of_a_rare_rank(kernels: Kernels) -> None:
    ranks = np.zeros(20_000, np.int64)
    ranks[::1000] = 1
    risk = DevicePairRisk.on(kernels, PairRisk(ranks))
    rows = kernels.to_host(risk.sample_rows(100, np.random.default_rng(0)))
    assert ranks[rows].sum() == 20
    assert len(np.unique(rows)) == len(rows) <= 100


def test_a_sample_without_a_pair(kernels: Kernels) -> None:
    with pytest.raises(NoPairsError):
        DevicePairRisk.on(kernels, PairRisk(np.array([0, 0, 1]))).take(kernels.to_device(np.array([0, 1])))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["usual", "ties", "apart", "wrong way round"])
def test_thresholds(kernels: Kernels, kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 400)
    spread, sign = {"usual": (1.0, 1.0), "ties": (1.0, 1.0), "apart": (0.0, 1.0), "wrong way round": (0.0, -1.0)}[kind]
    scores = sign * codes + spread * rng.normal(size=400)
    scores = np.round(scores) if kind == "ties" else scores
    weights = rng.random(400) + 0.1 if weighted else None
    on = kernels.to_device
    there = least_error_thresholds_there(kernels, on(scores), on(codes), 4, None if weights is None else on(weights))
    step = _core.grid_step(400, float(np.abs(scores).max()))
    assert_allclose(there, least_error_thresholds(scores, codes, 4, weights), rtol=0.0, atol=step)
