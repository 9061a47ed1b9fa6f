"""Losses, regression and paths on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVR, load
from cutplane.cli import exit_codes
from cutplane.cli.app import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With classes.svm and targets.svm."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    targets = X @ [1.0, -2.0, 0.5] + 0.25 + 0.1 * rng.normal(size=80)
    for name, y in (("classes.svm", np.where(targets > 0, 1, -1)), ("targets.svm", targets)):
        rows = zip(y.tolist(), X, strict=True)
        Path(name).write_text(
            "".join(f"{t} " + " ".join(f"{j + 1}:{v:.6f}" for j, v in enumerate(x)) + "\n" for t, x in rows)
        )
    return tmp_path


def answer(capfd: Any, *arguments: str, status: int = 0) -> Any:
    assert run([*arguments, "--json"]) == status, capfd.readouterr().err
    return json.loads(capfd.readouterr().out)


def test_a_loss_by_name(folder, capfd):
    found = answer(capfd, "train", "classes.svm", "m", "--loss", "logistic")
    assert found["proven"]
    assert load("m").predict_proba(np.zeros((1, 3))).shape == (1, 2)


def test_probabilities_of_any_loss(folder, capfd):
    assert run(["convert", "classes.svm", "rows"]) == 0
    capfd.readouterr()
    for data in ("classes.svm", "rows"):
        assert answer(capfd, "train", data, "m", "--probability", "--loss", "squared_hinge")["proven"]
        model = load("m")
        assert model.calibration == "sigmoid"
        assert model.predict_proba(np.zeros((1, 3))).shape == (1, 2)
    assert run(["train", "targets.svm", "m", "--task", "regression", "--probability"]) == 2
    assert "--probability" in capfd.readouterr().err


def test_regression(folder, capfd):
    arguments = ("--task", "regression", "--loss", "quantile", "--loss-option", "quantile=0.9", "--C", "10")
    found = answer(capfd, "train", "targets.svm", "m", *arguments)
    assert found["proven"]
    assert "classes" not in found
    model = load("m")
    assert isinstance(model, LinearSVR)
    assert model.loss_options == {"quantile": 0.9}
    figures = answer(capfd, "evaluate", "m", "targets.svm")
    assert figures["r2"] > 0.9
    predictions = answer(capfd, "predict", "m", "targets.svm")["predictions"]
    assert np.mean(np.loadtxt("targets.svm", usecols=0) <= predictions) == pytest.approx(0.9, abs=0.05)
    assert run(["info", "m"]) == 0
    assert "LinearSVR" in capfd.readouterr().out
    assert run(["evaluate", "m", "targets.svm"]) == 0
    assert "mean absolute error" in capfd.readouterr().out


@pytest.mark.parametrize(("task", "data"), [("classes", "classes.svm"), ("regression", "targets.svm")])
def test_a_path(folder, capfd, task, data):
    wanted = ("--task", task, "--steps", "4", "--folds", "3", "--smallest", "0.01", "--largest", "10")
    found = answer(capfd, "path", data, *wanted, "--plot", "p.svg", "--model", "best")
    assert [round(each["C"], 6) for each in found["path"]] == [0.01, 0.1, 1.0, 10.0]
    assert all(each["gap"] <= 1e-3 and len(each["scores"]) == 3 for each in found["path"])
    lengths = [each["length"] for each in found["path"]]
    assert lengths == sorted(lengths)  # the price of long weights falls with C
    assert found["best_C"] == load("best").C_
    assert Path("p.svg").read_text().count("<svg") == 1
    assert run(["path", data, *wanted]) == 0
    assert "4 values of C" in capfd.readouterr().out


def test_a_path_that_is_certified(folder, capfd):
    wanted = ("--folds", "3", "--steps", "2", "--smallest", "0.1", "--largest", "1", "--certify")
    found = answer(capfd, "path", "classes.svm", *wanted, "0.2", "--plot", "p.svg", "--model", "best")
    said, model = found["certified"], load("best")
    assert said["proven"]
    assert said["error"] - said["lower_bound"] <= 0.2
    assert said["lower_bounds"] == model.certified_.lower_bounds.tolist()
    assert said["n_fits"] == len(found["path"])
    assert found["best_C"] == model.C_
    assert Path("p.svg").read_text().count("<svg") == 1
    assert run(["path", "classes.svm", *wanted, "0.2"]) == 0
    assert "no C from 0.1 to 1 has less than" in " ".join(capfd.readouterr().out.split())
    assert run(["path", "classes.svm", *wanted, "1e-9", "--max-fits", "2", "--quiet"]) == exit_codes.NOT_PROVEN


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("path targets.svm --task regression --certify 0.1", "it bounds an error rate"),
        ("path classes.svm --certify 2", "certify=2.0 must be a number greater than 0 and at most 1"),
        ("path classes.svm --certify 0.1 --scoring roc_auc", "certify bounds the error rate"),
        ("train classes.svm m --loss hings", "loss='hings' must be one of 'hinge'"),
        ("train classes.svm m --loss-option margin=2", "loss_options has 'margin'"),
        ("train classes.svm m --loss-option margin", "'margin' is not NAME=NUMBER"),
        ("path classes.svm --smallest 10 --largest 1", "10 is not below --largest 1"),
        ("path classes.svm --scoring nonsense", "scoring='nonsense' is no scorer of scikit-learn"),
        ("path targets.svm", "but classes are whole numbers"),
    ],
)
def test_bad_input(folder, capfd, arguments, words):
    assert run(arguments.split()) != 0
    assert words in capfd.readouterr().err


def test_a_regression_has_no_scores(folder, capfd):
    answer(capfd, "train", "targets.svm", "m", "--task", "regression")
    assert run(["predict", "m", "targets.svm", "--scores"]) != 0
    assert "is a regression" in capfd.readouterr().err
