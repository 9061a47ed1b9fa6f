"""`OrdinalSVC` and the losses of whole samples as their users meet them."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import polars as pl
import pytest

from cutplane import LinearSVC, OrdinalSVC, load
from cutplane.risks.thresholds import least_error_thresholds
from cutplane.sources import as_source
from cutplane.testing import check_certificate


def graded(seed: int = 0, n: int = 50, classes: int = 4) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.clip(np.rint(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n)) + 1, 0, classes - 1).astype(int)


def pair_optimum(X: Any, y: Any, C: float, weights: Any = None) -> float:
    c = np.ones(len(y)) if weights is None else weights
    i, j = np.nonzero(y[:, None] > y)
    w = cp.Variable(X.shape[1])
    share = c[i] * c[j] / (c[i] * c[j]).sum()
    risk = share @ cp.pos(1 - (X[i] - X[j]) @ w)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * c.sum() * risk))
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("method", ["auto", "oca", "cpa"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_within_the_bounds(method: str, weighted: bool) -> None:
    X, y = graded()
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    model = OrdinalSVC(C=0.3, tol=1e-6, method=method).fit(X, y, sample_weight=weights)
    check_certificate(
        model.history_, model.objective_, model.lower_bound_, pair_optimum(X, y, 0.3, weights), accuracy=1e-6
    )


def test_thresholds_make_the_least_absolute_error() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        n, classes = int(rng.integers(3, 12)), int(rng.integers(2, 5))
        scores, codes = rng.integers(-3, 4, n) / 2.0, rng.integers(0, classes, n)
        weights = rng.integers(0, 3, n).astype(float)
        found = least_error_thresholds(scores, codes, classes, weights)
        assert (np.diff(found) >= 0).all()

        def error(thresholds: Any, codes: Any = codes, scores: Any = scores, weights: Any = weights) -> float:
            return float(weights @ np.abs((scores[:, None] > thresholds).sum(axis=1) - codes))

        places = np.concatenate([[-9.0], np.unique(scores) + 0.25])
        best = min(error(np.array(each)) for each in combinations_with_replacement(places, classes - 1))
        assert error(found) == best


def test_predictions_are_classes_in_their_order() -> None:
    X, y = graded(n=400)
    names = np.array(GRADES)
    model = OrdinalSVC(class_order=GRADES).fit(X, names[y])
    plain = OrdinalSVC().fit(X, y)
    assert model.classes_.tolist() == GRADES
    assert np.array_equal(model.predict(X), names[plain.predict(X)])
    assert np.abs(plain.predict(X) - y).mean() < 0.4
    assert np.corrcoef(plain.score_samples(X), y)[0, 1] > 0.8


def test_a_saved_model_is_the_same(tmp_path: Any) -> None:
    X, y = graded()
    model = OrdinalSVC(class_order=list("dcba")).fit(X, np.array(list("dcba"))[y])
    model.save(tmp_path / "m.safetensors")
    same = load(tmp_path / "m.safetensors")
    assert np.array_equal(same.predict(X), model.predict(X))
    assert same.gap_ == model.gap_


def test_bad_class_orders_are_named() -> None:
    X, y = graded()
    with pytest.raises(ValueError, match=r"y has the class 3, which class_order=\[0, 1, 2\] does not name"):
        OrdinalSVC(class_order=[0, 1, 2]).fit(X, y)
    with pytest.raises(ValueError, match="names a class twice"):
        OrdinalSVC(class_order=[0, 1, 2, 3, 3]).fit(X, y)


GRADES = ["poor", "fair", "good", "best"]


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize(
    "ordered",
    [
        lambda words: pd.Series(pd.Categorical(words, GRADES, ordered=True)),
        lambda words: pd.Categorical(words, GRADES, ordered=True),
        lambda words: pd.DataFrame({"grade": pd.Categorical(words, GRADES, ordered=True)}),
        lambda words: pl.Series(words, dtype=pl.Enum(GRADES)),
    ],
    ids=["series", "categorical", "frame", "enum"],
)
def test_words_are_ordered_as_their_type_says(ordered: Any) -> None:
    X, y = graded(n=400)
    model, plain = OrdinalSVC().fit(X, ordered(np.array(GRADES)[y])), OrdinalSVC().fit(X, y)
    assert model.classes_.tolist() == GRADES
    assert np.array_equal(model.coef_, plain.coef_)
    assert np.array_equal(model.thresholds_, plain.thresholds_)


@pytest.mark.parametrize(
    "unordered", [np.array, list, pd.Categorical, lambda words: pl.Series(words, dtype=pl.Categorical)]
)
def test_words_without_an_order_are_refused_with_the_remedy(unordered: Any) -> None:
    X, y = graded()
    with pytest.raises(ValueError, match=r"words have no order .*; class_order=\[...\] .* ordered Categorical .*\.$"):
        OrdinalSVC().fit(X, unordered(np.array(GRADES)[y]))


def test_categories_that_are_numbers_are_ordered_by_value() -> None:
    X, y = graded()
    model = OrdinalSVC().fit(X, pd.Categorical(5 * y - 5, [10, 5, 0, -5]))
    assert model.classes_.tolist() == [-5, 0, 5, 10]


def test_rows_of_weight_zero_leave_thresholds_where_they_are() -> None:
    """Scores between the classes are a flat optimum: those that count nowhere must not choose a place in it."""
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [9.0], [10.0]]), np.array([0, 0, 1, 1, 2, 2])
    plain = OrdinalSVC(tol=1e-12).fit(X, y)
    more, classes = np.linspace(-2.0, 12.0, 30)[:, None], np.tile([2, 0, 1], 10)
    weights = np.repeat([1.0, 0.0], [6, 30])
    diluted = OrdinalSVC(tol=1e-12).fit(np.vstack([X, more]), np.append(y, classes), sample_weight=weights)
    np.testing.assert_allclose(diluted.thresholds_, plain.thresholds_, rtol=0, atol=1e-9)


def two_classes(seed: int = 3, n: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.5, 1, -1)


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
def test_roc_area_is_two_ranks(method: str) -> None:
    X, y = two_classes()
    model = LinearSVC(C=0.3, loss="roc_area", tol=1e-6, method=method).fit(X, y)
    check_certificate(model.history_, model.objective_, model.lower_bound_, pair_optimum(X, y, 0.3), accuracy=1e-6)
    # The threshold makes as few errors on the sample as any.
    scores = X @ model.coef_[0]
    fewest = min(np.count_nonzero((scores > t) != (y > 0)) for t in np.append(scores, -np.inf))
    assert np.count_nonzero(model.predict(X) != y) == fewest


def every_table(X: Any, y: Any, C: float, losses: Any, intercept: bool) -> float:
    """The optimum by CVXPY over every labelling of a tiny sample."""
    n = len(y)
    labellings = (2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) - 1).astype(float)
    loss = np.array([losses(g) for g in labellings])
    kept = np.isfinite(loss)
    flips = np.where(labellings != y, y, 0.0)[kept]
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    scores = X @ w + (b if intercept else 0.0)
    risk = cp.max(cp.hstack([loss[kept] - flips @ scores / n, np.zeros(1)]))
    return float(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * n * risk)).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("loss", ["f1", "prec@k", "prbep"])
def test_whole_sample_losses_reach_their_optimum(loss: str) -> None:
    from sklearn.metrics import f1_score

    X, y = two_classes(n=9)
    positives = int((y > 0).sum())
    k = {"prec@k": positives // 2, "prbep": positives}.get(loss, 0)

    def losses(g: Any) -> float:
        if loss == "f1":
            return 1.0 - float(f1_score(y, g, zero_division=0.0))
        return 1.0 - float(((g > 0) & (y > 0)).sum()) / k if (g > 0).sum() == k else np.inf

    model = LinearSVC(C=2.0, loss=loss, tol=1e-6).fit(X, y)
    best = every_table(X, y, 2.0, losses, intercept=loss == "f1")
    check_certificate(model.history_, model.objective_, model.lower_bound_, best, accuracy=1e-6)
    assert model.gap_ <= 1e-6


def test_costs_move_the_boundary() -> None:
    X, y = two_classes(n=200)
    cheap, dear = (
        LinearSVC(loss="error_cost", class_weight={1: weight, -1: 1.0}).fit(X, y).predict(X) for weight in (1.0, 8.0)
    )
    assert np.count_nonzero(dear > 0) > np.count_nonzero(cheap > 0)


def test_k_is_an_option_and_three_classes_are_refused() -> None:
    X, y = two_classes(n=200)
    model = LinearSVC(loss="prec@k", loss_options={"k": 12}).fit(X, y)
    assert np.count_nonzero(model.predict(X) > 0) == 12
    with pytest.raises(ValueError, match="3 classes, but loss='f1' is for two"):
        LinearSVC(loss="f1").fit(X, np.arange(200) % 3)
    with pytest.raises(ValueError, match="leave sample_weight and class_weight out"):
        LinearSVC(loss="f1", class_weight="balanced").fit(X, y)


def test_a_source_trains_the_model_of_its_matrix() -> None:
    X, y = graded()
    matrix, source = OrdinalSVC().fit(X, y), OrdinalSVC().fit(as_source(X), y)
    assert np.array_equal(matrix.coef_, source.coef_)
    assert np.array_equal(matrix.thresholds_, source.thresholds_)
