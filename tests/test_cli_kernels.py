"""`cutplane train --kernel`, and the other commands on the models it saves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM, load
from cutplane.cli.app import run
from cutplane.io.svmlight import load_svmlight

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cutplane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Command:
    """Run the command in a folder with rings.svm (two classes), three.svm (three) and curve.svm (a regression)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUTPLANE_DEBUG", raising=False)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    radius = np.linalg.norm(X, axis=1)
    write(Path("rings.svm"), np.where(radius > 1.2, 1, -1), X)
    write(Path("three.svm"), np.digitize(radius, [0.8, 1.5]), X)
    write(Path("curve.svm"), np.round(np.sin(2 * X[:, 0]) + 0.05 * rng.normal(size=90), 6), X)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(list(arguments))
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return call


def write(path: Path, y: Any, X: Any) -> None:
    lines = [f"{label} 1:{row[0]:.6f} 2:{row[1]:.6f}" for label, row in zip(y, X, strict=True)]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("data", ["rings.svm", "three.svm"])
def test_classes(cutplane: Command, data: str) -> None:
    status, out, err = cutplane("train", data, "m", "--kernel", "rbf", "--gamma", "0.5", "--C", "10")
    assert status == 0, err
    assert "proven within" in out
    assert "the optimality conditions hold within the tolerance" in out
    model = load("m")
    assert isinstance(model, SVC)
    X, y = load_svmlight(Path(data))[:2]
    expected = SVC(C=10.0, gamma=0.5).fit(X, y.astype(int))
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))

    status, out, _ = cutplane("predict", "m", data, "--scores")
    assert status == 0
    assert [int(line.split("\t")[0]) for line in out.splitlines()] == expected.predict(X).tolist()
    status, out, _ = cutplane("evaluate", "m", data, "--json")
    assert status == 0
    assert json.loads(out)["accuracy"] == pytest.approx(expected.score(X, y.astype(int)))
    status, out, _ = cutplane("info", "m")
    assert status == 0
    assert "SVC(C=10.0, gamma=0.5" in out
    assert f"{len(expected.support_)} support vectors" in out
    assert ("for each pair of classes" in out) == (data == "three.svm")
    assert json.loads(cutplane("info", "m", "--json")[1])["n_support_vectors"] == len(expected.support_)


def test_regression(cutplane: Command) -> None:
    arguments = ("train", "curve.svm", "m", "--task", "regression", "--kernel", "rbf", "--epsilon", "0.05", "--C", "5")
    status, out, err = cutplane(*arguments)
    assert status == 0, err
    assert "classes" not in out
    model = load("m")
    assert isinstance(model, SVR)
    assert model.epsilon == 0.05
    X, _ = load_svmlight(Path("curve.svm"))[:2]
    status, out, _ = cutplane("predict", "m", "curve.svm")
    np.testing.assert_allclose([float(line) for line in out.splitlines()], model.predict(X))
    status, out, _ = cutplane("evaluate", "m", "curve.svm", "--json")
    assert json.loads(out)["r2"] > 0.9
    assert cutplane("info", "m")[0] == 0


def test_other_kernels_and_their_options(cutplane: Command) -> None:
    options = ("--degree", "2", "--coef0", "1", "--gamma", "auto", "--cache-size", "10", "--probability")
    assert cutplane("train", "rings.svm", "m", "--kernel", "poly", *options)[0] == 0
    model = load("m")
    assert (model.degree, model.coef0, model.gamma, model.cache_size, model.probability) == (2, 1.0, "auto", 10.0, True)


def test_plots_and_json(cutplane: Command) -> None:
    status, out, _ = cutplane("train", "three.svm", "m", "--kernel", "rbf", "--plot", "c.png", "--json")
    assert status == 0
    assert [each["problem"] for each in json.loads(out)["problems"]] == [[0, 1], [0, 2], [1, 2]]
    assert json.loads(out)["proven"] is True
    assert Path("c.png").stat().st_size > 0


def test_a_limit_is_said_in_the_exit_status(cutplane: Command) -> None:
    status, out, _ = cutplane("train", "rings.svm", "m", "--kernel", "rbf", "--max-iter", "3", "--tol", "1e-9")
    assert status == 3
    assert "the iteration limit came first" in out
    assert load("m").n_iter_.tolist() == [3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kernel", "gauss"), "'gauss'"),
        (("--kernel", "rbf", "--gamma", "wide"), "'wide' is not a number, 'scale' or 'auto'"),
        (("--kernel", "rbf", "--gamma", "-1"), "not a positive number"),
        (("--kernel", "rbf", "--no-intercept"), "--no-intercept is for linear models"),
        (("--kernel", "rbf", "--method", "oca"), "--method is for linear models"),
        (("--kernel", "rbf", "--epsilon", "-1"), "-1 is not a number of 0 or more"),
        (("--kernel", "chi2"), "the chi2 kernel needs values of 0 or greater"),
    ],
    ids=str,
)
def test_bad_options_are_one_sentence(cutplane: Command, arguments: tuple[str, ...], words: str) -> None:
    status, _, err = cutplane("train", "rings.svm", "m", *arguments)
    assert status in (1, 2)
    assert words in err
    assert not Path("m").exists()


