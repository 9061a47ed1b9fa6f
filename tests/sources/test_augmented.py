"""A source with a constant feature is the matrix with a column more."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane.sources import as_source
from cutplane.sources.augmented import AugmentedSource
from cutplane.testing import check_source


@pytest.mark.parametrize("constant", [1.0, 0.25, -30.0])
@pytest.mark.parametrize("store", [np.ascontiguousarray, np.asfortranarray, sp.csr_array])
def test_it_is_the_matrix_with_a_column_more(store, constant) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5)) * (rng.random((80, 5)) < 0.5)
    full = np.column_stack([X, np.full(80, constant)])
    check_source(AugmentedSource(as_source(store(X)), constant), full)
