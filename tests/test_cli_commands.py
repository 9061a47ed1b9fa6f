"""Commands beside training: cross-validation, export, scaling, thresholds, tables, stdin, configuration files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from cutplane import LinearSVC
from cutplane.cli.app import run
from cutplane.cli.class_weights import class_weight
from cutplane.cli.judgement import Found
from cutplane.cli.thresholds import Rule
from cutplane.estimators.loading import load
from cutplane.io.svmlight import load_svmlight, save_svmlight

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cutplane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Command:
    """Run the command in a folder with data.svm and held.svm: 200 and 100 examples, one in ten of class 1."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 4)), 3)
    y = np.where(np.arange(300) % 10 == 0, 1, -1)
    X[y == 1, :2] += 1.0
    save_svmlight("data.svm", X[:200], y[:200])
    save_svmlight("held.svm", X[200:], y[200:])
    columns = {"a": X[:, 0], "b": X[:, 1], "kind": np.where(y > 0, "site", "decoy"), "c": X[:, 2], "d": X[:, 3]}
    table = pa.table(columns)
    parquet.write_table(table, "table.parquet")
    csv.write_csv(table, "table.csv")

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = run(list(arguments))
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return call


# Probabilities, weights of classes, thresholds


def test_probabilities_of_the_logistic_loss(cutplane: Command) -> None:
    assert cutplane("train", "data.svm", "m", "--loss", "logistic", "-q")[0] == 0
    status, out, _ = cutplane("predict", "m", "held.svm", "--probability")
    rows = np.array([line.split("\t") for line in out.splitlines()], dtype=float)
    expected = load("m").predict_proba(load_svmlight("held.svm").X)
    np.testing.assert_array_equal(rows[:, 1:], expected)
    assert (status, rows.shape) == (0, (100, 3))
    found = json.loads(cutplane("predict", "m", "held.svm", "--probability", "--json")[1])
    assert found["classes"] == [-1, 1]
    np.testing.assert_array_equal(found["probabilities"], expected)


def test_a_model_without_probabilities_says_how_to_get_some(cutplane: Command) -> None:
    assert cutplane("train", "data.svm", "m", "-q")[0] == 0
    status, _, err = cutplane("predict", "m", "held.svm", "--probability")
    assert status == 1
    assert "train with --probability, or with --loss logistic" in err


def test_weights_of_classes(cutplane: Command) -> None:
    assert cutplane("train", "data.svm", "m", "--class-weight", "+1=4,-1=0.5", "-q")[0] == 0
    assert load("m").class_weight == {1: 4.0, -1: 0.5}
    data = load_svmlight("data.svm")
    expected = LinearSVC(class_weight={1: 4.0, -1: 0.5}).fit(data.X, data.y.astype(int))
    assert load("m").objective_ == expected.objective_


def test_labels_of_weights_may_be_words() -> None:
    assert class_weight("site=2,decoy=1", ["decoy", "site"]) == {"site": 2.0, "decoy": 1.0}
    assert class_weight("none", ["decoy", "site"]) is None
    assert class_weight("1=2,-1=1", None) == {1: 2.0, -1: 1.0}


@pytest.mark.parametrize(
    ("given", "words"),
    [("7=2", "names the class 7, but the data has -1, 1"), ("1", "not LABEL=WEIGHT"), ("1=-2", "not LABEL=WEIGHT")],
)
def test_wrong_weights_are_one_sentence(cutplane: Command, given: str, words: str) -> None:
    status, _, err = cutplane("train", "data.svm", "m", "--class-weight", given)
    assert status in (1, 2)
    assert words in err
    assert not Path("m").exists()


