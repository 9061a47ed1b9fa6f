"""A fitted model shows its certificate in a notebook, and draws itself."""

from __future__ import annotations

import warnings

import matplotlib as mpl
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cutplane import SVC, LinearSVC, LinearSVR, SequenceSVM, StringSVC
from cutplane.report.certificate import proven_within

mpl.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.arange(60) % 3


def shown(model: BaseEstimator) -> str:
    """What a notebook shows, by either of the ways it asks."""
    assert hasattr(model, "_repr_html_")
    page: str = model._repr_html_()
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert ("cutplane-card" in bundle["text/html"]) == ("cutplane-card" in page)
    return page


def test_a_fitted_model_shows_its_certificate_with_the_diagram_inside() -> None:
    model = LinearSVC().fit(X, Y)
    page = shown(model)
    assert f"LinearSVC: {proven_within(model.gap_).replace('the optimum', 'the optimum of every class')}" in page
    assert "cutplane-card met" in page
    assert page.index("cutplane-card") < page.index("sk-top-container")


def test_until_it_is_fitted_the_diagram_is_all() -> None:
    page = shown(LinearSVC())
    assert "cutplane-card" not in page
    assert "sk-top-container" in page


def test_a_run_that_ended_early_is_not_green() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = shown(LinearSVC(C=100.0, method="oca", max_iter=2).fit(X, Y))
    assert "cutplane-card met" not in page
    assert "stopped early" in page


def test_text_only_where_that_is_asked_for() -> None:
    with config_context(display="text"):
        model = LinearSVC().fit(X, Y)
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_labels_are_never_markup_and_pipelines_stay_as_they_are() -> None:
    labels = np.where(Y == 0, "<script>alert(1)</script>", "b")
    page = shown(LinearSVC().fit(X, labels))
    assert "<script>alert" not in page
    pipeline = make_pipeline(StandardScaler(), LinearSVC()).fit(X, Y)
    assert "sk-top-container" in pipeline._repr_html_()


def strings() -> StringSVC:
    return StringSVC(order=2).fit(["ACGT", "AAGT", "TCGA", "TAGA"], [0, 1, 0, 1])


def sequences() -> SequenceSVM:
    return SequenceSVM().fit([[["a"], ["b"]], [["b"], ["a"]]] * 3, [["A", "B"], ["B", "A"]] * 3)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LinearSVC().fit(X, Y > 0), "strongest weights"),
        (LinearSVC().fit(X, Y), "strongest weights by class"),
        (LinearSVR().fit(X, X[:, 0]), "strongest weights"),
        (strings(), ""),
        (sequences(), "weights of transitions"),
        (SVC().fit(X, Y > 0), ""),
        (SVC().fit(X, Y), ""),
    ],
    ids=["two", "three", "regression", "strings", "sequences", "kernel", "pairs"],
)
def test_a_model_draws_itself(model: BaseEstimator, words: str) -> None:
    figure = model.plot()
    assert type(model).__name__ in figure.get_suptitle()
    left, right = figure.axes[:2]
    assert left.get_ylabel() == "relative gap"
    assert words in right.get_title(loc="left")
    figure.canvas.draw()


def test_names_of_features() -> None:
    model = LinearSVC().fit(X, Y > 0)
    names = [tick.get_text() for tick in model.plot(["a", "b", "c"]).axes[1].get_yticklabels()]
    assert set(names) <= {"a", "b", "c"}
    with pytest.raises(ValueError, match="feature_names has 1 names, but the model has 3 features"):
        model.plot(["a"])
