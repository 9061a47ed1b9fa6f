"""Structured models go on from their planes; those of other examples, labels or models are refused."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cutplane import SequenceSVM, StructuralSVM, load
from cutplane.io.checkpoint_file import CheckpointError
from cutplane.proof.rounding import Rounding
from cutplane.solvers.base import Cut
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.stopping import Stopping
from cutplane.structured.base import StructuredModel
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import MulticlassModel


class Classes(StructuredModel):
    """Three classes, as a user would write them: every search in Python."""

    def joint_feature(self, x: Any, y: Any) -> Any:
        features = np.zeros(3 * len(x))
        features[y * len(x) : (y + 1) * len(x)] = x
        return features

    def loss(self, y: Any, y_hat: Any) -> float:
        return float(y != y_hat)

    def argmax(self, x: Any, w: Any) -> Any:
        return int(np.argmax(w.reshape(3, -1) @ x))

    def loss_augmented_argmax(self, x: Any, y: Any, w: Any) -> Any:
        return int(np.argmax(w.reshape(3, -1) @ x + (np.arange(3) != y)))


def examples() -> tuple[Any, list[int]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    return X, np.digitize(X[:, 0] + rng.normal(size=60), [-0.5, 0.5]).tolist()


def stopped(path: Path, X: Any, y: Any, at: int = 2, **settings: Any) -> None:
    """Leave the checkpoint of a fit that was interrupted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        settings = {"model": Classes(), "tol": 1e-8, "method": "one-slack", **settings}
        StructuralSVM(checkpoint=path, on_step=lambda step: step.iteration >= at, **settings).fit(X, y)
    assert path.exists()  # Ctrl-C may be followed by more


@pytest.mark.parametrize("method", ["one-slack", "oca", "auto"])
def test_a_model_of_ones_own_goes_on(tmp_path: Path, method: str) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples()
    settings: dict[str, Any] = {"method": method, "tol": 1e-5, "planes_kept": 0}
    whole = StructuralSVM(Classes(), **settings).fit(X, y)
    stopped(path, X, y, at=2 * whole.n_iter_ // 3, **settings)
    model = StructuralSVM(Classes(), **settings, checkpoint=path).fit(X, y)
    assert model.n_iter_ < 0.8 * whole.n_iter_
    assert model.gap_ <= 1e-5
    assert model.lower_bound_ <= whole.objective_
    assert whole.lower_bound_ <= model.objective_
    assert not path.exists()


def test_the_same_planes_serve_another_C_and_method(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples()
    stopped(path, X, y)
    model = StructuralSVM(Classes(), C=3.0, method="oca", checkpoint=path).fit(X, y)
    other = StructuralSVM(Classes(), C=3.0).fit(X, y)
    assert model.lower_bound_ <= other.objective_
    assert other.lower_bound_ <= model.objective_


class Dearer(Classes):
    """The same features with another loss."""

    def loss(self, y: Any, y_hat: Any) -> float:
        return 2.0 * float(y != y_hat)

    def loss_augmented_argmax(self, x: Any, y: Any, w: Any) -> Any:
        return int(np.argmax(w.reshape(3, -1) @ x + 2.0 * (np.arange(3) != y)))


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("the models, the examples or their labels", lambda X, y: (Classes(), X + 1e-9, y)),
        ("the models, the examples or their labels", lambda X, y: (Classes(), X, y[1:] + y[:1])),
        ("the models, the examples or their labels", lambda X, y: (Dearer(), X, y)),
        ("the numbers of examples or weights and the models, .*", lambda X, y: (Classes(), X[:, :5], y)),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(tmp_path: Path, what: str, change: Any) -> None:
    path = tmp_path / "run.ckpt"
    X, y = examples()
    stopped(path, X, y)
    before = path.read_bytes()
    model, X, y = change(X, y)
    with pytest.raises(CheckpointError, match=rf"^{path} is the checkpoint of another fit: {what} differ; delete the"):
        StructuralSVM(model, checkpoint=path).fit(X, y)
    assert path.read_bytes() == before


def test_planes_are_charged_for_the_longest_features_seen() -> None:
    """A fit that goes on may not have met them when it begins: they are charged before they are written."""
    short = Rounding(reach=1.0, row_depth=10, sum_depth=100, scale=1.0)
    long = replace(short, reach=1e6, scale=3.0)
    learnt = Ledger(1.0, Bundle(2), Stopping(), None, short, lambda: long)
    knew = Ledger(1.0, Bundle(2), Stopping(), None, long)
    for ledger in (learnt, knew):
        ledger.add(Cut(np.array([-1.0, 2.0]), 0.7, 0.7, mass=1.0))
    _, offsets, errors = learnt.planes()
    assert errors >= knew.bundle.errors
    assert offsets <= knew.bundle.offsets
    assert knew.bundle.errors > 0.0


@pytest.mark.parametrize(
    ("model", "X", "Y"),
    [
        (StructuralSVM(Classes(), method="frank-wolfe"), *examples()),
        (SequenceSVM(), [np.eye(2)], [["a", "b"]]),
        (StructuralSVM(ChainModel(2, 2)), [np.eye(2)], [[0, 1]]),
    ],
)
def test_blocks_have_no_planes_to_go_on_from(tmp_path: Path, model: Any, X: Any, Y: Any) -> None:
    path = tmp_path / "run.ckpt"
    expected = r"^checkpoint=.*run.ckpt'\) needs method='one-slack' or 'oca', which go on from planes; 'frank-wolfe'"
    with pytest.raises(ValueError, match=expected):
        model.set_params(checkpoint=path).fit(X, Y)
    assert not path.exists()


def test_model_files_name_no_checkpoint(tmp_path: Path) -> None:
    X, y = examples()
    svm = StructuralSVM(MulticlassModel(range(3)), method="oca", checkpoint=str(tmp_path / "run.ckpt")).fit(X, y)
    svm.save(tmp_path / "m")
    assert load(tmp_path / "m").checkpoint is None
    assert not (tmp_path / "run.ckpt").exists()


@pytest.mark.parametrize("bad", [3, ""])
def test_names_that_are_none(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^checkpoint=.* must be the name of a file, or None\.$"):
        StructuralSVM(Classes(), checkpoint=bad).fit(*examples())
