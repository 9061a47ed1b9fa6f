"""Importance of k-mers against the mean over all strings that have them."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from cutplane import StringSVC
from cutplane.report.build import render_report
from cutplane.report.logo import stacked, window
from cutplane.report.poims import oligomer_importance, poims, strongest_oligomers
from cutplane.report.trained import Examples, Trained

LENGTH = 5
STRINGS = ["".join(letters) for letters in itertools.product("ACGT", repeat=LENGTH)]
CODES = np.array([["ACGT".index(letter) for letter in string] for string in STRINGS])


@pytest.fixture(scope="module")
def model() -> StringSVC:
    y = [int(string[1:3] == "GA") + int("TT" in string) > 0 for string in STRINGS]
    return StringSVC(order=3, spectra=[(1, 4)], spectrum_order=2, normalize=False, tol=1e-2).fit(STRINGS, y)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_against_the_mean_over_all_strings(model: StringSVC, order: int) -> None:
    scores = model.decision_function(STRINGS)
    found = oligomer_importance(model, order)
    assert found.shape == (LENGTH - order + 1, 4**order)
    for position in range(LENGTH - order + 1):
        kmers = CODES[:, position : position + order] @ 4 ** np.arange(order)[::-1]
        means = np.bincount(kmers, weights=scores) / np.bincount(kmers)
        assert found[position] == pytest.approx(means - scores.mean(), abs=1e-12)


def test_lower_orders_follow_from_the_highest(model: StringSVC) -> None:
    for order, found in enumerate(poims(model), 1):
        assert found == pytest.approx(oligomer_importance(model, order), abs=1e-12)


def test_the_strongest_are_named(model: StringSVC) -> None:
    importance = oligomer_importance(model, 2)
    best = strongest_oligomers(model, importance, 1)[0]
    scores = model.decision_function(STRINGS)
    having = [string[best.position :].startswith(best.kmer) for string in STRINGS]
    assert best.importance == pytest.approx(scores[having].mean() - scores.mean())
    assert abs(best.importance) == pytest.approx(np.abs(importance).max())


@pytest.mark.parametrize("order", [0, 6, 7])
def test_orders_that_are_not_worked_out(model: StringSVC, order: int) -> None:
    with pytest.raises(ValueError, match=f"order={order} must lie between 1 and 5"):
        oligomer_importance(model, order)


def test_letters_of_a_logo_stand_on_each_other() -> None:
    importance = np.array([[0.5, -1.0, 0.2, 0.3]])
    glyphs = list(stacked(importance))
    assert [(glyph.letter, round(glyph.low, 9), round(glyph.high, 9)) for glyph in glyphs] == [
        (2, 0.0, 0.2),
        (3, 0.2, 0.5),
        (0, 0.5, 1.0),
        (1, -1.0, 0.0),
    ]


def test_the_stretch_that_matters_most() -> None:
    importance = np.zeros((50, 4))
    importance[30:34, 1] = 1.0
    assert window(importance, 4) == slice(30, 34)
    assert window(importance, 60) == slice(0, 50)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_report_shows_a_logo_and_four_matrices(classes: int) -> None:
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), size=(90, 12))
    y = np.arange(90) % classes
    letters[y == 1, 4:6] = ["G", "A"]
    X = ["".join(row) for row in letters]
    model = StringSVC(order=3).fit(X, y)
    page = render_report(Trained(model, train=Examples(X, y)))
    assert page.count("Sequence logo of") == (1 if classes == 2 else 3)
    for order in (1, 2, 3, 4):
        assert page.count(f"Importance of k-mers of order {order}") == (1 if classes == 2 else 3)
    row = 0 if classes == 2 else 1
    best = strongest_oligomers(model, oligomer_importance(model, 2, row), 1)[0]
    assert (best.kmer, best.position) == ("GA", 4)
    assert re.search(r"The strongest: GA at 4 ", page)
