"""`to_sklearn`: estimators of scikit-learn that say the same."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.plain.plain_cases import FITS, NEW, OWN_KERNELS, TWO, X, assert_close, fitted

from cutplane import SVC, LinearSVC

# Those that scikit-learn has no estimator for.
WITHOUT = {
    "LinearSVC, ROC area",
    "LinearSVC, logistic and calibrated",
    "OrdinalSVC",
    "RankSVM",
    "SVC of four against the rest",
    "SVC, one against the rest, probabilities",
    "SampledCutSVC of three",
}


def answers(model: Any, rows: Any) -> dict[str, Any]:
    names = ("predict", "decision_function", "score_samples")
    return {name: getattr(model, name)(rows) for name in names if hasattr(model, name)}


@pytest.mark.parametrize("name", [name for name in FITS if name not in WITHOUT])
def test_a_twin_says_the_same(name: str) -> None:
    model = fitted(name)
    twin = pickle.loads(pickle.dumps(model.to_sklearn()))
    assert type(twin).__module__.startswith("sklearn.")
    wanted = answers(model, NEW)
    for method, values in answers(twin, NEW).items():
        assert_close(values, wanted[method])
    if "logistic" in name:
        assert_close(twin.predict_proba(NEW), model.predict_proba(NEW))


def test_a_twin_of_sparse_support_vectors_takes_sparse_rows() -> None:
    model, rows = fitted("SVC, sparse"), sparse.csr_array(np.where(np.abs(NEW) > 0.6, NEW, 0.0))
    assert_close(model.to_sklearn().decision_function(rows), model.decision_function(rows))


def test_a_twin_can_be_trained_again() -> None:
    twin = SVC(C=3.0, degree=2, kernel="poly").fit(X, TWO).to_sklearn()
    assert (twin.C, twin.degree, twin.kernel) == (3.0, 2, "poly")
    clone(twin).fit(X, TWO)


def test_names_of_features_are_kept() -> None:
    import pandas

    twin = LinearSVC().fit(pandas.DataFrame(X, columns=list("abcd")), TWO).to_sklearn()
    assert twin.feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize("name", [*sorted(WITHOUT), *OWN_KERNELS])
def test_what_scikit_learn_lacks_is_one_sentence(name: str) -> None:
    with pytest.raises(ValueError, match="scikit-learn has no estimator for this"):
        fitted(name).to_sklearn()
