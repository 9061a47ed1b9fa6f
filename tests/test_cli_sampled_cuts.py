"""`cutplane train --kernel --sampled-cuts`, and the other commands on the models it saves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import KernelStructuralSVM, SampledCutSVC, load
from cutplane.cli.app import run
from cutplane.io.svmlight import load_svmlight
from cutplane.structured.chain import ChainModel

Command = Callable[..., tuple[int, str, str]]
SENTENCES = ["the dog barks", "a cat sleeps", "dogs bark", "the cat barks"]
LABELS = ["B-NP I-NP O", "B-NP I-NP O", "B-NP O", "B-NP I-NP O"]

CUTS = ("--kernel", "rbf", "--sampled-cuts", "linear")


@pytest.fixture
def cutplane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Command:
    """Run the command in a folder with rings.svm (two classes), three.svm (three) and tokens.txt (sequences)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUTPLANE_DEBUG", raising=False)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    radius = np.linalg.norm(X, axis=1)
    for name, labels in (("rings", np.where(radius > 1.2, 1, -1)), ("three", np.digitize(radius, [0.8, 1.5]))):
        lines = [f"{label} 1:{row[0]:.6f} 2:{row[1]:.6f}" for label, row in zip(labels, X, strict=True)]
        Path(f"{name}.svm").write_text("\n".join(lines) + "\n")
    tokens = [zip(a.split(), b.split(), strict=True) for a, b in zip(SENTENCES, LABELS, strict=True)]
    Path("tokens.txt").write_text("\n".join("".join(f"{word} {tag}\n" for word, tag in each) for each in tokens))

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(list(arguments))
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.mark.parametrize("data", ["rings.svm", "three.svm"])
@pytest.mark.parametrize("algorithm", ["linear", "constant", "exact"])
def test_classes(cutplane: Command, data: str, algorithm: str) -> None:
    options = ("--gamma", "1", "--C", "10", "--risk-tol", "0.01", "--n-samples-cut", "80")
    status, out, err = cutplane("train", data, "m", "--kernel", "rbf", "--sampled-cuts", algorithm, *options)
    assert status == 0, err
    assert "within the tolerance of the cuts' model" in out
    assert ("proven within" in out) == (algorithm != "constant")
    model = load("m")
    assert isinstance(model, SampledCutSVC)
    X, y = load_svmlight(Path(data))[:2]
    expected = SampledCutSVC(10.0, gamma=1.0, method=algorithm, n_samples_cut=80, risk_tol=0.01).fit(X, y.astype(int))
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    status, out, _ = cutplane("predict", "m", data, "--scores")
    assert [int(line.split("\t")[0]) for line in out.splitlines()] == expected.predict(X).tolist()
    status, out, _ = cutplane("evaluate", "m", data, "--json")
    assert json.loads(out)["accuracy"] == pytest.approx(expected.score(X, y.astype(int)))
    status, out, _ = cutplane("info", "m")
    assert status == 0
    assert f"{len(model.support_):,} support vectors" in out
    assert ("prove no gap" in out) == (algorithm == "constant")


def test_numbers_for_machines(cutplane: Command) -> None:
    arguments = ("train", "rings.svm", "m", "--kernel", "rbf", "--sampled-cuts", "linear", "--json")
    found = json.loads(cutplane(*arguments)[1])
    assert 0.0 < found["lower_bound"] <= found["objective"]
    assert found["gap"] == pytest.approx(1.0 - found["lower_bound"] / found["objective"])
    assert found["proven"] is False  # the gap is; that it is as small as risk_tol is not
    assert found["bound"] > 0
    assert found["bound_probability"] == 0.95
    assert found["violation"] <= found["risk_tol"] == 1e-3
    assert json.loads(cutplane("info", "m", "--json")[1])["n_support_vectors"] > 0


def test_a_report(cutplane: Command) -> None:
    arguments = ("train", "rings.svm", "m", "--kernel", "rbf", "--sampled-cuts", "constant", "--test", "rings.svm")
    assert cutplane(*arguments, "--n-samples-cut", "50", "--report", "r.html")[0] == 0
    assert "Cuts of sampled examples prove no gap" in Path("r.html").read_text()


def test_a_run_that_ends_early_has_its_status(cutplane: Command) -> None:
    arguments = ("train", "rings.svm", "m", "--kernel", "rbf", "--sampled-cuts", "linear", "--C", "100")
    status, out, _ = cutplane(*arguments, "--max-iter", "3")
    assert status == 3
    assert "the iteration limit came first" in out


@pytest.mark.parametrize("algorithm", [None, "linear"])
def test_label_sequences(cutplane: Command, algorithm: str | None) -> None:
    more = () if algorithm is None else ("--sampled-cuts", algorithm, "--n-samples-cut", "4")
    status, out, err = cutplane(
        "train", "tokens.txt", "m", "--task", "sequence", "--kernel", "poly", "--coef0", "1", "--C", "10", *more
    )
    assert status == 0, err
    assert "4 sequences, 11 tokens" in out
    assert isinstance(load("m"), KernelStructuralSVM)
    status, out, _ = cutplane("evaluate", "m", "tokens.txt", "--json")
    assert (json.loads(out)["accuracy"], json.loads(out)["f1"]) == (1.0, 1.0)
    Path("words.txt").write_text("the\ndog\nsleeps\n")
    assert cutplane("predict", "m", "words.txt")[1] == "the B-NP\ndog I-NP\nsleeps O\n\n"
    status, out, _ = cutplane("info", "m")
    assert status == 0
    assert "proven within" in out


def test_a_chain_trained_in_python_takes_no_files(cutplane: Command) -> None:
    KernelStructuralSVM(ChainModel(2, 1)).fit([np.array([[0.0], [1.0]])], [[0, 1]]).save("m")
    status, _, err = cutplane("predict", "m", "tokens.txt")
    assert status == 1
    assert "trained in Python takes no files" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--sampled-cuts", "linear"), "needs --kernel"),
        (("--kernel", "rbf", "--n-samples-cut", "5"), "needs --sampled-cuts"),
        (("--kernel", "rbf", "--sampled-cuts", "fast"), "'fast'"),
        (
            ("--kernel", "rbf", "--sampled-cuts", "linear", "--n-samples-cut", "0"),
            "Invalid value for '--n-samples-cut': ",  # typer's words, or pydantic's where it is installed
        ),
        (
            ("--kernel", "rbf", "--sampled-cuts", "linear", "--n-samples-cut", "121"),
            "121 is more than the 120 examples of",
        ),
        (("--kernel", "rbf", "--sampled-cuts", "linear", "--probability"), "is not for models by cuts"),
        (
            ("--kernel", "rbf", "--sampled-cuts", "linear", "--class-weight", "balanced"),
            "every example weighs the same",
        ),
        (("--kernel", "rbf", "--sampled-cuts", "linear", "--plot", "p.png"), "take --report"),
        (("--kernel", "rbf", "--sampled-cuts", "linear", "--task", "regression"), "is for --task classes and sequence"),
        (("--kernel", "rbf", "--sampled-cuts", "linear", "--method", "oca"), "--method is for linear models"),
    ],
)
def test_bad_options_are_one_sentence(cutplane: Command, options: tuple[str, ...], words: str) -> None:
    status, out, err = cutplane("train", "rings.svm", "m", *options)
    assert status in (1, 2)
    assert words in " ".join(err.split())
    assert out == ""
    assert not Path("m").exists()
