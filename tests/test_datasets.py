"""The bundled data is what its README says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane.datasets import adult_svmlight, load_adult


@pytest.mark.parametrize(("subset", "n", "rich"), [("train", 32_561, 7_841), ("test", 16_281, 3_846)])
def test_adult(subset: Any, n: int, rich: int) -> None:
    X, y = load_adult(subset)
    assert X.shape == (n, 123)
    assert np.unique(X.data).tolist() == [1.0]
    assert np.unique(y, return_counts=True)[1].tolist() == [n - rich, rich]
    assert y.dtype == np.int64
    assert adult_svmlight(subset).count(b"\n") == n


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(ValueError, match="it is 'train' or 'test'"):
        load_adult("validation")  # type: ignore[arg-type]
