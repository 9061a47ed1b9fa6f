"""`cutplane train` on a cluster: files that workers read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

from cutplane import LinearSVC, LinearSVR, load
from cutplane.cli.app import run

N, D, FILES = 240, 4, 3


@pytest.fixture(scope="module")
def address() -> Any:
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, Any]:
    """Folders tables and svm, with the same rows in several files."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(N, D)), 3)
    X[: N // FILES, -1] = 0.0  # of the last feature, the first svmlight file knows nothing
    z = np.round(X @ [1.0, -2.0, 0.5, 1.0] + 0.25 + 0.3 * rng.normal(size=N), 3)
    labels = np.where(z > 0, 1, -1)
    Path("tables").mkdir()
    Path("svm").mkdir()
    for k, part in enumerate(np.array_split(np.arange(N), FILES)):
        table = pd.DataFrame(X[part], columns=list("abcd")).assign(label=labels[part], z=z[part])
        table.drop(columns="z").to_parquet(f"tables/{k}.parquet")
        table.drop(columns="label").to_csv(f"tables/{k}.csv", index=False)
        lines = [
            f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v)
            for label, row in zip(labels[part], X[part], strict=True)
        ]
        Path(f"svm/{k}.svm").write_text("\n".join(lines) + "\n")
    return X, labels, z


def answer(capfd: Any, *arguments: str) -> Any:
    assert run([*arguments, "--json"]) == 0, capfd.readouterr().err
    return json.loads(capfd.readouterr().out)


def test_files_of_three_kinds(folder: Any, address: str, capfd: Any) -> None:
    X, labels, z = folder
    alone = LinearSVC(C=0.1).fit(X, labels)
    for name, extra in (("tables/*.parquet", ["--target", "label"]), ("svm/*.svm", [])):
        found = answer(capfd, "train", name, "m", "--dask", address, "--C", "0.1", *extra)
        assert found["proven"]
        assert found["n_examples"] == N
        model = load("m")
        assert model.lower_bound_ <= alone.objective_
        assert alone.lower_bound_ <= model.objective_
        assert model.n_features_in_ == D
    arguments = ["--dask", address, "--task", "regression", "--target", "z"]
    assert answer(capfd, "train", "tables/*.csv", "m", *arguments)["proven"]
    assert load("m").objective_ == pytest.approx(LinearSVR().fit(X, z).objective_, rel=2e-3)


@pytest.mark.nightly
def test_workers_of_its_own(folder: Any, capfd: Any) -> None:
    assert answer(capfd, "train", "svm/*.svm", "m", "--workers", "2")["n_examples"] == N


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none/*.svm", "m"], "No file is called none"),
        (["none/*.parquet", "m", "--target", "y"], "No file is called none"),
        (["none/*.csv", "m", "--target", "y"], "No file is called none"),
        (["tables/*.parquet", "m"], "names the column to learn"),
        (["tables/*.parquet", "m", "--target", "y"], "has no column 'y'; its columns are a, b, c, d, label"),
        (["svm/*.svm", "m", "--target", "y"], "is for Parquet and CSV files"),
        (["svm/*.svm", "m", "--task", "rank"], "others train in one process"),
        (["svm/*.svm", "m", "--proof"], "not on a cluster"),
    ],
)
def test_what_is_refused(folder: Any, address: str, capfd: Any, arguments: list[str], message: str) -> None:
    assert run(["train", *arguments, "--dask", address]) != 0
    assert message in " ".join(capfd.readouterr().err.split())
    assert not Path("m").exists()


def test_a_target_needs_a_table(folder: Any, capfd: Any) -> None:
    assert run(["train", "svm/0.svm", "m", "--target", "y"]) != 0
    assert "--target is for Parquet and CSV files" in " ".join(capfd.readouterr().err.split())
