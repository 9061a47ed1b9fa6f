"""The interior point over all examples: inside of its bounds at any scale; and dual variables are not believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVR
from cutplane.risks.hinge import Hinge
from cutplane.shards.example_ascent import dual_plane

REGRESSIONS: dict[str, Any] = {
    "huber": {"loss": "huber", "loss_options": {"delta": 0.02}},
    "tube": {"loss": "epsilon_insensitive", "epsilon": 0.001},
    "squared_tube": {"loss": "squared_epsilon_insensitive", "epsilon": 0.001},
    "quantile": {"loss": "quantile"},
}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e12])
@pytest.mark.parametrize("name", REGRESSIONS)
def test_bounds_do_not_cross_where_targets_are_large_against_C(name: str, scale: float, intercept: bool) -> None:
    settings = dict(REGRESSIONS[name])
    if "epsilon" in settings:
        settings["epsilon"] *= scale
    if name == "huber":
        settings["loss_options"] = {"delta": 0.1 * scale}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(loc=[6.0, 1.0, -3.0, -1.0, 2.0], size=(25, 5)).round(1)
        y = (scale * (4.0 + rng.normal(size=25))).round(-int(np.log10(scale)) + 1)
        for C in (4e-5, 1e-12):
            model = LinearSVR(C=C, fit_intercept=intercept, **settings).fit(X, y)
            assert model.lower_bound_ <= model.objective_
            assert model.gap_ <= 1e-3


def test_coefficients_out_of_their_bounds_prove_nothing() -> None:
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, -1], np.int8)
    risk = Hinge(y)
    within = -risk.each * y
    assert dual_plane(risk, within, X.T @ within, None).offset == pytest.approx(1.0)
    beyond = within * [1.0, 1.0, 1.0 + 1e-12]
    refused = dual_plane(risk, beyond, X.T @ beyond, None)
    assert refused.offset == risk.lower_bound
    assert not refused.slope.any()
    assert refused.mass == 0.0
