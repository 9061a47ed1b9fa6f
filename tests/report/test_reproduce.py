"""What a report prints to train the same model again does train the same model."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import dump_svmlight_file

from cutplane import SVC, LinearSVC, LinearSVR, OneClassSVM, RankSVM, StringSVC, load
from cutplane.cli.app import run
from cutplane.report.build import render_report
from cutplane.report.calls import training_code, written
from cutplane.report.trained import Examples, Trained

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = (X[:, 0] + 0.3 * RNG.normal(size=80) > 0).astype(int)
QID = np.repeat(np.arange(8), 10)


def again(code: str, **names: Any) -> BaseEstimator:
    """What the printed lines train."""
    exec(code, names)
    return names["model"]


def printed(page: str) -> list[str]:
    """The command, where there is one, and the lines of Python."""
    section = page[page.index('<section id="reproduce"') :]
    return [html.unescape(each) for each in re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", section, re.DOTALL)]


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(C=0.3, tol=1e-5).fit(X, Y),
        LinearSVC(class_weight={0: 2.0, np.int64(1): 0.5}, loss="squared_hinge").fit(X, Y),
        LinearSVC(prior=np.array([0.5, 0.0, -0.25, 0.1])).fit(X, Y),
        LinearSVC(time_limit=np.float64(100.0), intercept_scaling=2.0).fit(X, Y),
        LinearSVR(loss="quantile", loss_options={"quantile": 0.3}).fit(X, X[:, 1]),
        SVC(kernel="linear", gamma=0.5).fit(X, Y),
        OneClassSVM(nu=0.3, kernel="linear").fit(X),
        RankSVM(C=0.1).fit(X, Y, qid=QID),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_lines_run_and_give_the_same_model(model: BaseEstimator) -> None:
    y = X[:, 1] if isinstance(model, LinearSVR) else Y
    (code,) = printed(render_report(Trained(model)))
    same = again(code, X=X, y=y, qid=QID)
    assert type(same) is type(model)
    assert np.array_equal(same.coef_, model.coef_)
    assert same.gap_ == model.gap_


def test_what_python_cannot_write_down_is_left_to_the_reader() -> None:
    def kernel(a: Any, b: Any) -> Any:
        return a @ b.T

    model = SVC(kernel=kernel).fit(X, Y)
    code = training_code(model)
    assert "# kernel: your own test_what_python_cannot_write_down_is_left_to_the_reader.<locals>.kernel" in code
    same = again(code, X=X, y=Y, kernel=kernel)
    assert np.array_equal(same.dual_coef_, model.dual_coef_)
    assert written([1, kernel]) is None
    assert written({"a": (1.5,), "b": float("inf")}) == "{'a': (1.5,), 'b': float(\"inf\")}"


def test_the_hash_tells_other_data() -> None:
    model = LinearSVC().fit(X, Y)
    pages = [render_report(Trained(model, train=Examples(data, Y))) for data in (X, X + 0.0, 2.0 * X)]
    hashes = [re.findall(r"[0-9a-f]{64}", page) for page in pages]
    assert hashes[0] == hashes[1] != hashes[2]


def trained(folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: str) -> None:
    """Run a command in a folder, then what its report prints, and compare the models."""
    monkeypatch.chdir(folder)
    command = f"train {arguments} --report 'my run.html' --quiet"
    assert run(shlex.split(command)) == 0
    first = load("m")
    page = Path("my run.html").read_text(encoding="utf-8")
    line, code = printed(page)
    Path("m").unlink()
    assert shlex.split(line)[0] == "cutplane"
    assert run(shlex.split(line)[1:]) == 0
    for other in (load("m"), again(code)):
        assert np.array_equal(other.coef_, first.coef_)
        assert other.gap_ == first.gap_
        assert [str(each) for each in other.classes_] == [str(each) for each in first.classes_]


def test_a_command_on_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump_svmlight_file(X.round(3), Y, str(tmp_path / "my data.svm"), zero_based=False)
    trained(tmp_path, monkeypatch, "'my data.svm' m --C 0.5 --tol 1e-4 --n-features 6 --class-weight balanced")
    assert len(re.findall(r"[0-9a-f]{64}", Path("my run.html").read_text(encoding="utf-8"))) == 1


def test_a_command_on_strings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = ["".join(row) for row in RNG.choice(list("ACGT"), size=(40, 6))]
    entries = [f">e{i} label={'yes' if s[2] == 'A' else 'no'}\n{s}\n" for i, s in enumerate(letters)]
    (tmp_path / "s.fasta").write_text("".join(entries))
    trained(tmp_path, monkeypatch, "s.fasta m --task strings --order 3 --spectrum 0:4 --spectrum-order 2 --C 10")


@pytest.mark.parametrize("template", [None, "U00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nB\n"])
def test_a_command_on_sequences(template: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "the D\ncat N\nsees V\n\na D\ndog N\nruns V\n\n"
    (tmp_path / "t.txt").write_text(3 * sentence)
    if template is not None:
        (tmp_path / "template").write_text(template)
    option = "" if template is None else " --template template"
    trained(tmp_path, monkeypatch, f"t.txt m --task sequence{option}")
    files = re.findall(r"[0-9a-f]{64}", Path("my run.html").read_text(encoding="utf-8"))
    assert len(files) == (1 if template is None else 2)


def test_string_models_in_python() -> None:
    strings, y = ["ACGT", "AAGT", "TCGA", "TAGA"], [0, 1, 0, 1]
    model = StringSVC(order=2, spectra=[(0, 3)], spectrum_order=1).fit(strings, y)
    same = again(training_code(model), X=strings, y=y)
    assert np.array_equal(same.coef_, model.coef_)
