"""A small fit of every kind that has a plain form, with rows to predict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import cutplane
from cutplane import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, SampledCutSVC

_rng = np.random.default_rng(0)
X = _rng.standard_normal((150, 4)) + 0.5
SCORES = X[:, 0] - 0.5 * X[:, 1] + 0.3 * _rng.standard_normal(150)
TWO = np.where(SCORES > 0.3, 1, -1)
THREE = np.digitize(SCORES, [-0.2, 0.8])
NAMES = np.array(["low", "middle", "high"])[THREE]
FOUR = np.digitize(SCORES, [-0.7, 0.2, 1.0]) * 10
NEW = _rng.standard_normal((60, 4)) + 0.5
QUERIES = np.repeat(np.arange(30), 5)
SPARSE = sparse.csr_array(np.where(np.abs(X) > 0.6, X, 0.0))


def same(rows: Any) -> Any:
    return rows


FITS: dict[str, Callable[[], Any]] = {
    "LinearSVC": lambda: LinearSVC().fit(X, TWO),
    "LinearSVC of names": lambda: LinearSVC().fit(X, NAMES),
    "LinearSVC, squared hinge": lambda: LinearSVC(loss="squared_hinge").fit(X, THREE),
    "LinearSVC, logistic": lambda: LinearSVC(loss="logistic").fit(X, TWO),
    "LinearSVC, logistic of three": lambda: LinearSVC(loss="logistic").fit(X, THREE),
    "LinearSVC, Crammer and Singer": lambda: LinearSVC(multi_class="crammer_singer").fit(X, THREE),
    "LinearSVC, Crammer and Singer of two": lambda: LinearSVC(multi_class="crammer_singer").fit(X, TWO),
    "LinearSVC, booleans": lambda: LinearSVC().fit(X, TWO > 0),
    "LinearSVC, ROC area": lambda: LinearSVC(loss="roc_area").fit(X, TWO),
    "LinearSVC, sigmoid": lambda: LinearSVC(calibration="sigmoid").fit(X, TWO),
    "LinearSVC, isotonic of three": lambda: LinearSVC(calibration="isotonic").fit(X, NAMES),
    "LinearSVC, logistic and calibrated": lambda: LinearSVC(loss="logistic", calibration="sigmoid").fit(X, THREE),
    "LinearSVCCV": lambda: cutplane.LinearSVCCV([0.1, 1.0], cv=3).fit(X, TWO),
    "LinearSVR": lambda: LinearSVR(epsilon=0.1).fit(X, SCORES),
    "LinearSVR, squared": lambda: LinearSVR(loss="squared_epsilon_insensitive").fit(X, SCORES),
    "LinearOneClassSVM": lambda: cutplane.LinearOneClassSVM(nu=0.2).fit(X + 1.5),
    "LogisticRegression": lambda: cutplane.LogisticRegression().fit(X, TWO),
    "LogisticRegression of names": lambda: cutplane.LogisticRegression().fit(X, NAMES),
    "LogisticRegressionCV": lambda: cutplane.LogisticRegressionCV(Cs=[0.1, 1.0], cv=3).fit(X, THREE),
    "OrdinalSVC": lambda: cutplane.OrdinalSVC(class_order=["low", "middle", "high"]).fit(X, NAMES),
    "RankSVM": lambda: cutplane.RankSVM().fit(X, THREE, qid=QUERIES),
    "SVC": lambda: SVC().fit(X, TWO),
    "SVC of names": lambda: SVC().fit(X, NAMES),
    "SVC of four": lambda: SVC(C=3.0).fit(X, FOUR),
    "SVC of four, pairs": lambda: SVC(decision_function_shape="ovo").fit(X, FOUR),
    "SVC of four, ties broken": lambda: SVC(break_ties=True).fit(X, FOUR),
    "SVC of four against the rest": lambda: SVC(multi_class="ovr").fit(X, FOUR),
    "SVC, linear": lambda: SVC(kernel="linear").fit(X, THREE),
    "SVC, poly": lambda: SVC(kernel="poly", coef0=1.0, degree=2).fit(X, TWO),
    "SVC, sigmoid": lambda: SVC(kernel="sigmoid", gamma=0.1).fit(X, TWO),
    "SVC, sparse": lambda: SVC().fit(SPARSE, FOUR),
    "SVC, probabilities": lambda: SVC(probability=True, random_state=0).fit(X, TWO),
    "SVC, probabilities of four": lambda: SVC(probability=True, random_state=0).fit(X, FOUR),
    "SVC, isotonic of four": lambda: SVC(probability="isotonic", random_state=0).fit(X, FOUR),
    "SVC, one against the rest, probabilities": lambda: SVC(multi_class="ovr", probability=True, random_state=0).fit(
        X, FOUR
    ),
    "NuSVC": lambda: NuSVC(nu=0.2).fit(X, THREE),
    "SVR": lambda: SVR().fit(X, SCORES),
    "NuSVR": lambda: NuSVR().fit(X, SCORES),
    "OneClassSVM": lambda: OneClassSVM(nu=0.2).fit(X),
    "SampledCutSVC": lambda: SampledCutSVC(n_samples_cut=50, random_state=0, intercept_scaling=1.0).fit(X, TWO),
    "SampledCutSVC of three": lambda: SampledCutSVC(n_samples_cut=50, random_state=0, risk_tol=0.01).fit(X, NAMES),
}
OWN_KERNELS: dict[str, Callable[[], Any]] = {
    "SVC, laplacian": lambda: SVC(kernel="laplacian").fit(X, THREE),
    "SVC, chi2": lambda: SVC(kernel="chi2").fit(np.abs(X), TWO),
}
METHODS = ("predict", "decision_function", "score_samples", "predict_proba", "predict_log_proba")
_fitted: dict[str, Any] = {}


def fitted(name: str) -> Any:
    """The fit of that name, made once."""
    if name not in _fitted:
        _fitted[name] = {**FITS, **OWN_KERNELS}[name]()
    return _fitted[name]


def answers(model: Any, rows: Any) -> dict[str, Any]:
    """What each of the methods that the model has says of the rows."""
    return {name: getattr(model, name)(rows) for name in METHODS if hasattr(model, name)}


def assert_close(found: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    """Labels that are the same; numbers that differ by a small part of the largest."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())
