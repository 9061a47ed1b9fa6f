"""Sequences on the command line."""

from __future__ import annotations

import json

import pytest

from cutplane.cli.app import run

TRAIN = "".join(
    "".join(f"{word} {tag}\n" for word, tag in zip(words.split(), tags.split(), strict=True)) + "\n"
    for words, tags in [
        ("the dog barks", "B-NP I-NP O"),
        ("a cat sleeps", "B-NP I-NP O"),
        ("dogs bark", "B-NP O"),
        ("the cat barks", "B-NP I-NP O"),
    ]
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(TRAIN)
    (tmp_path / "words.txt").write_text("the\ndog\nsleeps\n")
    (tmp_path / "template").write_text("U0:%x[0,0]\nU1:%x[-1,0]\nB\n")
    return tmp_path


def train(*more):
    return run(["train", "--task", "sequence", "train.txt", "m.safetensors", "--C", "10", *more])


@pytest.mark.parametrize("more", [(), ("--template", "template")])
def test_train_evaluate_predict(files, capsys, more):
    assert train("--json", *more) == 0
    trained = json.loads(capsys.readouterr().out)
    assert (trained["n_examples"], trained["n_tokens"], trained["proven"]) == (4, 11, True)
    assert run(["evaluate", "m.safetensors", "train.txt", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["accuracy"], scores["f1"]) == (1.0, 1.0)
    assert run(["predict", "m.safetensors", "words.txt"]) == 0
    assert capsys.readouterr().out == "the B-NP\ndog I-NP\nsleeps O\n\n"
    assert run(["predict", "m.safetensors", "train.txt", "-o", "out.txt"]) == 0
    assert (files / "out.txt").read_text().startswith("the B-NP B-NP\n")
    assert run(["info", "m.safetensors"]) == 0
    assert "SequenceSVM" in capsys.readouterr().out


def test_summaries_for_people(files, capsys):
    assert train("--plot", "plot.png") == 0
    assert run(["evaluate", "m.safetensors", "train.txt"]) == 0
    printed = capsys.readouterr().out
    assert "4 sequences, 11 tokens" in printed
    assert "class" not in printed
    assert "F1 100.00 %" in printed
    assert (files / "plot.png").stat().st_size > 0


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("a\nb\n", (), "has one column; features and, last, a label were expected"),
        ("a X\nb\n", (), "line 2: 1 columns, but line 1 has 2"),
        (TRAIN, ("--method", "newton"), "--method newton is not for sequences"),
        (TRAIN, ("--template", "train.txt"), "rules begin with U"),
        (TRAIN, ("--template", "missing"), "missing: No such file"),
    ],
)
def test_bad_input(files, capsys, content, arguments, words):
    (files / "train.txt").write_text(content)
    assert train(*arguments) == 1
    assert words in capsys.readouterr().err
    assert not (files / "m.safetensors").exists()


def test_a_token_file_for_another_task_is_told_apart(files, capsys):
    assert run(["train", "train.txt", "m.safetensors"]) == 1
    assert "tokens are learned with --task sequence" in capsys.readouterr().err


def test_more_labels_than_there_is_memory_for(files, capsys, monkeypatch):
    """Rows of numbers, read as tokens, have a label each."""
    (files / "rows.svm").write_text("".join(f"1 1:{i} 2:{i}.5\n" for i in range(200)))
    monkeypatch.setattr("cutplane.estimators.structured.sequence_svm.free_memory", lambda: 2_000_000)
    assert run(["train", "--task", "sequence", "rows.svm", "m.safetensors"]) == 1
    assert "Transitions between 200 labels have 40,000 weights, more than" in capsys.readouterr().err


def test_a_file_with_other_columns(files, capsys):
    assert train("-q") == 0
    (files / "wide.txt").write_text("a b c\n")
    assert run(["predict", "m.safetensors", "wide.txt"]) == 1
    assert "wide.txt has 3 columns; the model was trained with 1" in capsys.readouterr().err
    assert run(["evaluate", "m.safetensors", "words.txt"]) == 1
    assert "words.txt has 1 columns; 2 with the label last were expected" in capsys.readouterr().err


def test_a_structured_model_from_python(files, capsys):
    from cutplane import StructuralSVM
    from cutplane.structured.classes import MulticlassModel

    StructuralSVM(MulticlassModel(["a", "b"])).fit([[1.0], [-1.0]], ["a", "b"]).save("own.safetensors")
    assert run(["info", "own.safetensors"]) == 0
    assert run(["info", "own.safetensors", "--json"]) == 0
    assert "StructuralSVM" in capsys.readouterr().out
    for command in ("predict", "evaluate"):
        assert run([command, "own.safetensors", "words.txt"]) == 1
        assert "A StructuralSVM takes no svmlight files; use it in Python." in capsys.readouterr().err


def test_a_report_shows_held_out_sequences(files, capsys):
    (files / "test.txt").write_text("the B-NP\ncat I-NP\nbarks B-NP\n\n")
    assert train("--report", "run.html", "--test", "test.txt") == 0
    page = (files / "run.html").read_text()
    assert "On held-out sequences" in page
    assert "66.67" in page  # two of three tokens, as it says barks is O
    assert "Entities: F1" in page
    assert "Confusion matrix" in page
    assert "Tokens of each class" in page
    assert "Strongest features" in page
    assert "the" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--test", "words.txt"), "words.txt has 1 columns, the data to train on has 2."),
        (("--feature-names", "template"), "--feature-names is not for sequences"),
    ],
)
def test_reports_refuse_what_does_not_fit(files, capsys, options, message):
    assert train("--report", "run.html", *options) != 0
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (files / "m.safetensors").exists()
