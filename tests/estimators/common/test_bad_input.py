"""Whatever is wrong, on whichever estimator: one sentence for the user, before any work, and never a crash."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

import cutplane
from cutplane.structured.classes import HierarchyModel

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3))
CLASSES = np.where(X[:, 0] > 0, 1, -1)
TARGETS = X[:, 0] + 0.1 * X[:, 1]
STRINGS = ["AACC", "GGTT"] * 12
TREE = {"cat": "mammal", "dog": "mammal", "mammal": "animal", "fish": "animal"}
ANIMALS = np.array(["cat", "dog", "fish"] * 8)
TOKENS = [[["the"], ["dog"]], [["a"], ["dog"]]]
TAGS = [["D", "N"], ["D", "N"]]

# Estimator, examples, what is to be learned of them.
LINEAR: dict[str, tuple[Any, Any]] = {
    "LinearSVC": (cutplane.LinearSVC, CLASSES),
    "LinearSVCCV": (cutplane.LinearSVCCV, CLASSES),
    "LinearSVR": (cutplane.LinearSVR, TARGETS),
    "LinearSVRCV": (cutplane.LinearSVRCV, TARGETS),
    "LinearOneClassSVM": (cutplane.LinearOneClassSVM, None),
    "LogisticRegression": (cutplane.LogisticRegression, CLASSES),
    "LogisticRegressionCV": (cutplane.LogisticRegressionCV, CLASSES),
    "OrdinalSVC": (cutplane.OrdinalSVC, CLASSES),
    "RankSVM": (cutplane.RankSVM, TARGETS),
}
KERNEL: dict[str, tuple[Any, Any]] = {
    "SVC": (cutplane.SVC, CLASSES),
    "NuSVC": (cutplane.NuSVC, CLASSES),
    "SVR": (cutplane.SVR, TARGETS),
    "NuSVR": (cutplane.NuSVR, TARGETS),
    "OneClassSVM": (cutplane.OneClassSVM, None),
    "SampledCutSVC": (cutplane.SampledCutSVC, CLASSES),
    "CholeskyFeatures": (cutplane.CholeskyFeatures, None),
    "WhitenedKernelMap": (cutplane.WhitenedKernelMap, None),
}
TABULAR = LINEAR | KERNEL
OTHERS: dict[str, tuple[Any, Any, Any]] = {
    "StringSVC": (lambda **p: cutplane.StringSVC(**{"order": 2, **p}), STRINGS, CLASSES),
    "SequenceSVM": (cutplane.SequenceSVM, TOKENS, TAGS),
    "StructuralSVM": (lambda **p: cutplane.StructuralSVM(HierarchyModel(TREE), **p), X, ANIMALS),
    "KernelStructuralSVM": (lambda **p: cutplane.KernelStructuralSVM(HierarchyModel(TREE), **p), X, ANIMALS),
}
EVERY: dict[str, tuple[Any, Any, Any]] = {name: (kind, X, y) for name, (kind, y) in TABULAR.items()} | OTHERS
CPP = re.compile(r"std::|nanobind|incompatible function|__init__\(\): |ndarray\[dtype|0x[0-9a-f]{6}|_core")


def refused(call: Any, *args: Any, words: str = "", **kwargs: Any) -> str:
    """The sentence that a call is refused with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as caught:
            call(*args, **kwargs)
    sentence = str(caught.value)
    assert len(sentence) > 10
    assert not CPP.search(sentence), sentence
    assert re.search(words, sentence), sentence
    return sentence


def fit(name: str, X: Any, y: Any, weights: Any = None, **parameters: Any) -> Any:
    kind = EVERY[name][0]
    given = {} if weights is None else {"sample_weight": weights}
    return kind(**parameters).fit(X, **given) if y is None else kind(**parameters).fit(X, y, **given)


def has(name: str, parameter: str) -> bool:
    return parameter in EVERY[name][0]().get_params(deep=False)


def test_every_public_estimator_is_here() -> None:
    public = {name for name in cutplane.__all__ if hasattr(getattr(cutplane, name), "fit")}
    assert public == set(EVERY)


