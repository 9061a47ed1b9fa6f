"""The command: what it prints, what it leaves behind, and its exit status.

Most tests call the command within this process, because starting a Python with scikit-learn takes a
second or more; `tests/test_cli_process.py` has those that need a process of their own.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVC
from cutplane.cli.app import run
from cutplane.estimators.common.persistence import save
from cutplane.estimators.loading import load
from cutplane.io.model_file import write_model

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cutplane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Command:
    """Run the command in a folder with data.svm (two classes), three.svm (three) and model.safetensors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUTPLANE_DEBUG", raising=False)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(list(arguments))
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    write_data(Path("data.svm"), [-1, 1])
    write_data(Path("three.svm"), [1, 2, 3])
    assert call("train", "data.svm", "model.safetensors")[0] == 0
    return call


def write_data(path: Path, labels: list[float], n_features: int = 4, first: int = 1, n: int = 60) -> None:
    rng = np.random.default_rng(0)
    index = np.arange(n) % len(labels)
    X = rng.normal(size=(n, n_features)) + 2.0 * np.eye(len(labels), n_features)[index]
    lines = [
        f"{labels[i]} " + " ".join(f"{j + first}:{value:.6f}" for j, value in enumerate(row))
        for i, row in zip(index, X, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")


# Training


def test_train_says_what_is_proven_and_saves_the_model(cutplane: Command) -> None:
    status, out, err = cutplane("train", "data.svm", "new.safetensors", "--C", "0.5", "--tol", "1e-5")
    assert (status, err) == (0, "")
    assert "60 examples, 4 features" in out
    assert "% of the optimum" in out
    model = load("new.safetensors")
    assert model.gap_ <= 1e-5
    assert model.C == 0.5
    assert model.classes_.tolist() == [-1, 1]
    assert model.classes_.dtype == np.int64


def test_defaults_are_the_estimators(cutplane: Command) -> None:
    assert load("model.safetensors").get_params() == LinearSVC().get_params()


def test_every_option_reaches_the_estimator(cutplane: Command) -> None:
    status, out, _ = cutplane(
        *("train", "data.svm", "new.safetensors", "--C", "2", "--tol", "0.01", "--method", "oca"),
        *(
            "--line-search",
            "three-point",
            "--no-intercept",
            "--class-weight",
            "balanced",
            "--max-iter",
            "500",
        ),
        *("--time-limit", "100", "--threads", "1", "--one-based", "--n-features", "9", "--quiet"),
    )
    assert (status, out) == (0, "")
    model = load("new.safetensors")
    assert model.n_features_in_ == 9
    expected = {
        **{"C": 2.0, "tol": 0.01, "method": "oca", "line_search": "three-point", "fit_intercept": False},
        **{"class_weight": "balanced", "max_iter": 500, "time_limit": 100.0, "n_jobs": 1},
    }
    assert expected.items() <= model.get_params().items()
    assert cutplane("train", "data.svm", "new.safetensors", "--intercept-scaling", "3")[0] == 0
    assert load("new.safetensors").intercept_scaling == 3.0


def test_train_json_is_one_object(cutplane: Command) -> None:
    status, out, err = cutplane("train", "data.svm", "new.safetensors", "--json", "--plot", "p.svg")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result["model"] == "new.safetensors"
    assert result["classes"] == [-1, 1]
    assert result["proven"] is True
    assert result["lower_bound"] <= result["objective"]
    assert result["gap"] <= result["tol"]
    assert Path("p.svg").read_text().startswith("<?xml")


def test_three_classes(cutplane: Command) -> None:
    status, out, _ = cutplane("train", "three.svm", "new.safetensors", "--plot", "p.png", "--json")
    assert status == 0
    assert json.loads(out)["classes"] == [1, 2, 3]
    assert cutplane("info", "new.safetensors")[0] == 0
    assert cutplane("train", "three.svm", "new.safetensors")[0] == 0
    status, out, _ = cutplane("evaluate", "new.safetensors", "three.svm", "--json")
    assert np.array(json.loads(out)["confusion_matrix"]).shape == (3, 3)
    _, out, _ = cutplane("predict", "new.safetensors", "three.svm", "--scores")
    assert [len(line.split("\t")) for line in out.splitlines()] == [4] * len(Path("three.svm").read_text().splitlines())


def test_a_run_that_stops_early_is_saved_and_has_its_own_status(cutplane: Command) -> None:
    status, out, _ = cutplane(
        "train", "data.svm", "new.safetensors", "--method", "cpa", "--max-iter", "2", "--tol", "1e-9"
    )
    assert status == 3
    assert "the iteration limit came first" in out
    model = load("new.safetensors")
    assert model.stop_reason_ == "max_iter"
    assert model.gap_ > 1e-9


# Using a model


def test_predict_writes_one_label_per_line(cutplane: Command) -> None:
    status, out, err = cutplane("predict", "model.safetensors", "data.svm")
    assert (status, err) == (0, "")
    labels = out.splitlines()
    assert len(labels) == 60
    assert set(labels) == {"-1", "1"}
    assert cutplane("predict", "model.safetensors", "data.svm", "-o", "out.txt") == (0, "", "")
    assert Path("out.txt").read_text() == out


def test_scores_come_after_the_label_and_agree_with_it(cutplane: Command) -> None:
    _, out, _ = cutplane("predict", "model.safetensors", "data.svm", "--scores")
    for line in out.splitlines():
        label, score = line.split("\t")
        assert (float(score) > 0) == (label == "1")


def test_predict_json(cutplane: Command) -> None:
    _, out, _ = cutplane("predict", "model.safetensors", "data.svm", "--scores", "--json")
    result = json.loads(out)
    assert len(result["predictions"]) == len(result["scores"]) == result["n_examples"] == 60


def test_evaluate_agrees_with_itself(cutplane: Command) -> None:
    status, out, err = cutplane("evaluate", "model.safetensors", "data.svm", "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    matrix = np.array(result["confusion_matrix"])
    assert result["accuracy"] == pytest.approx(np.trace(matrix) / 60)
    assert 0.5 < result["roc_area"] <= 1.0
    status, out, _ = cutplane("evaluate", "model.safetensors", "data.svm")
    assert f"{100 * result['accuracy']:.2f} %" in out
    assert "confusion matrix" in out


def test_info_shows_the_certificate(cutplane: Command) -> None:
    status, out, _ = cutplane("info", "model.safetensors")
    assert status == 0
    assert "LinearSVC(C=1.0)" in out
    assert "% of the optimum" in out
    _, out, _ = cutplane("info", "model.safetensors", "--json")
    result = json.loads(out)
    assert result["kind"] == "LinearSVC"
    assert result["n_features"] == 4
    assert result["gap"] == load("model.safetensors").gap_


def test_a_file_with_fewer_features_is_filled_with_zeros(cutplane: Command) -> None:
    Path("fewer.svm").write_text("1 1:0.5\n-1 2:0.5\n")
    status, out, _ = cutplane("predict", "model.safetensors", "fewer.svm", "--scores")
    assert status == 0
    model = load("model.safetensors")
    scores = [float(line.split("\t")[1]) for line in out.splitlines()]
    assert scores == pytest.approx(model.decision_function([[0.5, 0, 0, 0], [0, 0.5, 0, 0]]).tolist())


def test_files_are_numbered_as_the_training_file_was(cutplane: Command) -> None:
    write_data(Path("zero.svm"), [-1, 1], first=0)
    assert cutplane("train", "zero.svm", "zero.safetensors")[0] == 0
    # No feature 0 here: a guess from this file alone would be wrong.
    Path("some.svm").write_text("1 3:1\n")
    _, out, _ = cutplane("predict", "zero.safetensors", "some.svm", "--scores")
    expected = load("zero.safetensors").decision_function([[0, 0, 0, 1]])[0]
    assert float(out.split("\t")[1]) == pytest.approx(expected)


def test_labels_are_not_needed_for_predictions(cutplane: Command) -> None:
    Path("unlabelled.svm").write_text("0 1:0.5\n0 2:0.5\n")
    assert cutplane("predict", "model.safetensors", "unlabelled.svm")[0] == 0


def test_some_unknown_labels_are_a_warning(cutplane: Command) -> None:
    Path("odd.svm").write_text("1 1:0.5\n7 2:0.5\n")
    status, _, err = cutplane("evaluate", "model.safetensors", "odd.svm")
    assert status == 0
    assert err == ("cutplane: warning: odd.svm has labels the model was not trained on, so they count as errors: 7.\n")


# Bad input: one sentence, the right status, nothing lost


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train missing.svm new", "missing.svm: No such file or directory."),
        ("train . new", "has no cutplane.json"),
        ("train empty.svm new", "empty.svm holds no example"),
        ("train broken.svm new", "broken.svm, line 2, column 4"),
        ("train nan.svm new", "nan.svm, line 1"),
        ("train cut.svm.gz new", "cut.svm.gz is truncated"),
        ("train one.svm new", "class"),
        ("train half.svm new", "half.svm has the label 0.5, but classes are whole numbers"),
        ("train huge.svm new", "huge.svm has the label 1e+300, but classes are whole numbers"),
        ("train data.svm no/such/folder/new", "the folder no/such/folder does not exist."),
        ("train data.svm .", "it is a folder"),
        ("train data.svm data.svm", "data.svm is named for reading and for writing"),
        ("train model.safetensors data.svm", "data.svm exists and is not a Cutplane model"),
        ("train data.svm new --plot no/plot.png", "the folder no does not exist."),
        ("train data.svm new --plot .", "does not end in .png, .svg or .pdf"),
        ("train data.svm new.png --plot new.png", "new.png is named for reading and for writing"),
        ("train data.svm new --n-features 2", "data.svm, line 1"),
        ("predict missing data.svm", "There is no model file missing."),
        ("predict data.svm model.safetensors", "data.svm is not a Cutplane model file"),
        ("predict empty.svm data.svm", "empty.svm is empty"),
        ("predict newer data.svm", "newer was written by Cutplane"),
        ("predict model.safetensors missing.svm", "missing.svm: No such file or directory."),
        (
            "predict model.safetensors wide.svm",
            "wide.svm has 9 features, but the model was trained with 4; --ignore-unknown leaves the others out.",
        ),
        ("predict model.safetensors data.svm -o no/out", "the folder no does not exist."),
        ("predict model.safetensors data.svm -o data.svm", "data.svm is named for reading and for writing"),
        ("predict model.safetensors data.svm -o model.safetensors", "is named for reading and for writing"),
        ("evaluate model.safetensors wide.svm", "wide.svm has 9 features"),
        ("evaluate model.safetensors zeroone.svm", "none of which the model knows: it was trained on -1, 1."),
        ("info data.svm", "data.svm is not a Cutplane model file"),
        ("info missing", "There is no model file missing."),
        ("quickstart -o data.svm", "The folder data.svm cannot be made"),
    ],
)
def test_bad_input(cutplane: Command, arguments: str, words: str) -> None:
    write_bad_files()
    before = contents()
    status, out, err = cutplane(*arguments.split())
    if "does not end in" in words:
        assert status == 2
    else:
        assert status == 1
        assert err.count("\n") == 1
        assert err.startswith("cutplane: error: ")
    assert words in err
    assert out == ""
    assert contents() == before


def write_bad_files() -> None:
    Path("empty.svm").touch()
    Path("broken.svm").write_text("1 1:1\n-1 1:abc\n")
    Path("nan.svm").write_text("1 1:nan\n-1 1:1\n")
    Path("cut.svm.gz").write_bytes(gzip.compress(Path("data.svm").read_bytes())[:-20])
    Path("one.svm").write_text("1 1:1\n1 1:2\n")
    Path("half.svm").write_text("1 1:1\n0.5 1:2\n")
    Path("huge.svm").write_text("1 1:1\n1e300 1:2\n")
    Path("wide.svm").write_text("1 9:1\n")
    Path("zeroone.svm").write_text("0 1:1\n2 1:1\n")
    write_model("newer", kind="Toy", arrays={}, metadata={})
    text = Path("newer").read_bytes().replace(b'format_version\\": 2', b'format_version\\": 9')
    Path("newer").write_bytes(text)


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train", "Missing argument"),
        ("train data.svm", "Missing argument"),
        ("teach data.svm", "No such command 'teach'"),
        ("train data.svm new --C 0", "0 is not a positive number"),
        ("train data.svm new --C -1", "-1 is not a positive number"),
        ("train data.svm new --C nan", "nan is not a positive number"),
        ("train data.svm new --C inf", "inf is not a positive number"),
        ("train data.svm new --C much", "--C"),
        ("train data.svm new --tol 0", "0 is not a positive number"),
        ("train data.svm new --time-limit 0", "0 is not a positive number"),
        ("train data.svm new --max-iter 0", "--max-iter"),
        ("train data.svm new --threads 0", "--threads"),
        ("train data.svm new --method magic", "--method"),
        ("train data.svm new --line-search wild", "--line-search"),
        ("train data.svm new --class-weight heavy", "--class-weight"),
        ("train data.svm new --colour red", "No such option"),
        ("train data.svm new --no-intercept --intercept-scaling 1", "--intercept-scaling"),
        ("train missing.svm new --C 0", "0 is not a positive number"),
    ],
)
def test_wrong_usage(cutplane: Command, arguments: str, words: str) -> None:
    before = os.listdir()
    status, out, err = cutplane(*arguments.split())
    assert (status, out) == (2, "")
    assert err.startswith("cutplane: error: ")
    assert words in err
    assert "--help'." in err
    assert os.listdir() == before


