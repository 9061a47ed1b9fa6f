"""Fitted models as fitted estimators of scikit-learn itself."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import linear_model, multiclass, svm

from cutplane._types import Array, Params, is_sparse
from cutplane.plain.decisions import Highest, Inside, Sign, Value, Votes
from cutplane.plain.form import PlainForm
from cutplane.plain.kernels import dense
from cutplane.plain.probabilities import Calibrated
from cutplane.plain.scores import KernelScores, LinearScores, PrecomputedScores

# What a twin takes over, where its class has it under the same name.
_SHARED = ("C", "nu", "epsilon", "fit_intercept", "class_weight", "degree", "coef0", "break_ties")


def to_sklearn(form: PlainForm, params: Params) -> Any:
    """An estimator of scikit-learn that predicts the same; `ValueError` where it has none.

    `params` are the model's; those that mean the same there are taken over.
    """
    make = _TWINS.get((type(form.scores), type(form.decision)))
    twin = None if make is None else make(form, params)
    if twin is None:
        raise ValueError(
            f"scikit-learn has no estimator for this {form.kind} ({form.objective}); to_onnx, to_json and "
            "cutplane.load(path, plain=True) serve it without Cutplane's estimators."
        )
    twin.n_features_in_ = form.scores.n_features
    if form.feature_names is not None:
        twin.feature_names_in_ = np.array(form.feature_names, dtype=object)
    return twin


def _made(kind: Any, params: Params, **others: Any) -> Any:
    known = inspect.signature(kind).parameters
    return kind(**{name: params[name] for name in _SHARED if name in params and name in known}, **others)


# --- linear models ---

_LINEAR_LOSSES = {"hinge": {"loss": "hinge"}, "squared_hinge": {}, "crammer_singer": {"multi_class": "crammer_singer"}}


def _linear_classifier(form: PlainForm, params: Params) -> Any:
    coef, intercept = _weights(form)
    classes: Any = form.decision.classes  # type: ignore[attr-defined]
    if form.objective == "logistic":  # of which scikit-learn's probabilities would be others than those calibrated
        calibrated = isinstance(form.probabilities, Calibrated)
        return None if calibrated else _logistic(coef, intercept, classes, params)
    if form.objective == "multinomial":
        return _logistic_regression(coef, intercept, classes, params)
    if form.objective not in _LINEAR_LOSSES:
        return None
    twin = _made(svm.LinearSVC, params, **_LINEAR_LOSSES[form.objective])
    twin.coef_, twin.intercept_, twin.classes_, twin.n_iter_ = coef, intercept, classes, 1
    return twin


def _logistic(coef: Array, intercept: Array, classes: Any, params: Params) -> Any:
    """Of several classes one against the rest, which `LogisticRegression` itself no longer is."""
    if len(coef) > 1:
        twin = multiclass.OneVsRestClassifier(_made(linear_model.LogisticRegression, params))
        parts = zip(coef, intercept, strict=True)
        twin.estimators_ = [_logistic(row[None], b[None], np.array([0, 1]), params) for row, b in parts]
        twin.classes_ = classes
        twin.label_binarizer_ = multiclass.LabelBinarizer(sparse_output=True).fit(classes)
        return twin
    return _logistic_regression(coef, intercept, classes, params)


def _logistic_regression(coef: Array, intercept: Array, classes: Any, params: Params) -> Any:
    twin = _made(linear_model.LogisticRegression, params)
    twin.coef_, twin.intercept_, twin.classes_, twin.n_iter_ = coef, intercept, classes, np.array([1])
    twin.n_features_in_ = coef.shape[1]
    return twin


_REGRESSIONS: dict[str, tuple[Any, Params]] = {
    "epsilon_insensitive": (svm.LinearSVR, {}),
    "squared_epsilon_insensitive": (svm.LinearSVR, {"loss": "squared_epsilon_insensitive"}),
    "huber": (linear_model.HuberRegressor, {}),
    "quantile": (linear_model.QuantileRegressor, {}),
}


def _linear_regression(form: PlainForm, params: Params) -> Any:
    if form.objective not in _REGRESSIONS:
        return None
    kind, others = _REGRESSIONS[form.objective]
    twin = kind(**others) if kind is not svm.LinearSVR else _made(kind, params, **others)
    coef, intercept = _weights(form)
    twin.coef_, twin.intercept_, twin.n_iter_ = coef[0], float(intercept[0]), 1
    return twin


def _linear_one_class(form: PlainForm, params: Params) -> Any:
    twin = _made(linear_model.SGDOneClassSVM, params)
    twin.coef_, intercept = _weights(form)
    twin.coef_, twin.offset_, twin.n_iter_ = twin.coef_[0], -intercept, 1
    return twin


def _weights(form: PlainForm) -> tuple[Array, Array]:
    assert isinstance(form.scores, LinearScores)
    return form.scores.coef.copy(), form.scores.intercept.copy()


# --- kernel machines: what LIBSVM's own files hold, under scikit-learn's names ---

_MACHINES = {
    "hinge": svm.SVC,
    "nu_hinge": svm.NuSVC,
    "epsilon_insensitive": svm.SVR,
    "nu_epsilon_insensitive": svm.NuSVR,
    "one_class": svm.OneClassSVM,
}
_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def _machine(form: PlainForm, params: Params) -> Any:
    scores: Any = form.scores
    if form.objective not in _MACHINES or scores.kernel not in _KERNELS:
        return None
    by_pair = not getattr(form.decision, "by_class", True)
    shape = {"decision_function_shape": "ovo"} if by_pair else {}
    twin = _made(_MACHINES[form.objective], params, kernel=scores.kernel, gamma=scores.gamma or "scale", **shape)
    order, twin._n_support = _libsvm_order(form)
    _set_support(twin, scores, order)
    _set_coefficients(twin, form, scores.coef[:, order])
    twin._gamma, twin.fit_status_ = scores.gamma, 0
    twin._probA = twin._probB = np.empty(0)
    twin._effective_probability = False
    twin._num_iter = np.ones(scores.machines, np.int32)
    if hasattr(form.decision, "classes"):
        twin.classes_ = form.decision.classes
        twin.class_weight_ = np.ones(len(twin.classes_))
    if hasattr(form.decision, "offset"):
        twin.offset_ = np.array([form.decision.offset])
    return twin


def _libsvm_order(form: PlainForm) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The order of the support vectors, and how many each class has; of two classes, by the signs of coefficients."""
    scores: Any = form.scores
    total = scores.coef.shape[1]
    if scores.n_support is not None:
        return np.arange(total), scores.n_support.astype(np.int32)
    if not hasattr(form.decision, "classes"):
        return np.arange(total), np.array([total, total], np.int32)
    second = scores.coef[0] > 0.0
    order = np.concatenate([np.flatnonzero(~second), np.flatnonzero(second)])
    return order, np.array([np.sum(~second), np.sum(second)], np.int32)


