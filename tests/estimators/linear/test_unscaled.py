"""Raw tables: features of any scale, far more of them than examples, repeated rows. Proven, and in a few steps."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from cutplane import LinearSVC, LogisticRegression, verify
from cutplane.testing.tables import draw, judged


def intensities(n: int = 40, d: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Expression levels of a few patients, 1 to 60,000, unscaled."""
    rng = np.random.default_rng(0)
    levels = np.exp(rng.uniform(np.log(20), np.log(8000), d)) * np.exp(rng.normal(0, 0.6, (n, d)))
    y = np.arange(n) % 3 == 0
    levels[np.ix_(y, rng.choice(d, 30, replace=False))] *= 2.5
    return np.clip(levels, 1, 60000).round(), y


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_an_objective_far_below_the_rounding_of_scores_is_proven(kind: str) -> None:
    X, y = intensities()
    model = LinearSVC().fit(X if kind == "dense" else sp.csr_array(X), y)
    assert (model.stop_reason_, model.gap_ <= 1e-3) == ("gap", True)
    w, b = [Fraction(v) for v in model.coef_[0].tolist()], Fraction(float(np.ravel(model.intercept_)[0]))
    exact = sum(v * v for v in w) / 2
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        score = sum((Fraction(x) * v for x, v in zip(row, w, strict=True)), b)
        exact += max(Fraction(0), 1 - (1 if label else -1) * score)
    assert exact <= Fraction(model.objective_) <= exact * Fraction(1001, 1000)


@pytest.mark.parametrize("estimator", [LogisticRegression(time_limit=20), LinearSVC(loss="logistic", time_limit=20)])
def test_dual_ascent_that_gets_nowhere_hands_over(estimator: LogisticRegression | LinearSVC) -> None:
    X, y = intensities(72, 3000)
    model = estimator.fit(X, y)
    assert (model.stop_reason_, model.gap_ <= 1e-3) == ("gap", True)


def test_classes_together_on_raw_pixels_are_proven_by_the_gram_matrix() -> None:
    """Given up after 250 epochs, it left Newton's method and OCA 2 % after 20 seconds; each epoch takes little."""
    X, y = load_digits(return_X_y=True)
    model = LinearSVC(multi_class="crammer_singer", tol=1e-6).fit(X[:600], y[:600])
    assert (model.stop_reason_, len(model.history_) <= 12) == ("gap", True)


def test_a_proof_of_very_many_features_is_found() -> None:
    """Of a shard that keeps coefficients no dual ascent was known: cutting planes alone prove nothing by one plane."""
    X = sp.random(60, 100_000, density=1e-3, format="csr", random_state=0)
    y = np.random.default_rng(0).integers(0, 2, 60)
    model = LinearSVC(keep_proof=True).fit(X, y)
    (bounds,) = verify(model, X, y)
    assert bounds.gap <= 1e-3


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 4, 10])
def test_made_tables_do_not_stall(seed: int) -> None:
    """A few of those that ``python -m cutplane.testing tables`` judges, where seconds count, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [finding for finding in judged(draw(seed)) if "stalled" in finding.what] == []
