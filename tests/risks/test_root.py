"""The root of a function that rises."""

import numpy as np
import pytest

from cutplane.risks.root import rising_root


@pytest.mark.parametrize("root", [-180.0, -1.5, 0.0, 2e5])
@pytest.mark.parametrize("start", [0.0, 40.0])
def test_found_from_where_the_function_is_flat(root: float, start: float) -> None:
    def function(t: float) -> tuple[float, float]:
        p = 1.0 / (1.0 + np.exp(-np.clip(t - root, -700.0, 700.0)))
        return p - 0.5, p * (1.0 - p)

    assert rising_root(function, start) == pytest.approx(root, abs=1e-9)
