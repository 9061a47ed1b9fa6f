"""Proofs kept with models: they hold, survive files, and fail where anything was changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import (
    SVC,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    OrdinalSVC,
    RankSVM,
    SampledCutSVC,
    SequenceSVM,
    StringSVC,
    load,
    verify,
)
from cutplane.proof.checker import Bounds
from cutplane.proof.codes import Codes
from cutplane.proof.file import Proof, ProofError


def classes(n: int = 400, several: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(n, 6)), 2)
    scores = X[:, :3] + rng.normal(size=(n, 3))
    return X, scores.argmax(axis=1) if several else (scores[:, 0] > 0.3).astype(int)


SETTINGS: list[dict[str, Any]] = [
    {},
    {"fit_intercept": False},
    {"intercept_scaling": 2.0},
    {"loss": "squared_hinge"},
    {"loss": "logistic", "fit_intercept": False},
    {"prior": np.linspace(-1.0, 1.0, 6)},
    {"class_weight": "balanced", "tol": 1e-6},
    {"method": "oca"},
    {"loss": "squared_hinge", "intercept_scaling": 0.5, "prior": np.ones(6), "tol": 1e-8},
    {"nonnegative": True},
    {"nonnegative": [0, 3], "fit_intercept": False, "prior": np.linspace(-1.0, 1.0, 6)},
    {"nonnegative": [1, 2], "loss": "logistic", "intercept_scaling": 1.0},
    {"nonnegative": True, "loss": "squared_hinge", "tol": 1e-5},
    {"multi_class": "crammer_singer"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_proof_is_as_tight_as_the_model_asks_for(settings: dict[str, Any]) -> None:
    X, y = classes()
    model = LinearSVC(C=0.5, keep_proof=True, **settings).fit(X, y)
    (bounds,) = verify(model, X, y)
    assert bounds.gap <= model.tol
    assert bounds.objective == pytest.approx(model.objective_, rel=1e-11)
    # Bounds of different makers hold the same optimum.
    assert bounds.lower_bound <= model.objective_
    assert model.lower_bound_ <= bounds.objective


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"])
def test_regression(loss: str) -> None:
    X, _ = classes()
    y = X @ np.arange(6.0) + np.random.default_rng(0).normal(size=len(X))
    weights = np.random.default_rng(1).uniform(0.0, 2.0, len(X))
    model = LinearSVR(loss=loss, keep_proof=True).fit(X, y, sample_weight=weights)
    (bounds,) = verify(model, X, y, sample_weight=weights)
    assert bounds.gap <= model.tol
    with pytest.raises(ProofError, match="other data"):
        verify(model, X, y)


def test_one_class_against_the_rest_has_a_proof_for_each() -> None:
    X, y = classes(several=True)
    model = LinearSVC(keep_proof=True).fit(X, y)
    found = verify(model, X, y)
    assert len(found) == 3
    assert max(bounds.gap for bounds in found) <= model.tol
    model.coef_ = model.coef_[[1, 0, 2]]
    with pytest.raises(ProofError, match=r"The objective of class 0 is .* not the weights"):
        verify(model, X, y)


COST = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
JOINT: list[dict[str, Any]] = [
    {},
    {"fit_intercept": False},
    {"intercept_scaling": 2.0},
    {"cost_matrix": COST, "class_weight": "balanced"},
    {"cost_matrix": COST, "rescaling": "slack"},
    {"prior": np.arange(18.0).reshape(3, 6) / 9.0},
    {"nonnegative": True},
    {"nonnegative": [0, 1], "prior": np.ones((3, 6)), "fit_intercept": False},
    {"tol": 1e-6},
]


@pytest.mark.parametrize("settings", JOINT, ids=str)
def test_classes_trained_together(settings: dict[str, Any], tmp_path: Path) -> None:
    X, y = classes(several=True)
    names = np.array(["ash", "birch", "cedar"])[y]
    model = LinearSVC(C=0.5, multi_class="crammer_singer", keep_proof=True, **settings).fit(X, names)
    model.save(tmp_path / "m", proof=True)
    again = load(tmp_path / "m")
    (bounds,) = verify(again, sp.csr_array(X), names)
    assert bounds.gap <= model.tol
    assert bounds.objective == pytest.approx(model.objective_, rel=1e-10)
    assert bounds.lower_bound <= model.objective_
    assert model.lower_bound_ <= bounds.objective
    assert again.proof_.size < 40 * len(y)
    with pytest.raises(ProofError, match="other data"):
        verify(again, X, names[::-1])
    again.coef_ = again.coef_[[1, 0, 2]]
    with pytest.raises(ProofError, match="not the weights"):
        verify(again, X, names)


def test_changed_shares_and_settings_fail() -> None:
    X, y = classes(several=True)
    model = LinearSVC(multi_class="crammer_singer", keep_proof=True).fit(X, y)
    proof = model.proof_
    numbers = proof.codes.numbers.copy()
    numbers[:50] = 0
    for codes in (
        proof.codes._replace(numbers=numbers),
        proof.codes._replace(classes=proof.codes.classes[::-1].copy()),
        proof.codes._replace(start=proof.codes.start[:-1]),
    ):
        model.proof_ = replace(proof, codes=codes)
        with pytest.raises(ProofError):
            verify(model, X, y)
    model.proof_ = proof
    model.set_params(cost_matrix=COST)
    with pytest.raises(ProofError):
        verify(model, X, y)


def test_weights_below_zero_fail_where_they_may_not_be() -> None:
    X, y = classes()
    model = LinearSVC(nonnegative=True, keep_proof=True).fit(-X, y)
    X = -X
    assert (model.coef_ == 0.0).any()
    verify(model, X, y)
    model.coef_ = model.coef_ - 1e-12
    with pytest.raises(ProofError, match="not the weights"):
        verify(model, X, y)


def test_regression_with_weights_that_may_not_be_negative() -> None:
    X, _ = classes()
    y = X @ np.arange(-2.0, 4.0) + np.random.default_rng(0).normal(size=len(X))
    model = LinearSVR(nonnegative=True, keep_proof=True).fit(X, y)
    (bounds,) = verify(model, X, y)
    assert bounds.gap <= model.tol


def test_a_file_keeps_it_and_any_layout_verifies(tmp_path: Path) -> None:
    X, y = classes()
    X32 = X.astype(np.float32)
    model = LinearSVC().fit(X32, y)
    with pytest.raises(ValueError, match="has no proof to save"):
        model.save(tmp_path / "m", proof=True)
    model.proof(X32, y).save(tmp_path / "m", proof=True)
    again = load(tmp_path / "m")
    for layout in (X32, X32.astype(np.float64), np.asfortranarray(X32), sp.csr_array(X32)):
        (bounds,) = verify(again, layout, y)
        assert bounds.gap <= 1e-3
    with pytest.raises(ProofError, match="other data"):
        verify(again, X, y)  # not rounded to single precision
    with pytest.raises(ProofError, match="other data"):
        verify(again, X32[::-1], y[::-1])
    model.save(tmp_path / "bare", proof=False)
    with pytest.raises(ProofError, match="has no proof"):
        verify(load(tmp_path / "bare"), X32, y)


def test_changed_codes_claims_and_settings_fail() -> None:
    X, y = classes()
    model = LinearSVC(keep_proof=True).fit(X, y)
    proof: Proof = model.proof_
    numbers = proof.codes[0].numbers.copy()
    numbers[:50] = 0
    model.proof_ = Proof(proof.loss, proof.parameters, proof.data, (Codes(numbers, 0.0),), proof.claims)
    with pytest.raises(ProofError, match="were changed"):
        verify(model, X, y)
    zero = Bounds(np.inf, 0.0)
    model.proof_ = Proof("squared_hinge", {}, proof.data, proof.codes, (zero,))
    with pytest.raises(ProofError, match="is of the loss 'squared_hinge'"):
        verify(model, X, y)
    model.proof_ = Proof(proof.loss, proof.parameters, proof.data, (Codes(numbers[:-1], 0.0),), proof.claims)
    with pytest.raises(ProofError, match="damaged"):
        verify(model, X, y)
    model.proof_ = proof
    model.C = 2.0
    with pytest.raises(ProofError):
        verify(model, X, y)


def test_the_proof_of_a_model_with_a_chosen_C_is_of_that_C(tmp_path: Path) -> None:
    X, y = classes()
    model = LinearSVCCV(Cs=[0.01, 30.0], cv=3).fit(X, y).proof(X, y)
    model.save(tmp_path / "m", proof=True)
    (bounds,) = verify(load(tmp_path / "m"), X, y)
    assert bounds.objective == pytest.approx(model.objective_, rel=1e-10)
    assert bounds.gap <= model.tol


WITHOUT: list[tuple[Any, str]] = [
    (LinearSVC(loss="roc_area"), "loss='roc_area' has no proof file: .* sums over examples"),
    (LinearSVC(loss="f1"), "loss='f1' has no proof file: .* sums over examples"),
    (LinearSVC(multi_class="crammer_singer", class_features=np.eye(2)), "class_features has no proof file"),
    (RankSVM(), "RankSVM has no proof file: its loss is a sum over pairs"),
    (OrdinalSVC(), "OrdinalSVC has no proof file: its loss is a sum over pairs"),
    (SampledCutSVC(max_iter=20), "SampledCutSVC has no proof file: its bound is a mixture of many cuts"),
]


@pytest.mark.parametrize(("model", "why"), WITHOUT, ids=lambda value: str(value)[:60])
@pytest.mark.filterwarnings("ignore")
def test_models_without_one_say_why(model: Any, why: str) -> None:
    X, y = classes(60)
    model.fit(X, y)
    with pytest.raises(ValueError, match=why):
        model.proof(X, y)


def test_strings_and_sequences_say_why() -> None:
    strings = StringSVC(order=2).fit(["ACGT", "ACGA", "TTTT", "TTTA"], [1, 1, 0, 0])
    with pytest.raises(ValueError, match="StringSVC has no proof file: its features are k-mers"):
        strings.proof(["ACGT", "ACGA", "TTTT", "TTTA"], [1, 1, 0, 0])
    sequences = SequenceSVM().fit([[["a"], ["b"]], [["b"], ["a"]]], [["x", "y"], ["y", "x"]])
    with pytest.raises(ValueError, match="SequenceSVM has no proof file: its planes are of labellings"):
        sequences.proof([[["a"], ["b"]], [["b"], ["a"]]], [["x", "y"], ["y", "x"]])


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(loss="roc_area", keep_proof=True),
        LinearSVC(multi_class="crammer_singer", class_features=np.eye(2), keep_proof=True),
        SVC(kernel=lambda A, B: A @ B.T, keep_proof=True),
    ],
    ids=["roc_area", "class_features", "kernel of one's own"],
)
def test_a_proof_that_cannot_be_is_refused_before_training(model: Any) -> None:
    X, y = classes(60)
    steps: list[Any] = []
    with pytest.raises(ValueError, match="has no proof file"):
        model.set_params(on_step=steps.append).fit(X, y)
    assert not steps


def test_a_fit_forgets_the_proof_of_the_last_one() -> None:
    X, y = classes()
    model = LinearSVC(keep_proof=True).fit(X, y)
    model.set_params(keep_proof=False).fit(X[:200], y[:200])
    with pytest.raises(ProofError, match="has no proof"):
        verify(model, X[:200], y[:200])
