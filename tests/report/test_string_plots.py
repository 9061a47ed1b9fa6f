"""Logos and heat maps show the importance of the model's own letters."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from cutplane import StringSVC
from cutplane.plotting import plot_logo, plot_poim
from cutplane.report.poims import oligomer_importance

mpl.use("Agg")
RNG = np.random.default_rng(0)
LETTERS = RNG.choice(list("ACGT"), size=(60, 10))
Y = np.arange(60) % 2
LETTERS[Y == 1, 4] = "G"
MODEL = StringSVC(order=2).fit(["".join(row) for row in LETTERS], Y)


def test_letters_of_a_logo_are_as_high_as_they_are_important() -> None:
    axes = plot_logo(MODEL).axes[0]
    importance = oligomer_importance(MODEL, 1)
    boxes = [patch.get_path().get_extents() for patch in axes.patches]
    assert len(boxes) == np.count_nonzero(importance)
    highest = max(boxes, key=lambda box: box.height)
    assert highest.height == pytest.approx(np.abs(importance).max())
    assert round((highest.x0 + highest.x1) / 2) == np.abs(importance).max(axis=1).argmax() == 4


def test_a_heat_map_of_the_strongest_kmers_into_axes_of_ones_own() -> None:
    figure = Figure()
    axes = figure.subplots()
    assert plot_poim(MODEL, order=2, most=5, ax=axes) is figure
    importance = oligomer_importance(MODEL, 2)
    shown = np.asarray(axes.images[0].get_array())
    assert shown.shape == (5, 9)
    assert np.abs(shown).max() == np.abs(importance).max()
    assert len(axes.get_yticklabels()) == 5
