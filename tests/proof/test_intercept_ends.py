"""Ends of best intercepts: by brute force over scores within their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from cutplane.proof.intercept_ends import intercept_ends
from cutplane.proof.losses import LOSSES, Terms

PARAMETERS = {
    "tube": {"epsilon": 0.25, "above": 0.2, "below": 0.8},
    "squared_tube": {"epsilon": 0.25},
    "huber": {"delta": 0.75},
}


def drawn(name: str, seed: int) -> tuple[Terms, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    y = np.where(np.arange(n) % 2, 1.0, -1.0) if "hinge" in name or name == "logistic" else rng.normal(size=n).round(1)
    weights = rng.random(n) + 0.1 if seed % 2 else None
    terms = Terms(name, PARAMETERS.get(name, {}), y, weights, 1.0 / n)
    scores, half = rng.normal(size=n).round(1), 0.5 * rng.random(n)
    return terms, scores - half, scores + half


GRID = np.linspace(-12.0, 12.0, 4001)


def best(terms: Terms, scores: np.ndarray) -> np.ndarray:
    """The intercepts of a grid that make the risk least."""
    each = terms.loss.value(scores[:, None] + GRID, np.asarray(terms.y)[:, None])
    values = each.sum(axis=0) if terms.weights is None else terms.weights @ each
    return GRID[values <= values.min() * (1.0 + 1e-12)]


@pytest.mark.parametrize("name", LOSSES)
def test_every_best_intercept_lies_between_the_ends(name):
    for seed in range(20):
        terms, low, high = drawn(name, seed)
        below, above = intercept_ends(terms, low, high, 0.0)
        assert below <= 0.0 <= above
        rng = np.random.default_rng(seed)
        for scores in (low, high, *(rng.uniform(low, high) for _ in range(5))):
            found = best(terms, scores)
            assert below - 0.006 <= found.min()
            assert found.max() <= above + 0.006


@pytest.mark.parametrize("name", LOSSES)
def test_ends_are_about_as_near_as_they_can_be(name):
    for seed in range(20):
        terms, low, high = drawn(name, seed)
        below, above = intercept_ends(terms, low, high, 0.0)
        first, last = best(terms, high).min(), best(terms, low).max()
        # A hundredth of the distance from where the search began, and the grid.
        assert below >= min(0.0, first) - 0.011 * abs(first) - 0.02
        assert above <= max(0.0, last) + 0.011 * abs(last) + 0.02


def test_nothing_is_known_of_intercepts_where_nothing_is_of_scores():
    terms, low, high = drawn("hinge", 0)
    assert intercept_ends(terms, np.full_like(low, -np.inf), np.full_like(high, np.inf), 0.0) == (-np.inf, np.inf)
    alone = Terms("hinge", {}, np.ones(3), None, 1.0)  # falls for ever
    assert intercept_ends(alone, np.zeros(3), np.zeros(3), 0.0)[1] == np.inf


def test_tangents_are_slopes_of_the_losses():
    s = np.arange(-192, 193) / 64  # exact, and so are the kinks
    for name, kind in LOSSES.items():
        loss = kind(**PARAMETERS.get(name, {}))
        for target in (1.0, -1.0):
            y = np.full_like(s, target)
            left, right = loss.tangents(s, y)
            step = 1e-6
            assert left == pytest.approx((loss.value(s, y) - loss.value(s - step, y)) / step, abs=1e-4)
            assert right == pytest.approx((loss.value(s + step, y) - loss.value(s, y)) / step, abs=1e-4)
