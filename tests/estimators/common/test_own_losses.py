"""Losses and models of the user's own survive files: by name, by the class given back, and never as something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVC, LinearSVR, StructuralSVM, load
from cutplane.estimators.common.left_out import same_name
from cutplane.io.model_file import ModelFileError, read_model
from cutplane.risks.epsilon_insensitive import EpsilonInsensitive
from cutplane.risks.squared_hinge import SquaredHinge
from cutplane.structured.classes import MulticlassModel

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 3))
SIGNS = np.where(X[:, 0] + 0.5 * rng.standard_normal(80) > 0.0, 1, -1)


class Own(SquaredHinge):
    """A loss of one's own."""


class Another(SquaredHinge):
    """Not the one."""


class OwnTube(EpsilonInsensitive):
    """A loss of one's own for regression."""


class OwnModel(MulticlassModel):
    """A structured model of one's own: files do not know how to make it."""

    def params(self) -> None:  # type: ignore[override]
        return None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def trained(path: Path) -> Any:
    model = LinearSVC(loss=Own, C=0.5, tol=1e-6).fit(X, SIGNS)
    model.save(path)
    return model


def test_the_file_has_the_import_path(path: Path) -> None:
    trained(path)
    assert read_model(path).metadata["left_out"] == {"loss": f"{Own.__module__}.Own"}


def test_given_back_it_trains_the_same_model(path: Path) -> None:
    model = trained(path)
    loaded = load(path, loss=Own)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.loss is Own
    np.testing.assert_array_equal(loaded.fit(X, SIGNS).coef_, model.coef_)


def test_without_it_no_fit_is_made_and_nothing_takes_its_place(path: Path) -> None:
    model = trained(path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"loss was .*Own, which a model file does not hold"):
        loaded.fit(X, SIGNS)


@pytest.mark.parametrize("other", [Another, "hinge", "squared_hinge", SquaredHinge])
def test_another_is_refused(path: Path, other: Any) -> None:
    trained(path)
    with pytest.raises(ModelFileError, match=r"was trained with loss=.*Own; .* is something else"):
        load(path, loss=other)


def test_what_the_file_holds_is_not_taken_from_elsewhere(path: Path) -> None:
    trained(path)
    with pytest.raises(ModelFileError, match="needs no C of yours: those left out are loss"):
        load(path, C=3.0)
    LinearSVC().fit(X, SIGNS).save(path)
    with pytest.raises(ModelFileError, match="needs no loss of yours: it leaves none out"):
        load(path, loss=Own)
    with pytest.raises(ValueError, match="plain=True has no parameters; loss"):
        load(path, plain=True, loss=Own)


def test_regressions_and_structured_models(path: Path) -> None:
    LinearSVR(loss=OwnTube).fit(X, X[:, 0]).save(path)
    assert load(path, loss=OwnTube).loss is OwnTube
    own = OwnModel([-1, 1])
    model = StructuralSVM(own).fit(X[:20], SIGNS[:20])
    model.save(path)
    assert load(path, model=own).predict(X[:20]) == model.predict(X[:20])


def test_a_loaded_model_saved_again_still_names_it(path: Path) -> None:
    trained(path)
    load(path).save(path)
    assert load(path, loss=Own).loss is Own


def test_a_plain_model_says_what_was_minimised(path: Path) -> None:
    assert trained(path).plain_form().objective == f"{Own.__module__}.Own"
    assert load(path, plain=True).form.objective.endswith(".Own")


def test_a_class_of_a_script_is_known_by_its_last_name() -> None:
    assert same_name("__main__.Own", Own)
    assert not same_name("__main__.Own", Another)
    assert not same_name("elsewhere.Own", Own)
