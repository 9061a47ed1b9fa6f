"""Which solver `method="auto"` begins with, by the data alone."""

from __future__ import annotations

import numpy as np
import pytest

from cutplane import LinearSVC


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge"])
def test_a_loss_without_kinks_begins_with_samples_where_there_are_enough(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(26_000, 30))
    y = np.where(X @ rng.normal(size=30) + rng.normal(size=26_000) > 0.0, 1, -1)
    for n, enough in ((26_000, True), (24_000, False)):
        model = LinearSVC(loss=loss, C=1e-3).fit(X[:n], y[:n])
        assert model.gap_ <= 1e-3
        phases = {phase for step in model.history_ for phase in step.phases}
        assert ("epochs" in phases) == (loss == "hinge" or not enough)
