"""Runs side by side say what differs, and whether they can be of one problem."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from cutplane import LinearSVC, LinearSVR
from cutplane.cli.app import run
from cutplane.estimators.loading import load
from cutplane.report.comparison import apart, compared_table, differing, render_comparison, run_of_json, run_of_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = (X[:, 0] + 0.5 * RNG.normal(size=80) > 0).astype(int)


def fitted(**params: object) -> LinearSVC:
    return LinearSVC(**params).fit(X, Y)


def test_the_same_problem_solved_twice_may_be_one() -> None:
    runs = [run_of_model(name, fitted(tol=tol)) for name, tol in (("a", 1e-2), ("b", 1e-6))]
    assert apart(runs) is None
    assert differing(runs) == ["tol"]
    assert "may be of one problem" in render_comparison(runs)


def test_optima_that_are_proven_to_differ_are_of_two_problems() -> None:
    runs = [run_of_model(name, fitted(C=C)) for name, C in (("small", 0.1), ("large", 10.0))]
    found = apart(runs)
    assert found is not None
    assert [each.name for each in found] == ["small", "large"]
    page = render_comparison(runs)
    assert "The runs are not of one problem: the optimum of small is at most" in page
    assert '<th scope="col">C</th>' in page


def test_different_kinds_are_named() -> None:
    runs = [run_of_model("a", fitted()), run_of_model("b", LinearSVR().fit(X, X[:, 0]))]
    assert '<th scope="col">model</th>' in render_comparison(runs)


def test_the_command_compares_models_and_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(X, Y, "d.svm", zero_based=False)
    assert run(["train", "d.svm", "one", "--C", "0.1", "--quiet"]) == 0
    assert run(["train", "d.svm", "two", "--json"]) == 0
    Path("two.json").write_text(capsys.readouterr().out)
    assert run(["compare", "one", "two", "two.json", "--test", "d.svm", "--report", "c.html"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("one", "two", "two.json", "held-out score"))
    page = Path("c.html").read_text(encoding="utf-8")
    assert "Comparison of 3 runs" in page
    assert page.count("<circle") >= 2
    assert run(["compare", "one", "two", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [each["params"]["C"] for each in said["runs"]] == [0.1, 1.0]
    assert said["runs"][1]["gap"] == run_of_json("two.json", Path("two.json").read_text()).gap


@pytest.mark.parametrize("options", ["--C 0.1 --class-weight 1=2,0=1", "--kernel rbf --gamma 0.5", "--loss logistic"])
def test_an_output_knows_as_much_as_the_model_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: str
) -> None:
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(X, Y, "d.svm", zero_based=False)
    assert run(["train", "d.svm", "m", "--json", *options.split()]) == 0
    said, model = run_of_json("m.json", capsys.readouterr().out), run_of_model("m", load("m"))
    assert (said.kind, said.params, said.seconds) == (model.kind, model.params, pytest.approx(model.seconds))
    assert differing([said, model]) == []
    assert differing([said, run_of_model("other", fitted(C=7.0))]) != []


def test_what_an_earlier_output_does_not_say() -> None:
    old = {"objective": 2.0, "lower_bound": 1.0, "gap": 0.5, "stop_reason": "gap", "problems": [], "tol": 1e-3}
    runs = [run_of_json("old", json.dumps(old)), run_of_model("new", fitted(C=1.0)), run_of_model("b", fitted(C=2.0))]
    head, rows = compared_table(runs)
    assert [row[head.index("C")] for row in rows] == ["not known", "1", "2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "d.txt"], "takes two runs or more"),
        (["compare", "d.txt", "d.txt"], "is no model file and no output of 'cutplane train --json'"),
        (["compare", "nothing", "d.txt"], "nothing: No such file"),
        (["compare", "d.txt", "d.txt", "--report", "r.txt"], "does not end in .html"),
    ],
)
def test_bad_input(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.txt").write_text("{}")
    assert run(arguments) != 0
    assert words in capsys.readouterr().err