# What no parameter of that name accepts.
BAD_PARAMETERS: dict[str, list[Any]] = {
    "C": [0, -1.0, "1", None, True, float("nan"), 1e300, 1e-300, [1.0], 1j],
    "tol": [0, -1.0, "small", None, float("nan"), float("inf"), True],
    "absolute_tol": [-1.0, "0", None, float("nan"), float("inf"), 1e300],
    "risk_tol": [-1.0, "0", None, float("nan"), float("inf")],
    "epsilon": [-1.0, "0", None, float("nan"), float("inf")],
    "method": ["sgd", None, 3, ["auto"]],
    "line_search": ["armijo", None, 3, ["exact"]],
    "loss": ["zero_one", None, 3, ["hinge"]],
    "loss_options": [3, "epsilon", [1], {"colour": 1}, {3: 4}],
    "fit_intercept": ["no", None, 0, 1, "True", []],
    "intercept_scaling": [0.0, -1.0, "1", float("nan"), float("inf"), 1e300, True],
    "warm_start": ["no", None, 0, 1],
    "shrinking": ["no", None, 0, 1],
    "probability": ["no", None, "platt"],
    "break_ties": ["no", None, 0, 1],
    "stabilised": ["no", None, 0, 1],
    "normalize": ["no", None, 0, 1],
    "pivoted": ["no", None, 0, 1],
    "max_iter": [0, -3, 1.5, "many", True],
    "time_limit": [0.0, -1.0, "1 h", float("nan"), True],
    "n_jobs": [0, 1.5, "all", 10**30, True],
    "random_state": ["seed", -1, 1.5],
    "class_weight": ["even", 3, [1.0], {1: -1.0}, {1: float("nan")}, {1: "heavy"}, {1: 1e300}],
    "nu": [0.0, -1.0, 1.5, "half", None, float("nan"), True],
    "gamma": [-1.0, "wide", None, float("nan"), float("inf")],
    "degree": [-1, "three", None],
    "kernel": ["cubic", None, 3],
    "cache_size": [0, -1, "much"],
    "nonnegative": ["yes", [99], [-1], 1.5, {"a": 1}],
    "prior": ["none", np.ones(99), [float("nan")] * 3, [1e300] * 3],
    "Cs": [0, [], [0.0], ["1"], [1e300]],
    "multi_class": ["all", None, 3],
    "weighting": ["even", None, 3],
    "order": [-1, "eight", None, 1.5],
    "spectra": [3, "1:2", [(1,)], [("a", "b")]],
    "alphabet": ["", 3, None],
    "rescaling": ["scale", None, 3],
    "n_samples_cut": [0, 10**9, "many"],
    "memory": [0, -1, "much"],
}


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, parameter) for name in EVERY for parameter in BAD_PARAMETERS if has(name, parameter)],
)
def test_bad_parameters(name: str, parameter: str) -> None:
    _, examples, y = EVERY[name]
    for value in BAD_PARAMETERS[parameter]:
        sentence = refused(fit, name, examples, y, **{parameter: value})
        assert "\n" not in sentence
        assert parameter in sentence, f"{parameter}={value!r}: {sentence}"


# --- examples


def masked(values: Any) -> Any:
    return np.ma.masked_greater(values, 1.0)


@pytest.mark.parametrize("name", TABULAR)
def test_examples_that_are_no_real_numbers(name: str) -> None:
    y = TABULAR[name][1]
    days = np.arange(24).astype("datetime64[D]")
    assert (X > 1.0).any()
    refused(fit, name, masked(X), y, words=r"^X\[\d+, \d\] is masked; fill masked values")
    refused(fit, name, days[:, None], y, words="^X holds dates; .* real numbers are accepted")
    refused(fit, name, (days - days[0])[:, None], y, words="^X holds spans of time; ")
    refused(fit, name, X + 1j, y, words=r"^X is complex \(Complex data not supported\)")
    refused(fit, name, sp.csr_array(X + 1j), y, words="^X is complex")
    frame = pandas.DataFrame({"a": X[:, 0], "when": days})
    refused(fit, name, frame, y, words="^Column 'when' of X holds dates")
    frame["when"] = frame["when"] - frame["when"][0]
    refused(fit, name, frame, y, words="^Column 'when' of X holds spans of time")
    fit(name, np.ma.masked_array(np.abs(X)), y)  # nothing is masked


@pytest.mark.parametrize("name", [name for name in TABULAR if TABULAR[name][1] is not None])
def test_labels_and_targets_that_are_none(name: str) -> None:
    y = TABULAR[name][1]
    refused(fit, name, X, np.ma.masked_array(y, mask=np.arange(24) == 3), words=r"^y\[3\] is masked")
    refused(fit, name, X, y + 0j, words="^y is complex")
    refused(fit, name, X, np.arange(24).astype("timedelta64[s]"), words="^y holds spans of time")
    refused(fit, name, X, np.arange(24).astype("datetime64[s]"), words="^y holds dates")
    refused(fit, name, X, pandas.array([1, None] * 12, dtype="Int64"), words=r"y\[1\] is missing|NaN")


@pytest.mark.parametrize("name", ["LinearSVC", "LinearSVCCV", "OrdinalSVC", "SVC", "NuSVC", "SampledCutSVC"])
@pytest.mark.parametrize("dtype", ["Int64", "Int8", "UInt16", "boolean", "int64[pyarrow]"])
def test_nullable_labels_stay_what_they_are(name: str, dtype: str) -> None:
    y = pandas.Series(CLASSES > 0).astype(dtype)
    model = fit(name, X, y)
    assert model.classes_.dtype.kind in "biu"
    assert model.classes_.tolist() == [0, 1]
    assert set(model.predict(X).tolist()) <= {0, 1}


