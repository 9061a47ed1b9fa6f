"""`cutplane train --task rank|ordinal` and what comes after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import load
from cutplane.cli.app import run
from cutplane.io.svmlight import save_svmlight


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = np.clip(np.rint(X[:, 0] + 1.0 + 0.3 * rng.normal(size=120)), 0, 3)
    path = tmp_path / "graded.svm"
    save_svmlight(path, X, y, qid=np.repeat(np.arange(12), 10))
    return path


def call(capsys: Any, *arguments: object) -> Any:
    assert run([str(each) for each in arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_rank_by_the_queries_of_the_file(graded: Path, tmp_path: Path, capsys: Any) -> None:
    model = tmp_path / "m.safetensors"
    said = call(capsys, "train", graded, model, "--task", "rank", "--C", 0.5, "--json")
    assert said["proven"] is True
    assert load(model).n_queries_ == 12
    measured = call(capsys, "evaluate", model, graded, "--json")
    assert {"ndcg@1", "ndcg@5", "ndcg@10", "map", "pair_accuracy", "roc_area"} <= set(measured)
    assert measured["n_queries"] == 12
    assert measured["pair_accuracy"] > 0.8
    assert call(capsys, "info", model, "--json")["kind"] == "RankSVM"
    scores = call(capsys, "predict", model, graded, "--json")["predictions"]
    assert len(scores) == 120
    assert run(["evaluate", str(model), str(graded)]) == 0
    assert "NDCG@10" in capsys.readouterr().out


def test_ordinal_classes(graded: Path, tmp_path: Path, capsys: Any) -> None:
    model = tmp_path / "m.safetensors"
    call(capsys, "train", graded, model, "--task", "ordinal", "--json")
    measured = call(capsys, "evaluate", model, graded, "--json")
    assert measured["mean_absolute_error"] < 0.5
    assert measured["accuracy"] > 0.5
    assert set(call(capsys, "predict", model, graded, "--json")["predictions"]) <= {0, 1, 2, 3}
    assert run(["info", str(model)]) == 0
    assert run(["evaluate", str(model), str(graded)]) == 0
    assert "mean absolute error" in capsys.readouterr().out


def test_a_file_without_queries_is_one_query(tmp_path: Path, capsys: Any) -> None:
    path, model = tmp_path / "plain.svm", tmp_path / "m.safetensors"
    save_svmlight(path, np.eye(4), np.arange(4.0))
    assert run(["train", str(path), str(model), "--task", "rank"]) == 0
    assert "has no qid" in capsys.readouterr().err
    assert load(model).n_queries_ == 1


def test_a_file_of_one_target_is_refused(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "one.svm"
    save_svmlight(path, np.eye(3), np.ones(3))
    assert run(["train", str(path), str(tmp_path / "m.safetensors"), "--task", "rank", "-q"]) == 1
    assert "no pair to compare" in capsys.readouterr().err