@pytest.mark.parametrize("rule", ["f1", "precision=0.5", "recall=0.8", "recall=1", "precision=0"])
def test_a_threshold_is_the_best_of_all(rule: str) -> None:
    rng = np.random.default_rng(1)
    scores, positive = np.round(rng.normal(size=60), 1), rng.random(60) < 0.3
    scores[positive] += 1.0

    def figures(threshold: float) -> tuple[float, float, float]:
        said = scores > threshold
        right = float((said & positive).sum())
        precision, recall = right / max(said.sum(), 1), right / positive.sum()
        return 2 * right / (said.sum() + positive.sum()), precision, recall

    f1, precision, recall = figures(Rule.parsed(rule).best(scores, positive))
    everywhere = [figures(t) for t in np.unique(scores) - 1e-6]
    kind, _, share = rule.partition("=")
    if kind == "f1":
        assert f1 == max(each[0] for each in everywhere)
    elif kind == "precision":
        assert precision >= float(share)
        assert recall == max(each[2] for each in everywhere if each[1] >= float(share))
    else:
        assert recall >= float(share)
        assert precision == max(each[1] for each in everywhere if each[2] >= float(share))


@pytest.mark.parametrize("wrong", ["f2", "precision", "recall=2", "f1=0.5", "recall=much"])
def test_a_wrong_rule_is_one_sentence(cutplane: Command, wrong: str) -> None:
    assert cutplane("train", "data.svm", "m", "-q")[0] == 0
    status, _, err = cutplane("evaluate", "m", "held.svm", "--threshold", wrong)
    assert status == 2
    assert "is not f1, precision=SHARE or recall=SHARE" in err


def test_a_threshold_of_the_training_is_used_afterwards(cutplane: Command) -> None:
    assert cutplane("train", "data.svm", "m", "--test", "held.svm", "--threshold", "recall=1", "-q")[0] == 0
    found = json.loads(cutplane("evaluate", "m", "held.svm", "--json")[1])
    truth = load_svmlight("held.svm").y
    recall = found["confusion_matrix"][1][1] / (truth > 0).sum()
    assert recall == 1.0
    said = np.array(cutplane("predict", "m", "held.svm")[1].split(), dtype=int)
    scores = load("m").decision_function(load_svmlight("held.svm").X)
    np.testing.assert_array_equal(said > 0, scores > found["threshold"])
    other = cutplane("predict", "m", "held.svm", "--threshold", "1e9")[1].split()
    assert set(other) == {"-1"}


# A useless model looks useless


def test_a_useless_model_says_so_first(cutplane: Command) -> None:
    words = ("train", "data.svm", "m", "--C", "1e-6")
    status, out, err = cutplane(*words)
    assert status == 0
    assert "no better than always saying -1" in err
    assert "--class-weight balanced" in err
    assert "commonest class: 90.00 %" in out
    assert json.loads(cutplane(*words, "--json")[1])["judgement"]["useless"] is True
    assert "no better than always saying -1" in cutplane("evaluate", "m", "held.svm")[2]
    _, _, err = cutplane("train", "data.svm", "m", "--class-weight", "balanced")
    assert err == ""


USELESS = {
    "classes": ("data.svm", "--C", "1e-6"),
    "F1": ("data.svm", "--C", "1e-9", "--loss", "f1"),
    "ordinal": ("noise.svm", "--task", "ordinal", "--C", "1e-9"),
    "kernel": ("data.svm", "--kernel", "rbf", "--C", "1e-4"),
    "sampled cuts": ("data.svm", "--kernel", "rbf", "--sampled-cuts", "linear", "--C", "1e-5"),
    "strings": ("data.fa", "--task", "strings", "--C", "1e-8", "--class-weight", "none"),
    "three classes": ("three.svm", "--C", "1e-6"),
    "regression": ("numbers.svm", "--task", "regression", "--C", "1e-9"),
}
ADVICE = {"--class-weight": "balanced", "--C": "1", "--tol": "1e-5"}