def test_targets_are_no_classes(cutplane: Command) -> None:
    status, _, err = cutplane("train", "curve.svm", "m", "--kernel", "rbf")
    assert status == 1
    assert "classes are whole numbers" in err


@pytest.mark.parametrize("data", ["rings.svm", "three.svm"])
def test_reports(cutplane: Command, data: str) -> None:
    Path("names").write_text("width\nheight\n")
    arguments = ("train", data, "m", "--kernel", "rbf", "--report", "run.html", "--test", data)
    status, out, err = cutplane(*arguments, "--feature-names", "names")
    assert status == 0, err
    assert "run.html" in out
    text = Path("run.html").read_text(encoding="utf-8")
    for words in ("Certified convergence", "Confusion matrix", "ROC", "kernel rows", "--kernel rbf --report run.html"):
        assert words in text
    assert "Strongest features" not in text


def test_a_report_of_a_regression(cutplane: Command) -> None:
    arguments = ("train", "curve.svm", "m", "--task", "regression", "--kernel", "rbf", "--C", "5")
    status, _, err = cutplane(*arguments, "--report", "run.html", "--test", "curve.svm")
    assert status == 0, err
    assert "Nine in ten within" in Path("run.html").read_text(encoding="utf-8")


def test_a_report_of_examples_with_more_features(cutplane: Command) -> None:
    Path("wide.svm").write_text("1 3:1\n")
    arguments = ("train", "rings.svm", "m", "--kernel", "rbf", "--report", "run.html", "--test", "wide.svm")
    status, _, err = cutplane(*arguments)
    assert status == 1
    assert "wide.svm has 3 features, but the data to train on has 2" in err
    assert not Path("m").exists()


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR, NuSVR, OneClassSVM])
def test_other_commands_on_every_machine(cutplane: Command, kind: type, kernel: str) -> None:
    X, y = load_svmlight(Path("curve.svm"))[:2]
    if kind not in (SVR, NuSVR):
        y = np.sign(X.toarray()[:, 0]) if kind is OneClassSVM else np.digitize(X.toarray()[:, 0], [-0.5, 0.5])
    X = (X @ X.T).toarray() if kernel == "precomputed" else X.toarray()
    data = "written.svm"
    lines = [" ".join(f"{k + 1}:{value!r}" for k, value in enumerate(row.tolist())) for row in X]
    Path(data).write_text("".join(f"{label:g} {line}\n" for label, line in zip(y, lines, strict=True)))
    model = kind(kernel=kernel).fit(X) if kind is OneClassSVM else kind(kernel=kernel).fit(X, y)
    model.save("m")
    status, out, err = cutplane("info", "m")
    assert status == 0, err
    assert kind.__name__ in out
    assert cutplane("info", "m", "--json")[0] == 0
    status, out, err = cutplane("predict", "m", data)
    assert status == 0, err
    np.testing.assert_allclose([float(line) for line in out.splitlines()], model.predict(X), atol=1e-6)
    assert cutplane("evaluate", "m", data)[0] == 0
    status, out, err = cutplane("evaluate", "m", data, "--json")
    assert status == 0, err
    if kind in (SVR, NuSVR):
        assert json.loads(out)["r2"] == pytest.approx(model.score(X, y), abs=1e-5)
    else:
        assert json.loads(out)["accuracy"] == pytest.approx(np.mean(model.predict(X) == y))


@pytest.mark.parametrize(("data", "task", "problems"), [("three", "classes", 3), ("curve", "regression", 1)])
def test_a_proof_of_a_kernel_machine_is_verified(cutplane: Command, data: str, task: str, problems: int) -> None:
    status, _, said = cutplane("train", f"{data}.svm", "m", "--kernel", "rbf", "--task", task, "--proof", "-q")
    assert status == 0, said
    status, out, _ = cutplane("verify", "m", f"{data}.svm", "--json")
    assert status == 0
    found = json.loads(out)
    assert found["verified"]
    assert len(found["problems"]) == problems
    assert all(problem["lower_bound"] <= problem["objective"] for problem in found["problems"])
    assert cutplane("verify", "m", f"{data}.svm")[0] == 0
    text = Path(f"{data}.svm").read_text()
    Path("other.svm").write_text(text.replace("1:", "1:-", 1).replace("1:--", "1:", 1))
    status, _, said = cutplane("verify", "m", "other.svm")
    assert status != 0
    assert "other data" in said
