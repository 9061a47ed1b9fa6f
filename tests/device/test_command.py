"""`--device` of the commands that train: the same models, trained on a GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import load
from cutplane.cli.app import run
from cutplane.device import arrays
from cutplane.device.kernels import Kernels


@pytest.fixture(autouse=True)
def folder(kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With classes.svm, numbers.svm and strings.fa, and a device."""
    monkeypatch.setattr(arrays, "cuda_kernels", lambda: kernels)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    z = X[:, 0] + 0.1 * rng.normal(size=120)
    for name, labels in (("classes", np.where(z > 0, 1, -1)), ("numbers", z.round(4))):
        rows = (" ".join(f"{j + 1}:{v:.5f}" for j, v in enumerate(row)) for row in X)
        lines = [f"{label} {row}" for label, row in zip(labels, rows, strict=True)]
        Path(f"{name}.svm").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "options",
    [
        ["classes.svm"],
        ["classes.svm", "--loss", "logistic", "--no-intercept"],
        ["classes.svm", "--kernel", "rbf", "--gamma", "0.5"],
        ["classes.svm", "--kernel", "rbf", "--sampled-cuts", "linear"],
        ["numbers.svm", "--task", "regression"],
        ["numbers.svm", "--task", "regression", "--kernel", "rbf"],
    ],
)
def test_train(options: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    data, *rest = options
    found: list[Any] = []
    for name, place in (("here", []), ("there", ["--device", "cuda"])):
        assert run(["train", data, name, *rest, *place, "--json"]) == 0
        found.append(json.loads(capfd.readouterr().out))
    assert load("there").device == "cuda"
    here, there = found
    assert there["lower_bound"] <= here["objective"]
    assert here["lower_bound"] <= there["objective"]
    assert run(["predict", "there", data, "-o", "p.txt"]) == 0


def test_a_path_and_folds(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["path", "classes.svm", "--C", "0.1", "--C", "1", "--device", "cuda", "--json"]) == 0
    assert run(["cross-validate", "classes.svm", "--C", "0.1", "--C", "1", "--device", "cuda", "--json"]) == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--device", "tpu"], "must be 'cuda'"),
        (["--device", "cuda:0,cuda:77"], "cuda:77"),
        (["--device", "cuda", "--task", "sequence"], "is not for sequences, which are trained on the processor"),
    ],
)
def test_what_is_refused(options: list[str], sentence: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "classes.svm", "model", *options]) != 0
    said = " ".join(capfd.readouterr().err.replace("│", " ").split())
    assert sentence in said
    assert not Path("model").exists()
