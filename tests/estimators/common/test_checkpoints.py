"""A fit that was killed goes on from its checkpoint; checkpoints of other fits are refused."""

from __future__ import annotations

import os
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cutplane import (
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    OrdinalSVC,
    RankSVM,
    SequenceSVM,
    StringSVC,
    StructuralSVM,
    load,
)
from cutplane.estimators.common import checkpoint
from cutplane.io.atomic import OutputError
from cutplane.io.checkpoint_file import CheckpointError
from cutplane.io.model_file import write_model
from cutplane.risks.hinge import Hinge
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.structured.classes import MulticlassModel

SLOW: dict[str, Any] = {"tol": 1e-5, "method": "oca"}
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "two classes": (LinearSVC, {"C": 10.0, **SLOW}),
    "three classes": (LinearSVC, {"C": 10.0, **SLOW}),
    "together": (LinearSVC, {"C": 10.0, "multi_class": "crammer_singer", **SLOW}),
    "nonnegative": (LinearSVC, {"C": 10.0, "nonnegative": True, **SLOW}),
    "regression": (LinearSVR, {"C": 10.0, **SLOW}),
    "ranking": (RankSVM, {"C": 10.0, **SLOW}),
    "ordinal": (OrdinalSVC, {"C": 10.0, **SLOW}),
    "one class": (LinearOneClassSVM, {"nu": 0.3, **SLOW, "tol": 1e-7}),
    "strings": (StringSVC, {"C": 1.0, "order": 4, **SLOW}),
    "labels": (StructuralSVM, {"model": MulticlassModel(range(3)), "tol": 1e-4, "method": "oca"}),
    "sequences": (SequenceSVM, {"C": 1.0, "tol": 1e-4, "method": "one-slack"}),
}


def made(name: str, path: Any, **more: Any) -> Any:
    kind, settings = MODELS[name]
    return kind(**settings, checkpoint=path, **more)


def examples(name: str, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 25))
    if name == "one class":
        X += 1.0
    if name == "strings":
        X = np.array(["".join(rng.choice(list("ACGT"), 12)) for _ in range(200)])
        return X, rng.integers(2, size=200)
    if name == "sequences":
        tokens = np.split(X[:, :5], 30)
        return tokens, [np.digitize(each[:, 0] + 0.3 * rng.normal(size=10), [0.0]).tolist() for each in tokens]
    noisy = X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=300)
    y = noisy if name == "regression" else np.digitize(noisy, [-0.5, 0.5])
    return X, np.minimum(y, 1) if name in ("two classes", "nonnegative") else y


def killed(name: str, path: Path, iterations: int) -> None:
    """Fit in a child of fork and kill it, without a warning, after so many iterations."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            fit_slowly(name, path, write)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb", buffering=0) as steps:
        for _ in range(iterations):
            assert steps.read(1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def fit_slowly(name: str, path: Path, progress: int) -> None:
    """The same fit as elsewhere, slowed down, with a byte and a checkpoint after each iteration."""

    def slowly(step: Any) -> None:
        os.write(progress, b".")
        time.sleep(0.003)

    checkpoint._MOST_OF_THE_TIME = 1e9
    made(name, path, checkpoint_every=1e-3, on_step=slowly).fit(*examples(name))


def iterations(model: Any) -> int:
    return len(model.history_)


@pytest.mark.nightly
@pytest.mark.parametrize("name", MODELS)
def test_a_killed_fit_goes_on(tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples(name)
    steps: list[Any] = []
    whole = made(name, None).fit(X, y)
    count = iterations(whole)
    killed(name, path, max(3, 2 * count // 3))
    assert path.exists()
    model = made(name, path, on_step=steps.append).fit(X, y)
    assert len(steps) < 0.8 * count
    assert model.gap_ <= model.tol
    # Both certificates are of the same optimum.
    for one, other in zip(model.certificates_, whole.certificates_, strict=True):
        assert one.lower_bound <= other.objective
        assert other.lower_bound <= one.objective
    assert not path.exists()


def test_classes_that_were_done_are_not_trained_again(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples("three classes")
    whole = made("three classes", None).fit(X, y)
    first = whole.certificates_[0].n_iter
    killed("three classes", path, first + 5)
    steps: list[Any] = []
    model = made("three classes", path, on_step=steps.append).fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], whole.coef_[0])
    done, *others = model.certificates_
    assert (done.objective, done.lower_bound) == (whole.certificates_[0].objective, whole.certificates_[0].lower_bound)
    assert len(done.history) == first
    assert len(steps) == sum(each.n_iter for each in others)


def stopped(path: Path, X: Any, y: Any, at: int = 6, **settings: Any) -> None:
    """Leave the checkpoint of a fit that was interrupted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        settings = {"tol": 1e-8, "method": "oca", **settings}
        LinearSVC(checkpoint=path, on_step=lambda step: step.iteration >= at, **settings).fit(X, y)


@pytest.mark.parametrize("method", ["auto", "newton", "cpa"])
def test_any_method_goes_on(tmp_path: Path, method: str) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples("two classes")
    stopped(path, X, y)
    assert path.exists()  # Ctrl-C may be followed by more
    model = LinearSVC(tol=1e-6, method=method, checkpoint=path).fit(X, y)
    assert model.gap_ <= 1e-6
    assert not path.exists()


