"""`cutplane path` for every task: a grid of C, or of C and gamma, judged by folds that others can compute, too."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.svm import SVC

from cutplane import RankSVM
from cutplane.cli.app import run
from cutplane.estimators.loading import load
from cutplane.io.svmlight import load_svmlight, save_svmlight

Command = Callable[..., Any]
SENTENCES = "the DT B\ndog NN I\nbarks VB O\n\na DT B\ncat NN I\nsees VB O\nthe DT B\ndog NN I\n\n"
GRID = {
    "rank": "path rank.svm --task rank",
    "ordinal": "path rank.svm --task ordinal",
    "strings": "path dna.fasta --task strings --order 2",
    "sequence": "path tokens.txt --task sequence",
    "classes": "path data.svm --kernel rbf",
    "regression": "path data.svm --task regression --kernel rbf",
    "linear": "path data.svm",
}


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Command:
    """Run a command that prints JSON in a folder with a file for each task."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(120, 3)), 3)
    y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 + 0.3 * rng.normal(size=120) > 1.5, 1, -1)
    save_svmlight("data.svm", X, y)
    grades = np.clip(np.rint(X[:, 0] + 0.8 * rng.normal(size=120) + 1.0), 0, 2).astype(int)
    save_svmlight("rank.svm", X, grades, qid=np.arange(120) // 8)
    letters = rng.choice(list("ACGT"), size=(90, 12))
    letters[::3, 4:8] = list("GATT")
    entries = [f">label={'site' if k % 3 == 0 else 'other'}\n{''.join(row)}\n" for k, row in enumerate(letters)]
    Path("dna.fasta").write_text("".join(entries))
    Path("tokens.txt").write_text(SENTENCES * 6)

    def call(*words: str) -> Any:
        capfd.readouterr()
        status = run([*words, "--json"])
        captured = capfd.readouterr()
        assert status == 0, captured.err
        return json.loads(captured.out)

    return call


@pytest.mark.parametrize("task", GRID)
def test_every_task_has_a_path_a_picture_a_report_and_a_model(answer: Command, task: str, capfd: Any) -> None:
    words = [*GRID[task].split(), "--folds", "3", "--C", "1,0.1"]
    found = answer(*words, "--model", "m", "--plot", "p.svg", "--report", "r.html")
    assert [point["C"] for point in found["path"]] == [0.1, 1.0]
    means = [np.mean(point["scores"]) for point in found["path"]]
    assert all(len(point["scores"]) == 3 for point in found["path"])
    assert found["best_score"] == pytest.approx(max(means))
    assert found["best_C"] == [0.1, 1.0][int(np.argmax(means))]
    model = load("m")
    assert getattr(model, "C_", model.C) == found["best_C"]
    assert Path("p.svg").read_text().count("<svg") == 1
    page = Path("r.html").read_text()
    assert "Chosen by cross-validation" in page
    assert f"C = {found['best_C']:.3g}: a mean {found['scoring']}" in page
    assert run(words) == 0
    out = capfd.readouterr().out
    assert "2 values of C" in out
    assert out.count("best") == 1
    assert "…" not in out  # nothing is cut off at 80 columns


@pytest.mark.nightly
def test_a_grid_of_c_and_gamma_is_that_of_scikit_learn(answer: Command, capfd: Any) -> None:
    words = ("path", "data.svm", "--kernel", "rbf", "--folds", "4", "--C", "0.1:10:3", "--gamma", "0.1,1")
    found = answer(*words, "--tol", "1e-6", "--model", "m", "--plot", "p.svg", "--report", "r.html")
    data = load_svmlight("data.svm")
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
    theirs = GridSearchCV(SVC(tol=1e-6), grid, cv=folds).fit(data.X.toarray(), data.y).cv_results_
    pairs = zip(theirs["params"], theirs["mean_test_score"], strict=True)
    expected = {(each["C"], each["gamma"]): score for each, score in pairs}
    for point in found["path"]:
        assert np.mean(point["scores"]) == pytest.approx(expected[round(point["C"], 9), point["gamma"]], abs=1e-12)
    assert expected[round(found["best_C"], 9), found["best_gamma"]] == max(expected.values())
    assert (load("m").C, load("m").gamma) == (found["best_C"], found["best_gamma"])
    page = Path("r.html").read_text()
    assert 'class="chosen"' in page  # the frame around the best cell of the heat map
    assert run(list(words)) == 0
    assert "C \\ gamma" in capfd.readouterr().out


def test_queries_stay_whole(answer: Command) -> None:
    """Pair accuracy of each fold, by all pairs of each query."""
    words = ("--task", "rank", "--folds", "3", "--C", "0.5,5", "--tol", "1e-8")
    found = answer("path", "rank.svm", *words)
    assert found["scoring"] == "pair accuracy"
    data = load_svmlight("rank.svm")
    for point in found["path"]:
        for (rest, part), score in zip(GroupKFold(3).split(data.y, groups=data.qid), point["scores"], strict=True):
            assert set(data.qid[rest]).isdisjoint(data.qid[part])
            model = RankSVM(C=point["C"], tol=1e-8).fit(data.X[rest], data.y[rest], qid=data.qid[rest])
            assert score == pytest.approx(_pairs(data.y[part], model.predict(data.X[part]), data.qid[part]), abs=1e-12)
    chosen = answer("path", "rank.svm", *words, "--scoring", "ndcg@5")
    assert chosen["scoring"] == "NDCG@5"
    assert chosen["path"][0]["figures"] == found["path"][0]["figures"]


def _pairs(y: Any, scores: Any, qid: Any) -> float:
    shares = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        pairs = [(i, j) if y[i] > y[j] else (j, i) for i, j in combinations(rows, 2) if y[i] != y[j]]
        if pairs:
            shares.append(np.mean([(scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]) for i, j in pairs]))
    return float(np.mean(shares))


