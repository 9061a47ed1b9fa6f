"""The score of a plain model is its estimator's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.plain.plain_cases import FITS, FOUR, NAMES, OWN_KERNELS, QUERIES, SCORES, THREE, TWO, X, fitted

from cutplane import load
from cutplane.plain.model import PlainModel

TARGETS = (TWO, TWO > 0, THREE, NAMES, FOUR, SCORES)
WEIGHTS = np.random.default_rng(1).uniform(0.0, 2.0, size=len(X))
ONE_CLASS = ("LinearOneClassSVM", "OneClassSVM")


def target_of(name: str, model):
    """The targets that a case was fitted to."""
    if not hasattr(model, "classes_"):
        return THREE if name == "RankSVM" else SCORES
    (found,) = [y for y in TARGETS[:-1] if y.dtype.kind == model.classes_.dtype.kind and set(y) == set(model.classes_)]
    return found


@pytest.mark.parametrize("name", [name for name in (*FITS, *OWN_KERNELS) if name not in (*ONE_CLASS, "RankSVM")])
def test_classes_and_values(name: str, tmp_path: Path) -> None:
    model, rows = fitted(name), np.abs(X) if name == "SVC, chi2" else X
    model.save(tmp_path / "model.safetensors")
    plain = load(tmp_path / "model.safetensors", plain=True)
    y = target_of(name, model)
    score = model.score(rows, y)
    assert 0.3 < score < 1.0 + 1e-12
    assert plain.score(rows, y) == pytest.approx(score, rel=1e-6)
    assert plain.score(rows, y, sample_weight=WEIGHTS) == pytest.approx(model.score(rows, y, WEIGHTS), rel=1e-6)
    assert plain.score(rows, np.roll(y, 1)) == pytest.approx(model.score(rows, np.roll(y, 1)), rel=1e-6) != score


def test_rankings() -> None:
    model = fitted("RankSVM")
    plain = PlainModel(model.plain_form())
    assert plain.score(X, THREE, qid=QUERIES) == model.score(X, THREE, qid=QUERIES)
    assert plain.score(X, THREE) == model.score(X, THREE) != plain.score(X, THREE, qid=QUERIES)


@pytest.mark.parametrize("name", ONE_CLASS)
def test_machines_of_one_class_have_none(name: str) -> None:
    model = fitted(name)
    assert not hasattr(model, "score")
    assert not hasattr(PlainModel(model.plain_form()), "score")


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 3)])
def test_targets_that_do_not_vary(rows: slice) -> None:
    model = fitted("LinearSVR")
    plain = PlainModel(model.plain_form())
    for y in (np.full(150, 3.0)[rows], model.predict(X[rows])):
        np.testing.assert_allclose(plain.score(X[rows], y), model.score(X[rows], y), atol=1e-9)


def test_other_shapes_are_one_sentence() -> None:
    plain = PlainModel(fitted("LinearSVC").plain_form())
    with pytest.raises(ValueError, match=r"^y has the shape \(3,\); one of \(150,\) goes with X\.$"):
        plain.score(X, TWO[:3])
    with pytest.raises(ValueError, match=r"^sample_weight has the shape \(2,\); one of \(150,\) goes with y\.$"):
        plain.score(X, TWO, sample_weight=[1.0, 2.0])