def test_labels_that_are_text_cannot_be_compared_with_a_file(cutplane: Command) -> None:
    save(LinearSVC().fit([[-1.0], [1.0]], ["no", "yes"]), "text.safetensors")
    Path("small.svm").write_text("1 1:-1\n")
    status, _, err = cutplane("evaluate", "text.safetensors", "small.svm")
    assert status == 1
    assert "knows the labels no, yes, which are not numbers" in err
    assert cutplane("predict", "text.safetensors", "small.svm")[1] == "no\n"


def test_a_mistake_of_ours_is_no_traceback_either(cutplane: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutplane.cli.model_info.read_fitted", lambda path: 1 / 0)
    status, _, err = cutplane("info", "model.safetensors")
    assert status == 1
    assert err.startswith("cutplane: error: This is a mistake in Cutplane")
    with pytest.raises(ZeroDivisionError):
        run(["info", "model.safetensors", "--debug"])
    monkeypatch.setenv("CUTPLANE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(["info", "model.safetensors"])


def test_without_a_command_it_shows_help(cutplane: Command) -> None:
    status, out, _ = cutplane()
    assert status == 0
    assert "quickstart" in out
    assert "Exit status: 0 all well" in out


def test_version(cutplane: Command) -> None:
    status, out, _ = cutplane("--version")
    assert status == 0
    assert re.fullmatch(r"cutplane \d+\.\d+\.\d+\n", out)


# Reports


def test_a_report_shows_the_command_and_the_held_out_data(cutplane: Command) -> None:
    write_data(Path("held out.svm"), [-1, 1], n=40)
    Path("names.txt").write_text("age\nheight\nweight\nshoe size\n")
    words = ("train", "data.svm", "m.safetensors", "--report", "run.html", "--test", "held out.svm")
    status, out, err = cutplane(*words, "--feature-names", "names.txt")
    assert (status, err) == (0, "")
    assert "run.html" in out
    page = Path("run.html").read_text(encoding="utf-8")
    assert "cutplane train data.svm m.safetensors --report run.html --test &#x27;held out.svm&#x27;" in page
    assert "shoe size" in page
    assert "On held-out data" in page
    assert "LinearSVC on data.svm" in page


def test_features_of_a_report_are_numbered_as_in_the_file(cutplane: Command) -> None:
    write_data(Path("zero.svm"), [-1, 1], first=0)
    for file, numbers in (("data.svm", range(1, 5)), ("zero.svm", range(4))):
        assert cutplane("train", file, "m.safetensors", "--report", "run.html")[0] == 0
        found = set(map(int, re.findall(r">feature (\d+)<", Path("run.html").read_text(encoding="utf-8"))))
        assert found == set(numbers)


def test_a_report_of_a_ranking_shows_ndcg(cutplane: Command) -> None:
    rows = [f"{grade} qid:{query} 1:{grade + 0.1 * query} 2:{query}" for query in range(1, 6) for grade in (0, 2, 1)]
    Path("rank.svm").write_text("\n".join(rows) + "\n")
    words = ("train", "rank.svm", "r.safetensors", "--task", "rank", "--report", "run.html", "--test", "rank.svm")
    assert cutplane(*words)[0] == 0
    page = Path("run.html").read_text(encoding="utf-8")
    assert "Ranking on held-out queries" in page
    assert "<dt>NDCG@10</dt><dd>1.0000</dd>" in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--report run.txt", "does not end in .html"),
        ("--feature-names data.svm", "is for reports: give --report too"),
        ("--report run.html --test nowhere.svm", "nowhere.svm"),
        ("--report run.html --test wide.svm", "wide.svm has 9 features, but the data to train on has 4"),
        ("--report run.html --feature-names data.svm", "data.svm has 60 lines, but there are 4 features to name"),
        ("--report data.svm.html/run.html", "data.svm.html"),
    ],
)
def test_a_report_that_cannot_be_is_refused_before_training(cutplane: Command, options: str, words: str) -> None:
    Path("wide.svm").write_text("1 9:1\n")
    before = contents()
    status, out, err = cutplane("train", "data.svm", "new.safetensors", *options.split())
    assert status in (1, 2)
    assert words in err
    assert out == ""
    assert contents() == before