def test_dual_variables_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.ckpt"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3000))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, 1, -1)
    settings: dict[str, Any] = {"C": 1e-4, "method": "auto", "tol": 1e-9}
    epochs: list[int] = []
    sweep = ExampleAscent.epoch
    monkeypatch.setattr(ExampleAscent, "epoch", lambda self: epochs.append(1) or sweep(self))
    whole = LinearSVC(**settings).fit(X, y)
    alone = len(epochs)
    stopped(path, X, y, at=len(whole.history_) - 1, **settings)
    epochs.clear()
    model = LinearSVC(**settings, checkpoint=path).fit(X, y)
    assert model.gap_ <= 1e-9
    assert 0 < len(epochs) < alone


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("the values of X", lambda X, y, w: (X + 1e-9, y, w, {})),
        ("the shapes of X and the values of X", lambda X, y, w: (X[:, :5], y, w, {})),
        ("the targets y", lambda X, y, w: (X, np.roll(y, 1), w, {})),
        ("the sample or class weights", lambda X, y, w: (X, y, 2 * w, {})),
        ("the losses or their options", lambda X, y, w: (X, y, w, {"loss": "squared_hinge"})),
        ("the values of fit_intercept", lambda X, y, w: (X, y, w, {"fit_intercept": False})),
        ("the values of prior", lambda X, y, w: (X, y, w, {"prior": np.ones(X.shape[1])})),
        ("the values of nonnegative", lambda X, y, w: (X, y, w, {"nonnegative": [0]})),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(tmp_path: Path, what: str, change: Any) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples("two classes")
    weights = np.ones(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LinearSVC(tol=1e-8, method="oca", checkpoint=path, on_step=lambda step: True).fit(X, y, weights)
    before = path.read_bytes()
    X, y, weights, settings = change(X, y, weights)
    with pytest.raises(CheckpointError, match=rf"^{path} is the checkpoint of another fit: {what} differ; delete the"):
        LinearSVC(method="oca", checkpoint=path, **settings).fit(X, y, weights)
    assert path.read_bytes() == before


def test_the_same_planes_serve_another_C_and_tolerance(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples("two classes")
    stopped(path, X, y, C=1.0)
    model = LinearSVC(C=3.0, tol=1e-5, checkpoint=path).fit(X, y)
    other = LinearSVC(C=3.0, tol=1e-5).fit(X, y)
    assert model.gap_ <= 1e-5
    assert model.lower_bound_ <= other.objective_
    assert other.lower_bound_ <= model.objective_


class _Scaled(Hinge):
    """A hinge loss of some weight, under the same name whatever the weight."""


@pytest.mark.parametrize("same", [True, False])
def test_a_loss_of_ones_own_is_told_by_what_it_does(tmp_path: Path, same: bool) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples("two classes")

    def weighing(factor: float) -> Any:
        def loss(labels: Any, weights: Any) -> Any:
            return _Scaled(labels, np.where(labels > 0, factor, 1.0))

        return loss

    stopped(path, X, y, loss=weighing(2.0))
    if same:
        assert LinearSVC(loss=weighing(2.0), checkpoint=path).fit(X, y).gap_ <= 1e-3
        return
    with pytest.raises(CheckpointError, match="the losses or their options differ"):
        LinearSVC(loss=weighing(3.0), checkpoint=path).fit(X, y)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples("two classes")
    stopped(path, X, y)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(len(good), size=60).tolist():
        bad = bytearray(good)
        bad[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bad)
        with pytest.raises(CheckpointError, match=r"^[^\n]+ is (no|a damaged) checkpoint[^\n]+name another file\.$"):
            LinearSVC(checkpoint=path).fit(X, y)
    for length in (0, 1, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:length])
        with pytest.raises(CheckpointError, match="is no checkpoint, or a damaged one"):
            LinearSVC(checkpoint=path).fit(X, y)
    write_model(path, kind="Checkpoint", arrays={}, metadata={"key": 3})
    with pytest.raises(CheckpointError, match="is a damaged checkpoint, or one of another version"):
        LinearSVC(checkpoint=path).fit(X, y)


def test_no_other_file_is_overwritten(tmp_path: Path) -> None:
    X, y = examples("two classes")
    model = LinearSVC().fit(X, y)
    model.save(tmp_path / "model")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CheckpointError, match=r"model is a LinearSVC model file and no checkpoint; name another file"):
        LinearSVC(checkpoint=tmp_path / "model").fit(X, y)
    with pytest.raises(CheckpointError, match=r"notes.txt is no checkpoint"):
        LinearSVC(checkpoint=tmp_path / "notes.txt").fit(X, y)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(OSError, match=r"the folder .* does not exist"):
        LinearSVC(checkpoint=tmp_path / "nowhere" / "run.ckpt").fit(X, y)


def test_model_files_name_no_checkpoint(tmp_path: Path) -> None:
    """Else a stranger's file could say where the next fit writes."""
    X, y = examples("two classes")
    LinearSVC(checkpoint=str(tmp_path / "run.ckpt")).fit(X, y).save(tmp_path / "m")
    assert load(tmp_path / "m").checkpoint is None
    assert not (tmp_path / "run.ckpt").exists()


def test_a_disk_that_fills_up_does_not_end_the_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OutputError("run.ckpt could not be written: the disk is full; what was there before is untouched.")

    monkeypatch.setattr(checkpoint, "write_checkpoint", full)
    X, y = examples("two classes")
    with pytest.warns(RuntimeWarning, match="The fit goes on without a new checkpoint: run.ckpt could not be written"):
        model = LinearSVC(tol=1e-6, method="oca", checkpoint=tmp_path / "run.ckpt", checkpoint_every=1e-9).fit(X, y)
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("bad", [3, True, b"run.ckpt", ["run.ckpt"], ""])
def test_names_that_are_none(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^checkpoint=.* must be the name of a file, or None\.$"):
        LinearSVC(checkpoint=bad).fit([[0.0], [1.0]], [0, 1])
