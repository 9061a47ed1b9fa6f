"""The time left is right for gaps that fall as they should, and is not said where there is no trend."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.report.time_left import in_words, time_left


@given(st.floats(0.01, 10.0), st.integers(4, 60), st.floats(0.001, 100.0))
def test_a_steady_decay_is_foreseen(rate: float, steps: int, pace: float) -> None:
    seconds = [pace * step for step in range(1, steps + 1)]
    gaps = [math.exp(-rate * second / pace) for second in seconds]
    tol = gaps[-1] * math.exp(-3.0 * rate)
    assert time_left(seconds, gaps, tol) == pytest.approx(3.0 * pace, rel=1e-6)


@pytest.mark.parametrize(
    ("seconds", "gaps"),
    [
        ([], []),
        ([1.0, 2.0], [0.1, 0.01]),
        ([1.0, 2.0, 3.0], [0.1, 0.1, 0.1]),
        ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3]),
        ([1.0, 1.0, 1.0], [0.3, 0.2, 0.1]),
        ([1.0, 2.0, 3.0], [math.inf, math.inf, 0.1]),
    ],
)
def test_without_a_trend_nothing_is_said(seconds: list[float], gaps: list[float]) -> None:
    assert time_left(seconds, gaps, 1e-3) is None


def test_what_is_proven_takes_no_time() -> None:
    assert time_left([1.0], [1e-4], 1e-3) == 0.0


def test_the_start_does_not_count() -> None:
    seconds = [float(second) for second in range(1, 21)]
    gaps = [1.0] * 10 + [10.0 ** -(step / 10.0) for step in range(1, 11)]
    assert time_left(seconds, gaps, 1e-2) == pytest.approx(10.0, rel=0.1)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (None, ""),
        (0.4, "under 1 s left"),
        (31.2, "about 31 s left"),
        (600.0, "about 10 min left"),
        (7300.0, "about 2 h left"),
        (1e6, "days left"),
    ],
)
def test_words(left: float | None, words: str) -> None:
    assert in_words(left) == words
