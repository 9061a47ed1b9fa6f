"""Proofs of kernel machines: the whole certificate by other code, survives files, fails where anything was changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM, load, verify
from cutplane.proof.file import ProofError

rng = np.random.default_rng(7)
X = np.round(rng.normal(size=(120, 4)), 2)
TWO = (X[:, 0] + 0.5 * rng.normal(size=120) > 0.1).astype(int)
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=120), [-0.5, 0.5])]
TARGETS = X[:, 0] ** 2 + 0.1 * rng.normal(size=120)
WEIGHTS = np.where(np.arange(120) % 9 == 0, 0.0, rng.uniform(0.5, 2.0, 120))

MACHINES: list[tuple[Any, Any]] = [
    (SVC(), TWO),
    (SVC(C=30.0, class_weight="balanced"), THREE),
    (SVC(multi_class="ovr"), THREE),
    (SVC(kernel="poly", coef0=1.0), TWO),
    (SVC(kernel="linear"), TWO),
    (SVC(kernel="laplacian"), TWO),
    (SVC(kernel="precomputed"), TWO),
    (NuSVC(nu=0.4), TWO),
    (NuSVC(nu=0.2), THREE),
    (SVR(), TARGETS),
    (NuSVR(C=3.0), TARGETS),
    (OneClassSVM(nu=0.3), None),
    (OneClassSVM(nu=1.0), None),
]


def examples(model: Any) -> np.ndarray:
    return rbf_kernel(X, gamma=0.3) if model.kernel == "precomputed" else X


@pytest.mark.parametrize(("model", "y"), MACHINES, ids=str)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_verify_agrees_with_the_certificate_of_the_fit(model: Any, y: Any, weights: Any) -> None:
    data = examples(model)
    model = type(model)(**{**model.get_params(), "keep_proof": True, "tol": 1e-4})
    model.fit(data, y, sample_weight=weights)
    assert model.certificate_of_ == "kernel"
    found = verify(model, data, y, sample_weight=weights)
    for bounds, each in zip(found, model.certificates_, strict=True):
        upper, lower = each.objective, each.lower_bound
        assert bounds.objective == pytest.approx(upper, rel=1e-5)
        assert bounds.lower_bound == pytest.approx(lower, rel=1e-9)
        assert bounds.lower_bound <= upper
        assert lower <= bounds.objective
        assert bool(bounds.premise) == (model.kernel == "precomputed")
    if weights is not None:
        with pytest.raises(ProofError, match="other data"):
            verify(model, data, y)


def test_the_kernel_is_proven_where_the_fit_was_content_with_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutplane.estimators.kernel.kernel_certificates._affordable", lambda *_: False)
    model = SVC(keep_proof=True).fit(X, TWO)
    assert "single-precision" in model.certificate_of_
    (bounds,) = verify(model, X, TWO)
    assert bounds.gap <= 1e-3


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix])
def test_a_file_keeps_it_and_any_layout_verifies(tmp_path: Path, layout: Any) -> None:
    model = NuSVC(nu=0.3).fit(X, THREE).proof(layout(X), THREE)
    model.save(tmp_path / "m", proof=True)
    again = load(tmp_path / "m")
    assert verify(again, X, THREE) == verify(model, X, THREE)
    other = X.copy()
    other[3, 1] = np.nextafter(other[3, 1], 9.0)
    for wrong in ((other, THREE), (X[::-1], THREE[::-1]), (X, THREE[::-1]), (X[:-1], THREE[:-1])):
        with pytest.raises(ProofError, match="other data"):
            verify(again, *wrong)


def test_sparse_machines_have_proofs(tmp_path: Path) -> None:
    model = SVC(keep_proof=True).fit(sp.csr_array(X), TWO)
    model.save(tmp_path / "m")
    (bounds,) = verify(load(tmp_path / "m"), sp.csr_array(X), TWO)
    assert bounds.gap <= 1e-2


def trained() -> Any:
    return NuSVC(nu=0.3, keep_proof=True).fit(X, TWO)


def test_another_model_fails() -> None:
    model = trained()
    model.intercept_ = model.intercept_ + 0.1
    with pytest.raises(ProofError, match="not the weights"):
        verify(model, X, TWO)
    model = trained()
    model._dual_coef[0, 0] *= 1.01
    with pytest.raises(ProofError):
        verify(model, X, TWO)
    model = trained()
    model.support_vectors_ = model.support_vectors_ + 1e-9
    with pytest.raises(ProofError, match="support vectors of the model are not the examples"):
        verify(model, X, TWO)
    model = trained()
    model._kernel = replace(model._kernel, gamma=2.0 * model._kernel.gamma)
    with pytest.raises(ProofError):
        verify(model, X, TWO)
    model = trained()
    model.nu = 0.25
    with pytest.raises(ProofError):
        verify(model, X, TWO)


def test_coefficients_outside_of_a_machine_fail() -> None:
    model = SVC(keep_proof=True).fit(X, TWO, sample_weight=WEIGHTS)
    model.support_ = model.support_.copy()
    model.support_[0] = 0  # of weight zero
    model.support_vectors_ = X[model.support_]
    with pytest.raises(ProofError, match="was not trained on"):
        verify(model, X, TWO, sample_weight=WEIGHTS)


def test_changed_proofs_fail() -> None:
    model = trained()
    proof = model.proof_
    for changed in (
        replace(proof, widths=(1.1 * proof.widths[0],)),
        replace(proof, widths=()),
        replace(proof, claims=()),
        replace(proof, data="0" * 64),
        replace(proof, claims=(proof.claims[0]._replace(lower_bound=proof.claims[0].objective),)),
    ):
        model.proof_ = changed
        with pytest.raises(ProofError):
            verify(model, X, TWO)


def test_a_proof_of_another_kind_fails() -> None:
    from cutplane import LinearSVC

    model = trained()
    model.proof_ = LinearSVC(keep_proof=True).fit(X, TWO).proof_
    with pytest.raises(ProofError, match="another kind"):
        verify(model, X, TWO)


def test_an_indefinite_kernel_has_no_proof() -> None:
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model = SVC(kernel="sigmoid").fit(X, TWO)
    with pytest.raises(ValueError, match=r"sigmoid kernel is not positive semi-definite .* no proof file"):
        model.proof(X, TWO)


@pytest.mark.filterwarnings("ignore:.*nothing is proven \\(lower_bound_")
def test_an_indefinite_kernel_costs_the_proof_not_the_machine() -> None:
    with pytest.warns(UserWarning, match="no proof file. The model is kept without one"):
        model = SVC(kernel="sigmoid", keep_proof=True).fit(X, TWO)
    assert model.predict(X).shape == TWO.shape
    assert not hasattr(model, "proof_")


def test_a_kernel_of_ones_own_has_no_proof() -> None:
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, TWO)
    with pytest.raises(ValueError, match=r"no file can hold the kernel.*precomputed"):
        model.proof(X, TWO)


def test_a_fit_forgets_the_proof_of_the_last_one() -> None:
    model = trained()
    model.set_params(keep_proof=False).fit(X[:60], TWO[:60])
    with pytest.raises(ProofError, match="has no proof"):
        verify(model, X[:60], TWO[:60])
