"""Ctrl-C at any moment of a fit: KeyboardInterrupt or a certified model, and nothing out of place afterwards."""

from __future__ import annotations

import random

import pytest
from tests.faults import interrupts


@pytest.mark.nightly
def test_forty_moments() -> None:
    """`python -m tests.faults ctrl-c --rounds 1000` tries more."""
    assert interrupts.run(40, random.Random(0)).startswith("40 moments: ")