@pytest.mark.parametrize("words", USELESS.values(), ids=USELESS)
def test_all_advice_is_for_options_that_the_task_takes(cutplane: Command, words: tuple[str, ...]) -> None:
    X, y = (each for each in load_svmlight("data.svm")[:2])
    save_svmlight("three.svm", X, np.where(np.arange(len(y)) % 20 == 0, 2.0, y))
    save_svmlight("noise.svm", np.ones(X.shape), y)
    save_svmlight("numbers.svm", X, np.random.default_rng(0).normal(size=len(y)))
    rng = np.random.default_rng(0)
    letters = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(60)]
    Path("data.fa").write_text(
        "".join(f">{k} label={1 if k % 6 == 0 else -1}\n{text}\n" for k, text in enumerate(letters))
    )
    examples, *options = words
    status, out, err = cutplane("train", examples, "m", *options)
    assert status == 0, err
    said = err + out + cutplane("evaluate", "m", examples)[2]
    assert "no better than" in said
    for option in set(re.findall(r"--[a-zA-Z][a-z-]*", said)):
        if option == "--threshold":
            again = cutplane("evaluate", "m", examples, option, "f1")
        else:
            kept = [word for k, word in enumerate(options) if option not in options[max(0, k - 1) : k + 1]]
            again = cutplane("train", examples, "again", *kept, option, ADVICE[option])
        assert again[0] == 0, (option, again[2])


def test_high_accuracy_is_not_enough() -> None:
    """2 of 274 rare sites found: more accurate than the commonest class, and useless all the same."""
    truth = np.repeat([0, 1], [7726, 274])
    said = np.zeros(8000, int)
    said[-2:] = 1
    found = Found.counted("held-out", truth, said, None)
    assert found.accuracy > found.commonest
    assert found.is_useless
    assert not Found.counted("held-out", truth, np.where(np.arange(8000) > 7800, 1, 0), None).is_useless


def test_training_until_labels_are_certain(cutplane: Command) -> None:
    words = ("train", "data.svm", "m", "--C", "0.1", "--test", "held.svm", "--until-certain", "99%", "--json")
    status, out, _ = cutplane(*words)
    found = json.loads(out)
    assert (status, found["stop_reason"]) == (0, "certain")
    low, high = found["judgement"]["accuracy_bounds"]
    assert low <= found["judgement"]["accuracy"] <= high
    assert high - low <= 0.01
    assert json.loads(cutplane("evaluate", "m", "held.svm", "--json")[1])["accuracy_bounds"] == [low, high]
    assert "the exact optimum has between" in cutplane("evaluate", "m", "held.svm")[1]
    assert "needs --test" in cutplane("train", "data.svm", "m", "--until-certain", "99%")[2]


def test_held_out_figures_of_other_tasks(cutplane: Command) -> None:
    out = cutplane("train", "data.svm", "m", "--task", "regression", "--test", "held.svm")[1]
    assert "held-out R²" in out
    found = json.loads(cutplane("train", "data.svm", "m", "--task", "rank", "--test", "held.svm", "--json", "-q")[1])
    assert 0.5 < found["judgement"]["pair accuracy"] <= 1.0
    Path("tokens.txt").write_text("He PRP B\nruns VBZ I\n\nShe PRP B\nwalks VBZ I\nnow RB O\n\n")
    out = cutplane("train", "tokens.txt", "m", "--task", "sequence", "--test", "tokens.txt")[1]
    assert "held-out token accuracy  1.0000" in out


# Tables, stdin


