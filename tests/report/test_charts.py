"""Axes have round marks inside their range, and charts stay inside their frame."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from cutplane.report.bars import diverging_bars, share_bar
from cutplane.report.charts import HEIGHT, WIDTH, Axis, Line, LineChart
from cutplane.report.heat_map import SHADES, heat_map
from cutplane.report.markup import number, seconds
from cutplane.report.scales import Scale, decades, linear_ticks, log_ticks, tick_label
from cutplane.report.svg import shortened

sizes = st.floats(1e-9, 1e9)


@given(st.floats(-1e9, 1e9), sizes)
def test_marks_of_an_even_axis(low: float, width: float) -> None:
    high = low + width
    if not high > low + 1e-9 * abs(low):
        return
    ticks = linear_ticks(low, high)
    slack = 1e-6 * width
    assert 1 <= len(ticks) <= 8
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    assert ticks == sorted(ticks)


@given(st.lists(sizes, min_size=1))
def test_marks_of_a_logarithmic_axis(values: list[float]) -> None:
    low, high = decades(values)
    assert low <= min(values) * (1 + 1e-9)
    assert max(values) <= high * (1 + 1e-9)
    assert high > low
    assert 1 <= len(log_ticks(low, high)) <= 7


@given(st.floats(-1e6, 1e6), st.booleans())
def test_places_are_on_the_axis(value: float, log: bool) -> None:
    place = Scale(1.0, 100.0, 20.0, 400.0, log)(value)
    assert 20.0 <= place <= 400.0


def test_ends_of_a_scale() -> None:
    scale = Scale(1.0, 100.0, 0.0, 10.0, log=True)
    assert [scale(1.0), scale(10.0), scale(100.0)] == pytest.approx([0.0, 5.0, 10.0])


@given(st.lists(st.tuples(sizes, sizes), min_size=1, max_size=400), st.booleans(), st.booleans())
def test_lines_stay_in_the_frame(points: list[tuple[float, float]], log: bool, steps: bool) -> None:
    points.sort()
    line = Line("a", [x for x, _ in points], [y for _, y in points], steps)
    svg = LineChart("t", "d", Axis("x"), Axis("y", log=log), [line, line], band=True).svg()
    for way in re.findall(r' d="M([^"]*)"', svg):
        for corner in way.rstrip("Z").split("L"):
            x, y = map(float, corner.split())
            assert 0.0 <= x <= WIDTH
            assert 0.0 <= y <= HEIGHT
    assert len(svg) < 60_000


def test_a_line_without_points_is_no_error() -> None:
    chart = LineChart("t", "d", Axis("x"), Axis("y", log=True), [Line("a", [], [])])
    assert "<path" not in chart.svg()


@pytest.mark.parametrize("values", [[1.0, -2.0], [1.0], [-1.0], [0.0], []])
def test_bars_have_a_length(values: list[float]) -> None:
    svg = diverging_bars("t", "d", [f"f{i}" for i in range(len(values))], values)
    widths = [float(width) for width in re.findall(r'<rect[^>]* width="([^"]*)"', svg)]
    assert len(widths) == len(values)
    assert all(0.0 < width <= 460.0 for width in widths)
    if len(values) == 2:
        assert widths[1] == pytest.approx(2 * widths[0], rel=0.01)


def test_shares_fill_the_bar() -> None:
    svg = share_bar("t", "d", ["a", "b"], [0.25, 0.75])
    ends = [(float(x), float(w)) for x, w in re.findall(r'<rect x="([^"]*)" y="0" width="([^"]*)"', svg)]
    assert ends == [(0.0, 110.0), (110.0, 330.0)]


@given(st.floats(-1e300, 1e300) | st.sampled_from([math.inf, -math.inf, math.nan]))
def test_numbers_in_words(value: float) -> None:
    shown = number(value)
    if math.isfinite(value):
        assert float(shown.replace(",", "")) == pytest.approx(value, rel=1e-3, abs=1e-300)


def test_times_in_words() -> None:
    assert [seconds(t) for t in (2e-5, 0.5, 3.14159, 200.0, 7300.0)] == [
        "20 µs",
        "500 ms",
        "3.14 s",
        "3 min 20 s",
        "2 h 1 min",
    ]


@pytest.mark.parametrize(
    ("value", "log", "words"), [(0.0, False, "0"), (250000.0, False, "2.5e5"), (1e-6, True, "1e-6")]
)
def test_labels_of_marks(value: float, log: bool, words: str) -> None:
    assert tick_label(value, log) == words


def test_long_names_keep_both_ends() -> None:
    assert len(shortened("a" * 50 + "b" * 50, 28)) == 28
    assert shortened("short", 28) == "short"


@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 8)), elements=st.floats(-5.0, 5.0)))
def test_a_heat_map_has_a_cell_for_every_shade(values: NDArray[np.float64]) -> None:
    rows, columns = ([f"n{i}" for i in range(size)] for size in values.shape)
    svg = heat_map("t", "d", rows, columns, values)
    shades = np.rint(SHADES * values / (np.abs(values).max() or 1.0))
    assert svg.count("M") == np.count_nonzero(shades)
    for side, wanted in (("s0", (shades > 0).sum()), ("s1", (shades < 0).sum())):
        ways = re.findall(rf'd="([^"]*)" class="bar {side}"', svg)
        assert sum(way.count("M") for way in ways) == wanted
