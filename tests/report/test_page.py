"""A report says what the model says, stands alone, and lets nothing in that is not its own."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from cutplane import SVC, LinearSVC, LinearSVR, RankSVM, load
from cutplane.report.build import render_report
from cutplane.report.certificate import proven_within
from cutplane.report.markup import Markup, text
from cutplane.report.page import Section
from cutplane.report.trained import Examples, Trained

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Outline(HTMLParser):
    """What a browser makes of a page: that every element is closed in turn, ids, links and words."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.elements: list[str] = []
        self.sections: dict[str, list[str]] = {}
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.sections[dict(attrs)["id"] or ""] = []
        elif "section" in self.open:
            list(self.sections.values())[-1].append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def within(self, section: str) -> list[str]:
        """The elements of a section."""
        return self.sections[section]

    @property
    def links(self) -> set[str]:
        return {value.removeprefix("#") for tag, name, value in self.attributes if (tag, name) == ("a", "href")}


def data(k: int = 2, n: int = 120, d: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + 1.5 * np.eye(k, d)[y], y


@pytest.fixture(scope="module")
def page() -> Outline:
    X, y = data()
    model = LinearSVC(C=0.5).fit(X[:80], y[:80])
    path = [LinearSVC(C=C).fit(X[:80], y[:80]) for C in (0.01, 0.1)]
    about = Trained(
        model,
        train=Examples(X[:80], y[:80]),
        held_out=Examples(X[80:], y[80:]),
        feature_names=[f"name {j}" for j in range(6)],
        command="cutplane train 'my data.svm' m --C 0.5",
        path=path,
    )
    return Outline(render_report(about))


def test_every_section_is_there_under_its_link(page: Outline) -> None:
    wanted = {"convergence", "held-out", "features", "path", "data", "phases", "reproduce"}
    assert wanted <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert page.links <= set(page.ids)
    assert wanted <= page.links


def test_it_fetches_nothing_and_runs_nothing(page: Outline) -> None:
    assert "script" not in page.elements
    assert not {"img", "link", "iframe", "object", "embed"} & set(page.elements)
    reaching = [each for each in page.attributes if each[1] in ("src", "href") and not each[2].startswith("#")]
    assert not reaching
    assert not [each for each in page.attributes if each[1].startswith("on")]


def test_it_can_be_read_without_seeing_it(page: Outline) -> None:
    charts = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-labelledby")]
    assert len(charts) >= 7
    assert all(set(value.split()) <= set(page.ids) for value in charts)
    assert ("html", "lang", "en") in page.attributes
    assert page.elements.count("h1") == 1


def test_it_says_what_the_model_says(page: Outline) -> None:
    X, y = data()
    model = LinearSVC(C=0.5).fit(X[:80], y[:80])
    words = proven_within(model.gap_)
    assert words[0].upper() + words[1:] in page.text
    assert f"{100 * model.score(X[80:], y[80:]):.2f}" in page.text
    assert "cutplane train 'my data.svm' m --C 0.5" in page.text
    assert "LinearSVC(C=0.5).fit(X, y)" in page.text
    strongest = int(np.argmax(np.abs(model.coef_[0]) * X[:80].std(axis=0)))
    assert f"name {strongest}" in page.text


def test_light_and_dark_and_narrow(page: Outline) -> None:
    style = page.text
    assert "prefers-color-scheme: dark" in style
    assert "max-width: 34rem" in style
    assert any(name == "content" and "width=device-width" in value for _, name, value in page.attributes)
    defined = set(re.findall(r"(--[\w-]+):", style))
    assert set(re.findall(r"var\((--[\w-]+)\)", style)) <= defined


def test_names_and_labels_are_never_markup() -> None:
    X, y = data()
    evil = "<script>alert(1)</script>\"'&"
    labels = np.where(y == 0, "<b>no</b>", "yes & <i>more</i>")
    model = LinearSVC().fit(X, labels)
    about = Trained(
        model,
        held_out=Examples(X, labels),
        feature_names=[evil] * 6,
        data=evil,
        command=evil,
        train=Examples(X, labels),
    )
    page = Outline(render_report(about, title=evil))
    assert not {"script", "b", "i"} & set(page.elements)
    assert evil in page.text
    assert "<b>no</b>" in page.text


def test_markup_is_escaped_unless_it_is_markup() -> None:
    assert text("<a>") == "&lt;a&gt;"
    assert isinstance(text("x"), Markup)


def test_several_classes() -> None:
    X, y = data(k=4)
    model = LinearSVC().fit(X[:80], y[:80])
    page = Outline(render_report(Trained(model, held_out=Examples(X[80:], y[80:]))))
    assert "the optimum of every class" in page.text
    assert all(f"{c}: right for, left against." in page.text for c in range(4))
    assert "the worst and the best of 4" in page.text
    assert all(f"Proven relative gap of {c}" in page.text for c in range(4))
    assert "details" not in page.within("features")


def test_many_classes_show_what_is_confused() -> None:
    X, y = data(k=15, n=300, d=16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(C=0.1).fit(X, y)
    page = Outline(render_report(Trained(model, held_out=Examples(X, y))))
    assert "The most frequent confusions" in page.text


def test_a_run_that_ended_early_is_no_success() -> None:
    X, y = data()
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(C=100.0, method="oca", max_iter=2, tol=1e-9).fit(X, y)
    page = Outline(render_report(Trained(model)))
    assert any(name == "class" and value == "verdict open" for _, name, value in page.attributes)
    assert "Stopped early, proven within" in page.text
    assert "The iteration limit came before" in page.text


@pytest.mark.parametrize("C", [1e-6, 1.0])
def test_data_at_the_edge(C: float) -> None:
    X, y = np.zeros((4, 3)), np.array([0, 0, 1, 1])
    X[2:, 0] = 1.0
    model = LinearSVC(C=C).fit(X, y)
    one_class = Examples(X[:2], y[:2])
    page = Outline(render_report(Trained(model, train=Examples(X, y), held_out=one_class)))
    assert "Certified convergence" in page.text


def test_of_a_loaded_model(tmp_path: Path) -> None:
    X, y = data()
    LinearSVC().fit(X, y).save(tmp_path / "m.safetensors")
    model = load(tmp_path / "m.safetensors")
    model.report(tmp_path / "run.html", X, y)
    assert "Certified convergence" in (tmp_path / "run.html").read_text(encoding="utf-8")


class Own(LinearSVC):
    """An estimator with something of its own to say."""

    def _report_sections(self, trained: Trained) -> list[Section]:
        return [Section("mine", "My own", text(f"{len(trained.runs)} run"))]


def test_an_estimator_adds_its_own_sections() -> None:
    X, y = data()
    page, plain = (Outline(render_report(Trained(kind().fit(X, y)))) for kind in (Own, LinearSVC))
    assert "mine" in page.ids
    assert page.links - plain.links == {"mine"}
    assert plain.links < page.links
    assert "1 run" in page.text


class Ranker(BaseEstimator):
    """As little as a ranker is."""

    n_features_in_ = 1
    gap_, lower_bound_, objective_, stop_reason_ = 1e-4, 1.0, 1.0001, "gap"

    def predict(self, X: Any) -> Any:
        return X[:, 0]


def test_a_ranker_shows_ndcg() -> None:
    X = np.array([[3.0], [2.0], [1.0], [1.0], [2.0], [3.0]])
    y, qid = np.array([2, 1, 0, 2, 1, 0]), np.array([1, 1, 1, 2, 2, 2])
    page = Outline(render_report(Trained(Ranker(), held_out=Examples(X, y, qid))))
    # The first query is in the best order; in the second, of gains 3, 1, 0 the last comes first.
    second = (0 + 1 / np.log2(3) + 3 / 2) / (3 + 1 / np.log2(3))
    assert f"{(1 + second) / 2:.4f}" in page.text


def test_a_regression_shows_its_errors() -> None:
    X, _ = data()
    y = X[:, 0] - 2.0 * X[:, 1]
    model = LinearSVR(C=10.0).fit(X[:80], y[:80])
    page = Outline(render_report(Trained(model, held_out=Examples(X[80:], y[80:]))))
    assert "regression" in page.ids
    assert f"{model.score(X[80:], y[80:]):.4f}" in page.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "run.txt"}, "does not end in .html"),
        ({"X_test": [[1.0]]}, "X_test is given without y_test"),
        ({"X_test": np.ones((3, 6)), "y_test": [1, 0]}, "X_test has 3 examples and y_test has 2"),
        ({"feature_names": ["a"]}, "feature_names has 1 names, but the model has 6 features"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: dict[str, Any], words: str) -> None:
    model = LinearSVC().fit(*data())
    given = {"path": "run.html", **arguments}
    with pytest.raises(ValueError, match=re.escape(words)):
        model.report(tmp_path / given.pop("path"), **given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0, 1, 2, 2]])
def test_kernel_machines_have_a_report_too(labels, tmp_path) -> None:
    X = [[0.0], [1.0], [2.0], [3.0]]
    SVC().fit(X, labels).report(tmp_path / "r.html", X, labels)
    assert "The optimality conditions hold within the tolerance" in (tmp_path / "r.html").read_text()


def test_a_ranker_is_reproduced_with_its_queries() -> None:
    X, y = np.arange(8.0).reshape(-1, 1), np.tile([0, 1, 2, 1], 2)
    fitted = [RankSVM().fit(X, y), RankSVM().fit(X, y, qid=np.repeat([0, 1], 4))]
    one, two = (Outline(render_report(Trained(model))).text for model in fitted)
    assert "RankSVM(C=1.0).fit(X, y)" in one
    assert "RankSVM(C=1.0).fit(X, y, qid=qid)" in two
