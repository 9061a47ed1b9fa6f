"""Balls for every C between two: an independent solver's optimum lies in them, whatever points and planes say so."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

from cutplane.proof.ball import centred, scored
from cutplane.proof.ball_between import Anchor, Between, ends

# How far from the optimum the independent solver's weights can be.
ACCURACY = 2e-5


class Hinges:
    """A random problem with ties, weights and bounds of weights; the risk is the sum of the losses."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        n, d = int(rng.integers(5, 30)), int(rng.integers(1, 5))
        self.X = rng.integers(-2, 3, (n, d)) * 1.0 if rng.random() < 0.5 else rng.normal(size=(n, d)) + 0.4
        self.y = np.where(self.X[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
        self.weights = rng.integers(0, 3, n) * 0.5
        self.bounds = np.full(d, -0.3) if rng.random() < 0.3 else np.full(d, -np.inf)

    def risk(self, w):
        return float(self.weights @ np.maximum(0.0, 1.0 - self.y * (self.X @ w)))

    def optimum(self, C):
        w = cp.Variable(self.X.shape[1])
        losses = cp.multiply(self.weights, cp.pos(1 - cp.multiply(self.y, self.X @ w)))
        rules = [w[k] >= low for k, low in enumerate(self.bounds) if math.isfinite(low)]
        tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
        cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cp.sum(losses)), rules).solve(solver=cp.CLARABEL, **tight)
        return np.asarray(w.value)

    def anchor(self, C, w, tangent_at):
        """Of any weights that may be, and of the plane that touches the risk at any others."""
        below = self.y * (self.X @ tangent_at) < 1.0
        slope = -self.X.T @ (self.weights * self.y * below)
        return Anchor(C, w, self.risk(w), -C * slope, float(self.weights @ below))


@pytest.mark.parametrize("seed", range(14))
def test_the_optimum_lies_in_the_ball(seed):
    problem = Hinges(seed)
    Cs = np.sort(10.0 ** problem.rng.uniform(-2, 1, 2))
    far = float(problem.rng.choice([0.0, 0.1, 1.0]))
    anchors = []
    for C in Cs:
        moved = problem.optimum(C) + far * problem.rng.normal(size=(2, problem.X.shape[1]))
        anchors.append(problem.anchor(C, np.maximum(moved[0], problem.bounds), moved[1]))
    between = Between(*anchors)
    vectors = np.array([each.w for each in anchors] + [each.v for each in anchors])
    found = scored(problem.X, vectors)
    inside = np.sort(np.exp(problem.rng.uniform(*np.log(Cs), 2)))
    for low, high in ((Cs[0], Cs[0]), tuple(Cs), tuple(inside), (0.5 * Cs[0], 2.0 * Cs[1])):
        ball = between.ball(low, high)
        least, most = ends(ball, *found)
        for share in (0.0, 0.3, 1.0):
            w = problem.optimum(low + share * (high - low))
            centre = (ball.first + share * (ball.last - ball.first)) @ vectors
            assert np.linalg.norm(w - centre) <= ball.radius + ACCURACY
            scores, slack = problem.X @ w, ACCURACY * np.linalg.norm(problem.X, axis=1)
            assert (least <= scores + slack).all()
            assert (scores - slack <= most).all()


def test_nothing_is_left_of_the_ball_where_the_optimum_stays():
    """Rows far from each other: from some C on the optimum is the same, and two balls touch in it alone."""
    problem = Hinges(0)
    problem.X, problem.y, problem.weights = np.array([[2.0], [-2.0]]), np.array([1.0, -1.0]), np.ones(2)
    best = np.array([0.5])
    first, second = (Anchor(C, best, 0.0, best, 0.25 / C) for C in (1.0, 4.0))
    assert np.allclose(problem.optimum(1.0), best, atol=1e-6)
    assert Between(first, second).ball(2.0, 2.0).radius < 1e-6
    assert Between(first, first).ball(2.0, 2.0).radius == pytest.approx(0.25, rel=1e-6)


def test_a_smaller_range_has_a_smaller_ball_and_nothing_known_has_none():
    problem = Hinges(3)
    anchors = [problem.anchor(C, problem.optimum(C), problem.optimum(C)) for C in (0.1, 1.0)]
    between = Between(*anchors)
    assert between.ball(0.3, 0.3).radius <= between.ball(0.2, 0.5).radius <= between.ball(0.1, 1.0).radius
    nothing = Between(anchors[0], anchors[1]._replace(offset=-math.inf)).ball(0.1, 1.0)
    assert nothing.radius == math.inf
    low, high = ends(nothing, np.ones((2, 4)), np.zeros((2, 4)), np.ones(2))
    assert (low == -np.inf).all()
    assert (high == np.inf).all()


@pytest.mark.parametrize("seed", range(5))
def test_rows_counted_from_a_centre(seed):
    rng = np.random.default_rng(seed)
    X, weights, centre = rng.normal(size=(20, 4)) + 3.0, rng.normal(size=(2, 4)), rng.normal(size=4) + 3.0
    X[0] = centre
    found = centred(X, scored(X, weights), weights, centre)
    exact = (X.astype(np.longdouble) - centre) @ weights.T.astype(np.longdouble)
    assert (np.abs(found.scores - exact) <= found.errors).all()
    lengths = np.sqrt(np.square(X.astype(np.longdouble) - centre).sum(axis=1))
    assert (found.lengths >= lengths).all()
    assert np.allclose(found.lengths, lengths.astype(float), atol=1e-6)