@pytest.mark.parametrize(
    "name", ["LinearSVC", "OrdinalSVC", "SVC", "NuSVC", "SampledCutSVC", "StringSVC", "SequenceSVM"]
)
def test_labels_of_different_types(name: str) -> None:
    """NumPy would make the words '1' and 'a' of them, and predictions would be '1' where 1 was meant."""
    examples = EVERY[name][1]
    mixed = [["D", 1], ["D", 1]] if name == "SequenceSVM" else [1, "a"] * 12
    refused(fit, name, examples, mixed, words="Unknown label type|labels of different types")


@pytest.mark.parametrize("name", list(LINEAR))
@pytest.mark.parametrize("scale", [1e71, 1e155, 1e300])
def test_features_too_large_are_named(name: str, scale: float) -> None:
    huge = X.copy()
    huge[5, 1] = scale
    words = rf"^Row 5 of X has the value {re.escape(str(scale))} in column 1; every value must be below 1e\+70 in size"
    for store in (np.array, np.asfortranarray, sp.csr_array):
        refused(fit, name, store(huge), LINEAR[name][1], words=words)


@pytest.mark.parametrize("name", ["LinearSVR", "LinearSVRCV", "RankSVM", "SVR", "NuSVR"])
def test_targets_too_large_are_named(name: str) -> None:
    y = TARGETS.copy()
    y[7] = -1e300
    refused(fit, name, X, y, words=r"^y\[7\] is -1e\+300; every target must be below 1e\+70 in size")


@pytest.mark.parametrize("name", [*LINEAR, "StringSVC"])
@pytest.mark.parametrize("weight", [1e300, 1e-300])
def test_weights_out_of_range_are_named(name: str, weight: float) -> None:
    _, examples, y = EVERY[name]
    weights = np.ones(24)
    weights[3] = weight
    refused(
        fit, name, examples, y, weights, words=rf"^sample_weight\[3\]={re.escape(str(weight))} is out of range; 0 and"
    )
    refused(
        fit,
        name,
        examples,
        y,
        np.ma.masked_array(np.ones(24), mask=np.arange(24) == 2),
        words=r"^sample_weight\[2\] is",
    )


def test_the_loss_is_named_that_newton_cannot_round() -> None:
    for prior in (None, np.ones(3)):
        refused(
            fit,
            "LinearSVC",
            X,
            CLASSES,
            method="newton",
            loss="f1",
            prior=prior,
            words="^method='newton' needs a loss that is smooth or can round its kinks, which loss='f1' cannot",
        )


def test_one_string_is_not_a_list_of_them() -> None:
    refused(fit, "StringSVC", "ACGT", [1], words="^X='ACGT' is one string; a list of strings")
    model = fit("StringSVC", STRINGS, CLASSES)
    refused(model.predict, "ACGT", words="^X='ACGT' is one string; a list of strings")


def test_more_columns_than_memory() -> None:
    wide = sp.csr_array(([1.0, 1.0], [0, 2**40], [0, 1, 2]), shape=(2, 2**40 + 1))
    refused(
        cutplane.LinearSVC().fit, wide, [0, 1], words=r"^X has 1099511627777 columns, which take \d+ GB .* columns\.$"
    )


# --- sparse matrices that point out of themselves


def broken(kind: str) -> dict[str, Any]:
    """Matrices of the shape of X whose arrays do not fit together."""

    def made(change: Any, store: Any = sp.csr_array) -> Any:
        matrix = store(X)
        change(matrix)
        return matrix

    def set_index(matrix: Any, value: int) -> None:
        matrix.indices[4] = value

    def set_end(matrix: Any, place: int, value: int) -> None:
        matrix.indptr[place] = value

    return {
        "index too large": made(lambda m: set_index(m, 10**6)),
        "index negative": made(lambda m: set_index(m, -7)),
        "end too large": made(lambda m: set_end(m, -1, 10**8)),
        "end falls": made(lambda m: set_end(m, 2, 10**6)),
        "start negative": made(lambda m: set_end(m, 0, -5)),
        "column's index too large": made(lambda m: set_index(m, 10**6), sp.csc_array),
        "column's end too large": made(lambda m: set_end(m, -1, 10**8), sp.csc_array),
    }


@pytest.mark.parametrize("what", broken(""))
@pytest.mark.parametrize("name", TABULAR)
def test_broken_sparse_matrices_are_refused_wherever_they_come_in(name: str, what: str) -> None:
    y = TABULAR[name][1]
    words = "^(Row|Column) \\d+ of X (has (column|row) index|runs from entry)"
    refused(fit, name, broken("")[what], y, words=words)
    good = np.abs(X) if name == "LinearOneClassSVM" else X
    model = fit(name, good, y)
    asked = [getattr(model, each, None) for each in ("decision_function", "predict", "score_samples", "transform")]
    for predict in filter(None, asked):
        refused(predict, broken("")[what], words=words)
