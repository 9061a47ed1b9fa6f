"""The prover's own evaluation of the softmax risk: within its error of the truth."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from cutplane.proof.softmax import softmax_at


def truth(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        total = Decimal(0)
        for row, label, weight in zip(scores.tolist(), y.tolist(), weights.tolist(), strict=True):
            exact = [Decimal(score) for score in row]
            total += Decimal(weight) * (sum((score.exp() for score in exact), Decimal(0)).ln() - exact[label])
        return total


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 500.0])
@pytest.mark.parametrize("k", [2, 3, 40])
def test_the_value_is_within_its_error(size: float, k: int) -> None:
    rng = np.random.default_rng(k)
    scores = size * rng.standard_normal((60, k))
    y, weights = rng.integers(k, size=60).astype(np.int32), rng.random(60)
    value, error = softmax_at(scores, y, weights, 0.0, 0.0)
    assert abs(Decimal(value) - truth(scores, y, weights)) <= Decimal(error)
    assert error <= 1e-11 * value


def test_scores_that_are_off_are_allowed_for() -> None:
    rng = np.random.default_rng(0)
    scores, y = 4.0 * rng.standard_normal((300, 5)), rng.integers(5, size=300).astype(np.int32)
    scores[np.arange(300), y] += 10.0  # nearly certain: the loss is far less steep than it can be
    for delta in (1e-6, 0.1, 2.0):
        value, error = softmax_at(scores, y, None, 1.0 / 300, delta)
        for _ in range(20):
            other = scores + delta * rng.choice([-1.0, 1.0], scores.shape)
            worst = np.where(np.arange(5) == y[:, None], scores - delta, scores + delta)
            for moved in (other, worst):
                assert abs(softmax_at(moved, y, None, 1.0 / 300, 0.0).value - value) <= error