@pytest.mark.parametrize("table", ["table.parquet", "table.csv"])
def test_tables_by_the_names_of_their_columns(cutplane: Command, table: str) -> None:
    assert cutplane("train", table, "m", "--target", "kind", "--class-weight", "site=5,decoy=1", "-q")[0] == 0
    assert load("m").classes_.tolist() == ["decoy", "site"]
    status, out, _ = cutplane("evaluate", "m", "table.parquet", "--json")
    accuracy = json.loads(out)["accuracy"]
    assert (status, accuracy > 0.7) == (0, True)
    # Without the target, and in another order: predictions go by name.
    shuffled = parquet.read_table("table.parquet").select(["d", "c", "b", "a"])
    csv.write_csv(shuffled, "new.csv")
    said = np.array(cutplane("predict", "m", "new.csv")[1].split())
    truth = parquet.read_table("table.parquet").column("kind").to_numpy()
    assert np.mean(said == truth) == accuracy


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("train table.csv m", "--target: names the column to learn"),
        ("train table.csv m --target sort", "table.csv has no column 'sort'; its columns are a, b, kind, c, d"),
        ("train table.csv m --target a --task regression", "the column 'kind' has string values; features are numbers"),
        ("train data.svm m --target kind", "--target is for Parquet and CSV files"),
        ("train holes.csv m --target y", "the column 'x' has 1 rows without a value"),
        ("train twice.csv m --target y", "twice.csv has 2 columns named 'x'; give each a name of its own"),
        ("train twice.csv m --target x", "twice.csv has 2 columns named 'x'"),
        ("train latin.csv m --target y", "latin.csv is not UTF-8 text; convert it first: iconv -f latin1"),
        ("train labels.csv m --target y", "labels.csv is not UTF-8 text"),
        ("train data.svm m --report r.html --feature-names latin.csv", "latin.csv is not UTF-8 text"),
    ],
)
def test_a_table_that_cannot_be_learned_is_one_sentence(cutplane: Command, words: str, sentence: str) -> None:
    Path("holes.csv").write_text("x,y\n1,0\n,1\n")
    Path("twice.csv").write_text("x,y,x\n1,0,1\n2,1,2\n")
    Path("latin.csv").write_text("größe,y\n1,0\n2,1\n", encoding="latin-1")
    Path("labels.csv").write_text("x,y\n1,süß\n2,sauer\n", encoding="latin-1")
    status, _, err = cutplane(*words.split())
    assert status in (1, 2)
    assert sentence in err


def test_features_that_the_model_does_not_know(cutplane: Command) -> None:
    """Fewer features in a file than in training are zeros; more need --ignore-unknown."""
    assert cutplane("train", "data.svm", "m", "-q")[0] == 0
    rows = Path("held.svm").read_text().splitlines()
    Path("fewer.svm").write_text("".join(f"{row.split()[0]} 1:0.5\n" for row in rows))
    Path("more.svm").write_text("".join(f"{row} 9:100\n" for row in rows))
    X = np.zeros((100, 4))
    X[:, 0] = 0.5
    assert cutplane("predict", "m", "fewer.svm")[1].split() == load("m").predict(X).astype(str).tolist()
    assert "9 features, but the model was trained with 4; --ignore-unknown" in cutplane("predict", "m", "more.svm")[2]
    for command in ("predict", "evaluate"):
        known = cutplane(command, "m", "held.svm")
        assert cutplane(command, "m", "more.svm", "--ignore-unknown") == known


