"""The pair risks against sums over every pair, on small samples full of ties."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.risks.ordinal import OrdinalRisk
from cutplane.risks.pairs import PairRisk, dense_codes
from cutplane.risks.ranking import RankingRisk
from cutplane.risks.roc_area import RocArea
from cutplane.testing import check_risk


class EveryPair:
    """The same sums, pair by pair."""

    def __init__(self, ranks: Any, groups: Any = None, weights: Any = None, equal_groups: bool = False) -> None:
        n = len(ranks)
        groups = np.zeros(n) if groups is None else groups
        c = np.ones(n) if weights is None else weights
        self.w = np.where((ranks[:, None] > ranks) & (groups[:, None] == groups), c[:, None] * c, 0.0)
        self.n_pairs = np.count_nonzero(self.w)
        if equal_groups:
            paired = [group for group in np.unique(groups) if self.w[groups == group].any()]
            for group in paired:
                self.w[groups == group] /= self.w[groups == group].sum() * len(paired)
        elif self.n_pairs:
            self.w /= self.w.sum()

    def z(self, s: Any) -> Any:
        return 1.0 - s[:, None] + s

    def plane(self, pi: Any) -> tuple[Any, float]:
        pi = self.w * pi
        return pi.sum(axis=0) - pi.sum(axis=1), pi.sum()

    def value(self, s: Any) -> float:
        return float((self.w * np.maximum(0.0, self.z(s))).sum())

    def right_slope(self, s: Any, d: Any) -> float:
        z, rise = self.z(s), d - d[:, None]
        return float((self.w * np.where(z > 0, rise, np.where(z == 0, np.maximum(0, rise), 0.0))).sum())

    def curvature(self, s: Any, h: float, d: Any) -> Any:
        on = self.w * (np.abs(self.z(s)) < 0.5 * h) * (d[:, None] - d)
        return on.sum(axis=1) - on.sum(axis=0)


class Sample(NamedTuple):
    ranks: Any
    groups: Any
    weights: Any
    equal_groups: bool
    scores: Any
    end: Any


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    n = draw(st.integers(2, 24))
    whole = lambda low, high: np.array(draw(st.lists(st.integers(low, high), min_size=n, max_size=n)))  # noqa: E731
    return Sample(
        whole(0, draw(st.sampled_from([1, 2, 7, 50]))),
        whole(0, 2) if draw(st.booleans()) else None,
        whole(0, 3).astype(float) if draw(st.booleans()) else None,
        draw(st.booleans()),
        whole(-4, 4) / 2.0,
        whole(-4, 4) / 2.0,
    )


@given(samples())
def test_every_sum_is_that_over_all_pairs(sample: Sample) -> None:
    ranks, groups, weights, equal_groups, s, end = sample
    truth = EveryPair(ranks, groups, weights, equal_groups)
    if not truth.n_pairs:
        with pytest.raises(ValueError, match="no pair to compare"):
            PairRisk(ranks, groups, weights, equal_groups=equal_groups)
        return
    risk = PairRisk(ranks, groups, weights, equal_groups=equal_groups)
    assert risk.n_pairs == truth.n_pairs
    cut = risk.cut(s)
    coef, offset = truth.plane(truth.z(s) >= 0.0)
    np.testing.assert_allclose(cut.coef, coef, atol=1e-14)
    assert (cut.offset, cut.value) == (pytest.approx(offset), pytest.approx(truth.value(s), abs=1e-14))
    for h in (0.25, 2.0):  # scores are multiples of ½: pairs sit on both ends of the wider kink
        rounded = risk.smoothed(s, h)
        coef, offset = truth.plane(np.clip(truth.z(s) / h + 0.5, 0.0, 1.0))
        np.testing.assert_allclose(rounded.coef, coef, atol=1e-13)
        assert (rounded.offset, rounded.value) == (pytest.approx(offset), pytest.approx(truth.value(s), abs=1e-13))
        np.testing.assert_allclose(risk.sort(s).curvature(h, end), truth.curvature(s, h, end), atol=1e-13)
    for t in (0.0, 0.5, 1.0):
        value, slope = risk.ray(s, end).at(t)
        moved = s + t * (end - s)
        assert value == pytest.approx(truth.value(moved), abs=1e-13)
        assert slope == pytest.approx(truth.right_slope(moved, end - s), abs=1e-13)


def test_counts_are_exact() -> None:
    """Times the number of pairs, a cut's coefficients are the paper's c- less c+."""
    rng = np.random.default_rng(0)
    ranks, s = rng.integers(0, 5, 300), rng.integers(-6, 7, 300) / 4.0
    risk = OrdinalRisk(ranks)
    counts = risk.cut(s).coef * risk.n_pairs
    higher, beyond = ranks[:, None] > ranks, 1.0 - s[:, None] + s >= 0.0
    expected = (higher & beyond).sum(axis=0) - (higher & beyond).sum(axis=1)
    np.testing.assert_array_equal(np.rint(counts), expected)
    np.testing.assert_allclose(counts, expected, atol=1e-9)


def test_pairs_are_counted_in_64_bits() -> None:
    n = 200_000
    risk = OrdinalRisk(np.arange(n))
    assert risk.n_pairs == n * (n - 1) // 2
    assert risk.cut(np.zeros(n)).offset == pytest.approx(1.0)


@pytest.mark.parametrize("levels", [2, 5, 100_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_samples_agree_with_small_pieces_and_any_number_of_threads(levels: int, weighted: bool) -> None:
    """Sums over a large sample, in parts and by several threads: by linearity and to the bit."""
    rng = np.random.default_rng(levels)
    n = 100_000
    ranks, s, d = rng.integers(0, levels, n), np.round(rng.normal(size=n), 3), rng.normal(size=n)
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    one, two = (PairRisk(ranks, None, weights, n_threads=k) for k in (1, 2))
    a, b = one.smoothed(s, 0.3), two.smoothed(s, 0.3)
    assert np.array_equal(a.coef, b.coef)
    assert a[1:] == b[1:]
    assert np.array_equal(one.sort(s).curvature(0.3, d), two.sort(s).curvature(0.3, d))
    assert one.ray(s, d).at(0.4) == two.ray(s, d).at(0.4)
    # A few examples, pair by pair against all others.
    c = np.ones(n) if weights is None else weights
    total = sum(c[ranks == r].sum() * c[ranks < r].sum() for r in np.unique(ranks)) if levels < 10 else None
    for i in rng.integers(0, n, 5):
        led = c[(ranks < ranks[i]) & (1.0 - s[i] + s >= 0.0)].sum()
        trails = c[(ranks > ranks[i]) & (1.0 - s + s[i] >= 0.0)].sum()
        if total is not None:
            assert one.cut(s).coef[i] == pytest.approx(c[i] * (trails - led) / total, abs=1e-15)
        assert np.sign(one.cut(s).coef[i]) == np.sign(trails - led)


def test_equal_scores_of_either_zero_and_huge_ones() -> None:
    s = np.array([0.0, -0.0, 1e300, -1e300, 1e300, 5e-324] * 200)
    ranks = np.arange(len(s)) % 7
    truth = EveryPair(ranks)
    np.testing.assert_allclose(OrdinalRisk(ranks).cut(s).coef, truth.plane(truth.z(s) >= 0.0)[0], atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused(bad: float) -> None:
    risk = OrdinalRisk([0, 1])
    with pytest.raises(ValueError, match="must be finite"):
        risk.cut(np.array([0.0, bad]))
    with pytest.raises(ValueError, match="must be finite"):
        risk.ray(np.array([0.0, bad]), np.zeros(2)).value(0.5)


RNG = np.random.default_rng(1)
GROUPS = RNG.integers(0, 5, 40)


@pytest.mark.parametrize(
    "risk",
    [
        OrdinalRisk(RNG.integers(0, 4, 40)),
        OrdinalRisk(RNG.normal(size=40), RNG.integers(0, 3, 40)),
        RankingRisk(RNG.integers(0, 3, 40), GROUPS),
        RankingRisk(RNG.integers(0, 3, 40), GROUPS, equal_groups=False),
        RocArea(RNG.choice([-1, 1], 40)),
    ],
    ids=["ordinal", "weighted", "queries", "pairs", "roc"],
)
def test_contract(risk: PairRisk) -> None:
    check_risk(risk, 40)


def test_a_ray_can_be_searched_to_the_end() -> None:
    risk = OrdinalRisk(RNG.integers(0, 4, 40))
    risk.ray_accuracy = 0.0
    check_risk(risk, 40)


def test_the_roc_area_is_bounded() -> None:
    from sklearn.metrics import roc_auc_score

    y, s = RNG.choice([-1, 1], 200), RNG.normal(size=200)
    assert RocArea(y).value(s) >= 1.0 - roc_auc_score(y, s)
    # Far from the margin, what is left of it is by how much pairs are the wrong way round.
    wrong = np.maximum(0.0, s[y < 0] - s[y > 0][:, None]).mean()
    assert RocArea(y).value(1e6 * s) / 1e6 == pytest.approx(wrong, abs=1e-6)


@pytest.mark.parametrize("positives", [1, 3, 4_000])
def test_rare_positives_are_in_every_sample(positives: int) -> None:
    y = np.where(np.arange(20_000) < positives, 1, -1)
    rows = RocArea(y).sample_rows(1_000, np.random.default_rng(0))
    assert len(np.unique(rows)) == len(rows) <= 1_000
    assert np.count_nonzero(y[rows] > 0) >= min(positives, 500)
    assert RocArea(y).take(rows).n_pairs > 0


def test_weights_are_copies() -> None:
    ranks, s, copies = RNG.integers(0, 3, 30), RNG.normal(size=30), RNG.integers(0, 4, 30)
    repeated = np.repeat(np.arange(30), copies)
    weighted, copied = OrdinalRisk(ranks, copies), OrdinalRisk(ranks[repeated])
    assert weighted.value(s) == pytest.approx(copied.value(s[repeated]))
    assert weighted.smoothed(s, 0.7).offset == pytest.approx(copied.smoothed(s[repeated], 0.7).offset)


@pytest.mark.parametrize("size", [5, 40, 300, 3000])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_order_does_not_depend_on_the_one_it_begins_with(size: int, n_threads: int) -> None:
    rng = np.random.default_rng(size)
    ranks, groups, weights = rng.integers(0, 3, 4000), np.arange(4000) // size, rng.random(4000)
    risk = PairRisk(ranks, groups, weights, n_threads=n_threads)
    start = np.round(rng.normal(size=4000), 1)  # with ties
    near = risk.sort(start)
    for move in (0.0, 1e-3, 0.3, 10.0):
        end = start + move * np.round(rng.normal(size=4000), 1)
        for one, other in zip(risk.sort(end, near).cut(), risk.sort(end).cut(), strict=True):
            np.testing.assert_array_equal(one, other)
        ray = risk.ray(start, end, near)
        for t in (0.0, 1.0, 0.5, 0.51):
            assert ray.at(t) == risk.ray(start, end).at(t)
    with pytest.raises(ValueError, match="other pairs"):
        PairRisk(ranks, groups).sort(start, near)


@pytest.mark.parametrize(
    "values",
    [
        RNG.integers(-5, 7, 1000),
        np.array([-128, 127] * 200, np.int8),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], np.uint64),
        np.array([-(2**63), 2**63 - 1]),
        RNG.integers(0, 3, 100).astype(float),
        np.array([0.0, -0.0, 1.0]),
        np.array([2.0**60 + 1024.0, 2.0**60]),
        RNG.normal(size=50),
        np.array([np.inf, 1.0, np.inf]),
        np.array([True, False]),
        np.array(["b", "a", "b"]),
        np.array([]),
    ],
    ids=str,
)
def test_codes_are_those_of_sorted_values(values: Any) -> None:
    codes = dense_codes(values)
    np.testing.assert_array_equal(codes, np.unique(values, return_inverse=True)[1])
    assert codes.dtype == np.int64


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_few_pairs_are_those_of_the_sweeps(weighted: bool, n_threads: int) -> None:
    """Small queries are summed pair by pair; beside one large query, which has most of the pairs, all are swept."""
    rng = np.random.default_rng(3)
    n, m = 30_000, 2000
    ranks, groups = rng.integers(0, 4, n + m), np.append(np.arange(n) // 7, np.full(m, n))
    weights = rng.random(n + m) if weighted else None
    scores, end = np.round(8.0 * rng.normal(size=(2, n + m))) / 8.0  # with ties, and pairs on their kinks
    parts = [np.arange(n), np.arange(n, n + m)]
    whole, few, large = (
        PairRisk(ranks[rows], groups[rows], None if weights is None else weights[rows], n_threads=n_threads)
        for rows in (np.arange(n + m), *parts)
    )
    shares = [part.total_mass / whole.total_mass for part in (few, large)]
    coef, offset, value = whole.sort(scores).cut()
    found = [part.sort(scores[rows]).cut() for part, rows in zip((few, large), parts, strict=True)]
    together = np.concatenate([share * each[0] for share, each in zip(shares, found, strict=True)])
    np.testing.assert_allclose(together, coef, rtol=1e-12, atol=1e-18)
    assert sum(s * each[1] for s, each in zip(shares, found, strict=True)) == pytest.approx(offset, rel=1e-12)
    assert sum(s * each[2] for s, each in zip(shares, found, strict=True)) == pytest.approx(value, rel=1e-12)
    for t in (0.0, 0.5, 1.0):
        rays = [part.ray(scores[rows], end[rows]).at(t) for part, rows in zip((few, large), parts, strict=True)]
        for k, known in enumerate(whole.ray(scores, end).at(t)):
            assert sum(s * ray[k] for s, ray in zip(shares, rays, strict=True)) == pytest.approx(known, rel=1e-9)
