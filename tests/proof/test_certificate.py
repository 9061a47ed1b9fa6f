"""The one definition of the gap that every model states."""

import numpy as np
import pytest

from cutplane.proof.certificate import Certificate, relative_gap


@pytest.mark.parametrize(
    ("upper", "lower", "expected"),
    [
        (2.0, 1.0, 0.5),
        (0.0, 0.0, 0.0),
        (0.0, -1.0, np.inf),
        (-1.0, -2.0, 1.0),
        (1.0, -np.inf, np.inf),
        (np.inf, 0.0, np.inf),
        (np.nan, 0.0, np.inf),
        (1.0, 2.0, -1.0),
    ],
)
def test_relative_gap(upper: float, lower: float, expected: float) -> None:
    assert relative_gap(upper, lower) == expected
    assert Certificate(upper, lower).gap == expected