def _set_support(twin: Any, scores: Any, order: NDArray[np.intp]) -> None:
    """The support vectors, or their positions where X is a kernel matrix."""
    given = scores.kernel == "precomputed"
    vectors = np.empty((0, 0)) if given else scores.vectors[order]
    twin._sparse = is_sparse(vectors)
    twin.support_ = (scores.support[order] if given else np.arange(len(order))).astype(np.int32)
    twin.support_vectors_ = vectors.astype(np.float64) if twin._sparse else np.ascontiguousarray(vectors, np.float64)
    twin.shape_fit_ = (scores.n_features if given else len(order), scores.n_features)


def _set_coefficients(twin: Any, form: PlainForm, coef: Array) -> None:
    """Those that users see, and those that LIBSVM has: of two classes it takes the first for the positive one."""
    sign = -1.0 if len(getattr(form.decision, "classes", ())) == 2 else 1.0
    intercept: Array = form.scores.intercept  # type: ignore[attr-defined]
    twin.dual_coef_, twin.intercept_ = _stored(coef, twin._sparse), intercept.copy()
    twin._dual_coef_, twin._intercept_ = _stored(sign * coef, twin._sparse), sign * intercept


def _stored(coef: Array, sparse: bool) -> Any:
    """As LIBSVM's sparse and dense code read them; the first takes every entry as it comes, zeros included."""
    whole = np.ascontiguousarray(dense(coef))
    if not sparse:
        return whole
    rows, width = whole.shape
    indices, indptr = np.tile(np.arange(width), rows), np.arange(0, rows * width + 1, width)
    return sp.csr_matrix((whole.ravel(), indices, indptr), shape=whole.shape)


_TWINS: dict[tuple[type, type], Any] = {
    (LinearScores, Sign): _linear_classifier,
    (LinearScores, Highest): _linear_classifier,
    (LinearScores, Value): _linear_regression,
    (LinearScores, Inside): _linear_one_class,
    **{
        (scores, decision): _machine
        for scores in (KernelScores, PrecomputedScores)
        for decision in (Sign, Votes, Value, Inside)
    },
}
