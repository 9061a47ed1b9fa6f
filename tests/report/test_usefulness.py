"""A model that has learned nothing is said to have learned nothing, first and in amber."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cutplane import SVC, LinearSVC, LinearSVR, RankSVM, SequenceSVM, StringSVC
from cutplane.report.build import render_report
from cutplane.report.commonest import commonest_is_as_good
from cutplane.report.trained import Examples, Trained
from cutplane.report.usefulness import useless

RNG = np.random.default_rng(0)


def rare(shift: float) -> tuple[Any, Any]:
    """One in thirty, a little apart from the others."""
    X, y = RNG.normal(size=(600, 4)), np.where(np.arange(600) % 30 == 0, "site", "other")
    X[y == "site", 0] += shift
    return X, y


def found(hits: int, alarms: int) -> tuple[NDArray[Any], NDArray[Any]]:
    truth = np.array(["no"] * 7726 + ["yes"] * 274)
    predicted = np.full(8000, "no", dtype="<U3")
    predicted[7726 : 7726 + hits] = "yes"
    predicted[:alarms] = "yes"
    return truth, predicted


@pytest.mark.parametrize(
    ("hits", "alarms", "expected"),
    [
        (0, 0, True),
        (2, 0, True),  # 96.60 % where the commonest class has 96.58 %
        (5, 9, True),
        (100, 10, False),
        (200, 400, False),  # less accurate than the constant answer, yet it finds most
    ],
)
def test_what_counts_as_useless(hits: int, alarms: int, expected: bool) -> None:
    assert commonest_is_as_good(*found(hits, alarms)) is expected


def test_one_class_alone_judges_nobody() -> None:
    assert not commonest_is_as_good(np.array([1, 1]), np.array([0, 0]))


def test_a_rare_class_that_is_never_found_comes_first_and_in_amber() -> None:
    X, y = rare(1.5)
    page = render_report(Trained(LinearSVC(C=1e-3, loss="squared_hinge").fit(X, y), held_out=Examples(X, y)))
    body = page[page.index("<main") :]
    assert body.index('class="verdict open"') < body.index('class="verdict plain"')
    assert "verdict good" not in body
    assert "No better than always the commonest class" in body
    assert "Of the 20 others it finds 0." in body
    assert "class_weight=&quot;balanced&quot;" in body
    assert "the scores order the classes" in body
    assert "a larger C (this one is 0.001)" in body


def test_a_useful_model_is_not_warned_of() -> None:
    X, y = rare(6.0)
    page = render_report(Trained(LinearSVC(class_weight="balanced").fit(X, y), held_out=Examples(X, y)))
    assert 'class="verdict good"' in page
    assert "verdict open" not in page


def test_without_held_out_data_the_training_data_judge() -> None:
    X, y = rare(0.5)
    model = LinearSVC(C=1e-3).fit(X, y)
    assert useless(Trained(model)) is None
    said = useless(Trained(model, train=Examples(X, y)))
    assert said is not None
    assert "training examples" in said.explained


def test_strings_and_sequences() -> None:
    strings = ["".join(row) for row in RNG.choice(list("ACGT"), size=(200, 8))]
    y = np.where(np.arange(200) % 20 == 0, "site", "other")
    said = useless(
        Trained(StringSVC(order=2, C=1e-6, class_weight=None).fit(strings, y), held_out=Examples(strings, y))
    )
    assert said is not None
    assert "always saying other labels 95.00 %" in said.explained
    X = [[["a"], ["a"], ["a"]]] * 20
    Y = [["O", "O", "B"]] * 20
    said = useless(Trained(SequenceSVM(C=1e-9, tol=0.1).fit(X, Y), held_out=Examples(X, Y)))
    assert said is not None
    assert "held-out tokens" in said.explained


def test_targets_and_orders() -> None:
    X = RNG.normal(size=(60, 2))
    y = X[:, 0]
    assert useless(Trained(LinearSVR(C=10.0).fit(X, y), held_out=Examples(X, y))) is None
    said = useless(Trained(LinearSVR(C=10.0).fit(X, y), held_out=Examples(X, -y)))
    assert said is not None
    assert said.headline == "No better than always the mean"
    qid = np.repeat(np.arange(6), 10)
    grades = (X[:, 0] > 0).astype(int)
    ranker = RankSVM().fit(X, grades, qid=qid)
    assert useless(Trained(ranker, held_out=Examples(X, grades, qid))) is None
    said = useless(Trained(ranker, held_out=Examples(X, 1 - grades, qid)))
    assert said is not None
    assert said.headline == "No better than a random order"


def test_a_gap_above_the_tolerance_is_not_green() -> None:
    X, y = RNG.normal(size=(200, 3)), np.arange(200) % 2
    model = SVC(C=1e4, gamma=5.0, tol=0.5, kernel="rbf").fit(X, y)
    loose = model.gap_ > model.tol
    page = render_report(Trained(model))
    model.tol = 0.5 * model.gap_
    tight = render_report(Trained(model))
    assert ("verdict good" in page) is not loose
    assert "verdict open" in tight
    assert "The gap is above it" in tight
