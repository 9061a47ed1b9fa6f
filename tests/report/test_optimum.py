"""Beside each held-out figure stands the interval of the exact optimum's, rounded outward."""

from __future__ import annotations

import re

import numpy as np

from cutplane import LinearSVC, LinearSVR
from cutplane.report.build import render_report
from cutplane.report.optimum import OptimumFigures, optimum_figures
from cutplane.report.trained import Examples, Trained

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] + 0.5 * RNG.normal(size=300) > 0).astype(int)
TRAIN, TEST = Examples(X[:200], Y[:200]), Examples(X[200:], Y[200:])


def test_the_intervals_of_the_page_are_those_of_the_model() -> None:
    model = LinearSVC(tol=1e-8, fit_intercept=False).fit(TRAIN.X, TRAIN.y)
    bounds = model.score_bounds(TEST.X, TEST.y)
    page = render_report(Trained(model, held_out=TEST))
    shown = [tuple(map(float, ends)) for ends in re.findall(r"exact optimum: ([\d.]+) to ([\d.]+)", page)]
    assert len(shown) == 4  # the tile, accuracy, balanced accuracy, area
    for (low, high), (name, factor) in zip(
        shown[1:], (("accuracy", 100), ("balanced_accuracy", 100), ("roc_auc", 1)), strict=True
    ):
        least, most = bounds[name]
        assert low <= factor * least <= factor * most <= high
        assert high - low <= factor * (most - least) + 0.021


def test_a_free_intercept_is_bounded_where_the_training_data_are_at_hand() -> None:
    model = LinearSVC(tol=1e-8).fit(TRAIN.X, TRAIN.y)
    alone = optimum_figures(Trained(model, held_out=TEST))
    assert not alone.intervals
    assert alone.missing is not None
    assert "certify_intercept" in render_report(Trained(model, held_out=TEST))
    with_data = optimum_figures(Trained(model, train=TRAIN, held_out=TEST))
    assert with_data.intervals == model.certify_intercept(TRAIN.X, TRAIN.y).score_bounds(TEST.X, TEST.y)


def test_data_of_another_fit_bound_nothing_and_the_model_stays_as_it_is() -> None:
    model = LinearSVC(tol=1e-8).fit(TRAIN.X, TRAIN.y)
    other = Trained(model, train=Examples(3.0 * TRAIN.X, TRAIN.y), held_out=TEST)
    assert optimum_figures(other).intervals == {}
    assert not hasattr(model, "intercept_bounds_")


def test_a_regression_has_the_interval_of_its_r2() -> None:
    target = X[:, 0] - X[:, 1]
    model = LinearSVR(tol=1e-9, fit_intercept=False).fit(X[:200], target[:200])
    page = render_report(Trained(model, held_out=Examples(X[200:], target[200:])))
    assert len(re.findall(r"exact optimum: [\d.]+ to [\d.]+<", page)) == 1


def test_ends_are_rounded_outward() -> None:
    figures = OptimumFigures({"accuracy": (0.849701, 0.849799)}, None)
    assert figures.words("accuracy") == "exact optimum: 84.97 to 84.98\u00a0%"
    assert figures.words("r2") == ""
    assert OptimumFigures({"r2": (0.0, 1.0)}, None).words("r2") == "exact optimum: open at this gap"
