"""A gap in words never says more than was proven."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.report.certificate import proven_within


@given(st.floats(1e-14, 1.0))
def test_what_is_said_is_proven_and_nearly_as_much_as_can_be(gap: float) -> None:
    found = re.fullmatch(r"proven within ([0-9.]+) % of the optimum", proven_within(gap))
    assert found
    said = float(found[1]) / 100
    assert gap * (1 - 1e-9) <= said <= 1.11 * gap


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.00098123, "proven within 0.099 % of the optimum"),
        (1e-3, "proven within 0.10 % of the optimum"),
        (0.5, "proven within 50 % of the optimum"),
        (1.0, "proven within 100 % of the optimum"),
        (0.0, "proven optimal to the last digit"),
        (math.inf, "nothing proven yet"),
    ],
)
def test_words(gap: float, words: str) -> None:
    assert proven_within(gap) == words