@pytest.mark.parametrize("task", ["sequence", "classes", "regression", "strings", "ordinal"])
def test_a_point_of_the_path_is_what_cross_validation_says(answer: Command, task: str) -> None:
    words = [*GRID[task].split(), "--folds", "3", "--tol", "1e-6"]
    point = answer(*words, "--C", "0.3")["path"][0]
    alone = answer("cross-validate", *words[1:], "--C", "0.3")
    assert point["scores"] == pytest.approx([fold["score"] for fold in alone["folds"]], abs=1e-12)
    names = [*alone["folds"][0]["figures"]]
    assert [*point["figures"]] == names
    assert alone["scoring"] == names[0]


def test_cuts_of_samples_are_divided_too(answer: Command) -> None:
    words = ("data.svm", "--kernel", "rbf", "--sampled-cuts", "linear", "--folds", "3")
    alone = answer("cross-validate", *words, "--C", "1")
    assert 0.0 < alone["folds"][0]["gap"] < 0.2
    assert answer("path", *words, "--C", "1")["path"][0]["scores"] == [fold["score"] for fold in alone["folds"]]


def test_ties_go_to_the_least_c(answer: Command) -> None:
    Path("easy.svm").write_text("".join(f"{1 if k % 2 else -1} 1:{5 if k % 2 else -5}\n" for k in range(30)))
    assert answer("path", "easy.svm", "--kernel", "rbf", "--C", "1,2,3", "--folds", "3")["best_C"] == 1.0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("data.svm --task rank", "no qid, by which rankings are divided"),
        ("rank.svm --task rank --folds 20", "it has 15 queries only, fewer than --folds 20"),
        ("tokens.txt --task sequence --folds 50", "it has 12 examples only, fewer than --folds 50"),
        ("dna.fasta --task strings --folds 50", "a class has 30 examples only, fewer than --folds 50"),
        ("tokens.txt --task sequence --kernel rbf", "is not for folds of --task sequence"),
        ("rank.svm --task rank --scoring accuracy", "is none of the figures of this task: pair_accuracy, ndcg@5"),
        ("data.svm --C 0,1", "'0,1' is neither positive numbers, as 0.1,1,10, nor FROM:TO:COUNT"),
        ("data.svm --C 1:0.1:3", "'1:0.1:3' is neither"),
        ("data.svm --C 1 --steps 3", "--steps is not for --C"),
        ("data.svm --gamma 1,2", "--gamma needs --kernel"),
        ("data.svm --kernel rbf --gamma wide", "'wide' is neither"),
        ("data.svm --kernel rbf --certify 0.1", "--certify is for --task classes without --kernel"),
        ("data.svm --certify 0.1 --report r.html", "the picture of --certify is --plot"),
        ("data.svm --max-fits 5", "--max-fits needs --certify"),
        ("data.svm --order 3", "--order is for --task strings"),
        ("data.svm --report r.txt", "does not end in .html"),
        ("data.svm --model data.svm", "is named for reading and for writing"),
    ],
)
def test_what_has_no_path_is_one_sentence(answer: Command, capfd: Any, words: str, sentence: str) -> None:
    assert run(["path", *words.split()]) in (1, 2)
    err = capfd.readouterr().err
    assert sentence in err
    assert "Traceback" not in err
