"""Reports of kernel machines: the same page, from bounds that SMO proves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification

import cutplane
from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM

X, Y = make_classification(n_samples=80, n_features=5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
TWO = np.where(Y == 1, "yes", "no")


def written(model: cutplane.SVC, folder: Path, *examples: object) -> str:
    path = folder / "run.html"
    model.report(path, *examples)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("stopping", ["kkt", "gap"])
def test_two_classes(tmp_path: Path, stopping: str) -> None:
    model = SVC(C=2.0, stopping=stopping).fit(X, TWO)
    text = written(model, tmp_path, X, TWO)
    for words in ("Distance of the bounds", "Confusion matrix", "ROC", "recall", "kernel rows", "violation"):
        assert words in text
    assert "Strongest features" not in text
    assert "planes" not in text
    assert ("tolerance 0.001" in text) == (stopping == "gap")  # the mark on the axis of the gap
    ended = {"kkt": "The optimality conditions hold", "gap": "The tolerance that was asked for is proven"}
    assert ended[stopping] in text
    assert f"{int(model.n_iter_[0]):,} iterations" in text


def test_pairs_of_classes_are_named(tmp_path: Path) -> None:
    text = written(SVC().fit(X, Y), tmp_path, X, Y)
    for words in ("0 against 1", "0 against 2", "1 against 2", "the optimum of every pair of classes"):
        assert words in text
    text = written(SVC(multi_class="ovr").fit(X, Y), tmp_path, X, Y)
    assert "against" not in text.replace("against the rest", "")
    assert "the optimum of every class" in text


def test_weights_of_a_linear_kernel(tmp_path: Path) -> None:
    assert "Strongest features" in written(SVC(kernel="linear").fit(X, TWO), tmp_path)
    assert "Strongest features" not in written(SVC(kernel="linear").fit(X, Y), tmp_path)  # they are of pairs


def test_a_run_that_ended_early_is_no_success(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="max_iter"):
        model = SVC(C=100.0, max_iter=2).fit(X, TWO)
    text = written(model, tmp_path)
    assert "Stopped early" in text
    assert "The iteration limit came" in text
    model = SVC(stopping="pair").fit(X, TWO)
    assert "a rule that proves nothing" in written(model, tmp_path)


@pytest.mark.parametrize("model", [SVR(C=10.0), NuSVR(), NuSVC(), OneClassSVM(nu=0.3)], ids=lambda m: type(m).__name__)
def test_every_machine_and_its_file(model: SVC, tmp_path: Path) -> None:
    data, target = load_diabetes(return_X_y=True)
    data, target = data[:60], target[:60]
    y = target > 140 if isinstance(model, NuSVC) else target
    model.fit(data) if isinstance(model, OneClassSVM) else model.fit(data, y)
    examples = () if isinstance(model, OneClassSVM) else (data, y)
    text = written(model, tmp_path, *examples)
    assert "Certified convergence" in text
    assert ("Nine in ten within" in text) == isinstance(model, SVR | NuSVR)
    assert ("Confusion matrix" in text) == isinstance(model, NuSVC)
    model.save(tmp_path / "model")
    loaded = cutplane.load(tmp_path / "model")
    assert loaded.history_ == model.history_
    again = written(loaded, tmp_path, *examples)
    cut = again.index("Training report,")  # up to the date
    assert again[:cut] == text[:cut]
    assert again.count("<svg") == text.count("<svg")
