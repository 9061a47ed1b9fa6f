"""Bad input to kernel estimators: one sentence each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import ALL, LABELS, TOY, fitted

BAD_PARAMS = [
    ({"C": 0.0}, "C=0.0 must be a number greater than 0"),
    ({"C": -1.0}, "C=-1.0 must be"),
    ({"C": "1"}, "C='1' must be"),
    ({"gamma": 0.0}, "gamma=0.0 must be a finite number greater than 0"),
    ({"gamma": -1.0}, "gamma=-1.0"),
    ({"gamma": "big"}, "gamma='big' must be 'scale', 'auto' or"),
    ({"degree": -1, "kernel": "poly"}, "degree=-1 must be an integer"),
    ({"degree": 2.5, "kernel": "poly"}, "degree=2.5 must be an integer"),
    ({"coef0": np.nan}, "coef0=nan must be a finite number"),
    ({"kernel": "gauss"}, "kernel='gauss' must be one of"),
    ({"tol": 0.0}, "tol=0.0"),
    ({"cache_size": 0}, "cache_size=0"),
    ({"max_iter": 0}, "max_iter=0 must be an integer greater than 0, or None or -1"),
    ({"selection": "best"}, "selection='best' must be one of"),
    ({"stopping": "soon"}, "stopping='soon' must be one of"),
    ({"working_set": 1}, "working_set=1 must be"),
    ({"time_limit": 0}, "time_limit=0"),
    ({"multi_class": "all"}, "multi_class='all' must be one of"),
    ({"decision_function_shape": "x"}, "decision_function_shape='x' must be one of"),
    ({"decision_function_shape": "ovo", "multi_class": "ovr"}, "needs multi_class='ovo'"),
    ({"on_step": 3}, "on_step=3 must be a function of one argument, or None"),
    ({"probability": "platt"}, "probability='platt' must be False, True"),
    ({"class_weight": "balance"}, "class_weight='balance' must be None, 'balanced' or a dict"),
    ({"class_weight": [1, 2]}, r"class_weight=\[1, 2\] must be None, 'balanced' or a dict"),
    ({"class_weight": {1: 2.0, 3: 1.0}}, "class_weight has a weight for 3, which is no class of y: 1, 2 are"),
    ({"class_weight": {1: -2.0}}, r"class_weight=\{1: -2.0\} must give each class a finite weight"),
]


@pytest.mark.parametrize(("params", "words"), BAD_PARAMS, ids=lambda value: str(value)[:40])
def test_parameters_out_of_range(params: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        SVC(**params).fit(TOY, LABELS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.5, np.nan, "half"])
@pytest.mark.parametrize("kind", [NuSVC, NuSVR, OneClassSVM])
def test_nu_out_of_range(kind: Any, nu: Any) -> None:
    with pytest.raises(ValueError, match=r"nu=.* must be a number greater than 0 and at most 1"):
        fitted(kind, TOY, LABELS, nu=nu)


def test_infeasible_nu_says_what_would_do() -> None:
    X, y = np.random.default_rng(0).normal(size=(100, 2)), np.where(np.arange(100) < 10, "few", "many")
    with pytest.raises(ValueError, match=r"nu=0.9 is infeasible for classes 'few' and 'many'.*at most 0.2"):
        NuSVC(nu=0.9).fit(X, y)
    assert NuSVC(nu=0.2, probability=True).fit(X, y).predict_proba(X).shape == (100, 2)


@pytest.mark.parametrize("epsilon", [-0.1, np.inf])
def test_epsilon_out_of_range(epsilon: float) -> None:
    with pytest.raises(ValueError, match=r"epsilon=.* must be a finite number, 0 or greater"):
        SVR(epsilon=epsilon).fit(TOY, LABELS)


def test_kernel_matrices_that_are_none() -> None:
    with pytest.raises(ValueError, match=r"must be square; X has shape \(6, 2\)"):
        SVC(kernel="precomputed").fit(TOY, LABELS)
    with pytest.raises(TypeError, match="Sparse precomputed kernels"):
        SVC(kernel="precomputed").fit(sp.csr_array(TOY @ TOY.T), LABELS)
    model = SVC(kernel="precomputed").fit(TOY @ TOY.T, LABELS)
    with pytest.raises(ValueError, match="6 features"):
        model.predict(TOY)
    with pytest.raises(ValueError, match=r"Row 0 of X has the value NaN in column 0"):
        SVC(kernel="precomputed").fit(np.full((6, 6), np.nan), LABELS)


@pytest.mark.parametrize("kind", ALL)
def test_kernels_that_are_not_symmetric(kind: Any) -> None:
    """Training on these might have no end."""
    lopsided = TOY @ TOY.T
    lopsided[1, 4] += 9.0
    with pytest.raises(
        ValueError, match=r"symmetric; it has the value .* at row 1, column 4 and .* at row 4, column 1"
    ):
        fitted(kind, lopsided, LABELS, kernel="precomputed")
    with pytest.raises(ValueError, match="must be symmetric"):
        fitted(kind, TOY, LABELS, kernel=lambda A, B: A[:, :1] - B[:, 0])
    fitted(kind, TOY @ TOY.T + 1e-6 * np.arange(6), LABELS, kernel="precomputed")
    many = np.triu(np.ones((1100, 1100)))
    with pytest.raises(ValueError, match="must be symmetric"):
        fitted(kind, many, np.arange(1100) % 2, kernel="precomputed")


@pytest.mark.parametrize("kind", ALL)
def test_callables_that_return_nonsense(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"returned shape \(6, 2\); for these examples it is \(6, 6\)"):
        fitted(kind, TOY, LABELS, kernel=lambda A, B: A)
    with pytest.raises(ValueError, match="returned nan at row 0, column 0"):
        fitted(kind, TOY, LABELS, kernel=lambda A, B: np.full((len(A), len(B)), np.nan))
    with pytest.raises(ValueError, match="returned complex values; kernels are real"):
        fitted(kind, TOY, LABELS, kernel=lambda A, B: A @ B.T * 1j)


def test_classes_that_are_missing() -> None:
    with pytest.raises(ValueError, match="y has only one class, 1"):
        SVC().fit(TOY, np.ones(6, int))
    with pytest.raises(ValueError, match="all samples with positive weights belong to the same class"):
        SVC().fit(TOY, LABELS, sample_weight=[0, 0, -1, 1, 1, 1])
    with pytest.raises(ValueError, match="zero or negative weights"):
        SVC().fit(TOY, LABELS, sample_weight=np.full(6, -1.0))
    with pytest.raises(ValueError, match="Class 1 has one example; probabilities need at least two"):
        SVC(probability=True).fit(TOY, [0, 0, 0, 0, 0, 1])


def test_values_too_large_for_the_kernel() -> None:
    with pytest.raises(ValueError, match=r"e\+300 in column \d; every value must be below 1e\+70 in size"):
        SVC().fit(TOY * 1e300, LABELS)
    with pytest.raises(ValueError, match=r"poly kernel with gamma=1 is about .* too large"):
        SVC(kernel="poly", gamma=1.0, degree=9).fit(TOY * 1e20, LABELS)


def test_chi2_needs_values_of_zero_or_more() -> None:
    with pytest.raises(ValueError, match="the chi2 kernel needs values of 0 or greater"):
        SVC(kernel="chi2").fit(TOY, LABELS)


def test_unfitted_models_are_said_to_be() -> None:
    with pytest.raises(NotFittedError, match="SVC"):
        SVC().predict(TOY)
    assert not hasattr(SVC(), "predict_proba")
    model = SVC().fit(TOY, LABELS).set_params(probability=True)
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba(TOY)


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_words_in_a_data_frame_are_named(kind: str) -> None:
    X = pd.DataFrame({"size": TOY[:, 0], "colour": pd.Series(["1", "2", "red", "1", "2", "3"], dtype=kind)})
    with pytest.raises(ValueError, match="Column 'colour' of X has the value 'red' in row 2; features must be numbers"):
        SVC().fit(X, LABELS)
    model = SVC().fit(X.assign(colour=["1", "2", "4", "1", "2", "3"]).astype({"colour": kind}), LABELS)
    with pytest.raises(ValueError, match="Column 'colour'"):
        model.predict(X)


def test_weights_for_classes_that_y_lacks_do_no_harm_where_all_of_its_own_have_one() -> None:
    assert SVC(class_weight={1: 2.0, 2: 1.0, 3: 5.0}).fit(TOY, LABELS).class_weight_.tolist() == [2.0, 1.0]
