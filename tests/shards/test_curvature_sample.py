"""A sample of a centred curvature is centred by its own mean."""

from __future__ import annotations

import numpy as np
import pytest

from cutplane.shards.curvature import RowCurvature
from cutplane.shards.sum_parts import CurvatureSum, Moments
from cutplane.sources import as_source


@pytest.mark.parametrize("most", [None, 7, 40, 1000])
def test_what_is_left_never_curves_downwards(most: int | None) -> None:
    generator = np.random.default_rng(0)
    X = 100.0 + generator.normal(size=(400, 5))  # the mean is nearly all there is
    weights = generator.uniform(0.1, 1.0, 400)
    source, rows = as_source(X), np.arange(400)
    mean = weights @ X / np.sqrt(weights.sum())
    whole = RowCurvature(source, rows, weights, mean)
    halves = [RowCurvature(source.take(part), np.arange(200), weights[part], None) for part in (rows[:200], rows[200:])]
    for curvature in (whole, CurvatureSum(tuple(halves), Moments(half.moments() for half in halves))):
        found = curvature.matrix(most)
        found = np.tril(found) + np.tril(found, -1).T
        assert np.linalg.eigvalsh(found)[0] > 0.0
        assert np.trace(found) == pytest.approx(weights.sum() * 5, rel=0.6)
