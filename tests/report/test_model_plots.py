"""Plots for notebooks show the models' own numbers."""

from __future__ import annotations

import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from cutplane import LinearSVC, LinearSVCCV
from cutplane.plotting import plot_certified, plot_features, plot_path
from cutplane.report.strength import strongest

mpl.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) + np.outer(np.arange(60) % 2, [2.0, -1.0, 0.0, 0.5])
Y = np.arange(60) % 2


def test_a_path_by_C() -> None:
    models = [LinearSVC(C=C).fit(X, Y) for C in (1.0, 0.01, 0.1)]
    figure = plot_path(models, X, Y)
    score, norm = (axes.lines[0] for axes in figure.axes)
    assert list(score.get_xdata()) == [0.01, 0.1, 1.0]
    assert list(score.get_ydata()) == [models[i].score(X, Y) for i in (1, 2, 0)]
    assert list(norm.get_ydata()) == pytest.approx([np.linalg.norm(models[i].coef_) for i in (1, 2, 0)])


def test_a_path_without_examples_or_into_axes_of_ones_own() -> None:
    models = [LinearSVC(C=C).fit(X, Y) for C in (0.01, 0.1)]
    assert len(plot_path(models).axes) == 1
    figure = Figure()
    axes = figure.subplots()
    assert plot_path(models, X, Y, ax=axes) is figure
    assert len(axes.lines) == 1


def test_a_certified_choice() -> None:
    model = LinearSVCCV((0.01, 1.0), cv=3, certify=0.3).fit(X, Y)
    figure = plot_certified(model)
    (axes,) = figure.axes
    assert list(axes.lines[0].get_xdata()) == model.Cs_.tolist()
    assert list(axes.lines[0].get_ydata()) == (1.0 - model.scores_.mean(axis=1)).tolist()
    values, edges, _ = axes.patches[0].get_data()
    assert (values == model.certified_.lower_bounds).all()
    assert (edges == model.certified_.edges).all()
    assert "certified with" in axes.get_title(loc="left")
    own = Figure()
    assert plot_certified(model, own.subplots()) is own
    with pytest.raises(ValueError, match="no certified choice"):
        plot_certified(LinearSVC().fit(X, Y))


def test_the_strongest_features_by_name() -> None:
    model = LinearSVC().fit(X, Y)
    names = ["a", "b", "c", "d"]
    axes = plot_features(model, names, most=1).axes[0]
    shown = [tick.get_text() for tick in axes.get_yticklabels()]
    assert shown == [names[int(np.argmin(model.coef_))], names[int(np.argmax(model.coef_))]]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [model.coef_.min(), model.coef_.max()]


def test_towards_the_other_class_the_signs_turn() -> None:
    model = LinearSVC().fit(X, Y)
    axes = plot_features(model, target=0, most=1).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [-model.coef_.max(), -model.coef_.min()]


def test_of_several_classes_one_is_chosen() -> None:
    three = np.arange(60) % 3
    model = LinearSVC().fit(X + np.eye(3, 4)[three], three)
    axes = plot_features(model, target=2).axes[0]
    assert "for 2" in axes.get_title(loc="left")
    with pytest.raises(ValueError, match=re.escape("target=None must be one of the classes ['0', '1', '2']")):
        plot_features(model)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plot_path([]), "the path has no models"),
        (lambda: plot_path([LinearSVC().fit(X, Y)], X), "X and y belong together"),
        (lambda: plot_features(LinearSVC().fit(X, Y), ["a"]), "feature_names has 1 names"),
        (lambda: plot_features(LinearSVC().fit(X, Y), target=7), "target=7 is none of the classes"),
        (lambda: plot_features(object()), "object has no weights to show"),
    ],
)
def test_bad_input(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_zeros_are_not_strong() -> None:
    assert strongest(np.array([0.0, 1.0, -1.0, 0.0]), 10).tolist() == [1, 2]
    assert strongest(np.zeros(3), 2).tolist() == []