def test_a_dash_is_stdin(cutplane: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def piped(text: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

    piped(Path("data.svm").read_bytes())
    assert cutplane("train", "-", "m", "-q")[0] == 0
    assert cutplane("train", "data.svm", "other", "-q")[0] == 0
    np.testing.assert_array_equal(load("m").coef_, load("other").coef_)
    piped(Path("held.svm").read_bytes())
    assert cutplane("predict", "m", "-", "-o", "-")[1] == cutplane("predict", "m", "held.svm")[1]
    piped(b"1 nonsense\n")
    assert "stdin, line 1" in cutplane("predict", "m", "-")[2]


# Cross-validation, export, scaling, configuration


@pytest.mark.parametrize("options", ["", "--kernel rbf", "--loss logistic --class-weight balanced"])
def test_cross_validation(cutplane: Command, options: str) -> None:
    status, out, err = cutplane("cross-validate", "data.svm", "--folds", "4", "--json", *options.split())
    assert status == 0, err
    found = json.loads(out)
    assert found["scoring"] == "accuracy"
    assert len(found["folds"]) == 4
    assert found["mean"] == pytest.approx(np.mean([fold["score"] for fold in found["folds"]]))
    assert "mean accuracy" in cutplane("cross-validate", "data.svm", *options.split())[1]


def test_cross_validation_of_other_tasks(cutplane: Command) -> None:
    assert "mean R²" in cutplane("cross-validate", "data.svm", "--task", "regression")[1]
    assert "no qid" in cutplane("cross-validate", "data.svm", "--task", "rank")[2]
    words = ("--task", "sequence", "--kernel", "rbf")
    assert "is not for folds of --task sequence" in cutplane("cross-validate", "data.svm", *words)[2]
    assert cutplane("cross-validate", "data.svm", "--probability", "--folds", "2")[0] == 0
    assert "a class has 20 examples only" in cutplane("cross-validate", "data.svm", "--folds", "30")[2]
    data = load_svmlight("data.svm")
    save_svmlight("rank.svm", data.X, data.y, qid=np.arange(200) // 20)
    assert "mean pair accuracy" in cutplane("cross-validate", "rank.svm", "--task", "rank")[1]


def test_export(cutplane: Command) -> None:
    assert cutplane("train", "data.svm", "m", "-q")[0] == 0
    assert cutplane("export", "m", "m.json")[0] == 0
    held = load_svmlight("held.svm").X
    plain = load("m.json", plain=True)
    np.testing.assert_array_equal(plain.predict(held.toarray()), load("m").predict(held))
    assert cutplane("export", "m", "m.model", "--format", "liblinear")[0] == 0
    assert Path("m.model").read_text().startswith("solver_type")
    status, _, err = cutplane("export", "m", "m.model")
    assert status == 2
    assert "give onnx, json, liblinear, libsvm" in err


@pytest.mark.parametrize("by", ["max-abs", "deviation"])
def test_scaling(cutplane: Command, by: str) -> None:
    assert cutplane("scale", "data.svm", "--by", by, "--save", "f.json", "-o", "s.svm")[0] == 0
    before, after = load_svmlight("data.svm").X.toarray(), load_svmlight("s.svm").X.toarray()
    size = np.abs(before).max(axis=0) if by == "max-abs" else before.std(axis=0)
    np.testing.assert_allclose(after, before / size, rtol=1e-12)
    _, out, _ = cutplane("scale", "held.svm", "--restore", "f.json")
    Path("h.svm").write_text(out)
    np.testing.assert_allclose(load_svmlight("h.svm").X.toarray(), load_svmlight("held.svm").X.toarray() / size)
    assert "no file of factors" in cutplane("scale", "held.svm", "--restore", "data.svm")[2]


def test_a_run_is_reproduced_from_its_model(cutplane: Command) -> None:
    words = ("--C", "0.5", "--loss", "squared_hinge", "--class-weight", "1=3", "--n-features", "6", "--no-intercept")
    assert cutplane("train", "data.svm", "m", *words, "-q")[0] == 0
    first = load("m")
    Path("run.toml").write_text(cutplane("info", "m", "--reproduce")[1])
    assert cutplane("train", "--config", "run.toml", "-q")[0] == 0
    np.testing.assert_array_equal(load("m").coef_, first.coef_)
    assert load("m").get_params() == first.get_params()
    # The command line goes first.
    assert cutplane("train", "data.svm", "other", "--config", "run.toml", "--C", "2", "-q")[0] == 0
    assert (load("other").C, load("other").loss) == (2.0, "squared_hinge")


@pytest.mark.parametrize(
    ("text", "words"),
    [("Cee = 1", "has 'Cee', which is no option here"), ("C =", "is no TOML file"), ("order = 3", "--order is for")],
)
def test_a_wrong_configuration_is_one_sentence(cutplane: Command, text: str, words: str) -> None:
    Path("run.toml").write_text(text)
    status, _, err = cutplane("train", "data.svm", "m", "--config", "run.toml")
    assert status == 2
    assert words in err


def test_many_classes_are_a_line_each(cutplane: Command) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(300) % 15
    save_svmlight("many.svm", np.eye(15)[y] + 0.1 * rng.normal(size=(300, 15)), y)
    assert cutplane("train", "many.svm", "m", "--multi-class", "crammer_singer", "-q")[0] == 0
    assert load("m").multi_class == "crammer_singer"
    out = cutplane("evaluate", "m", "many.svm")[1]
    assert "15 classes, the most frequent first" in out
    assert "mostly taken for" in out
