"""Models small enough to enumerate, and their optima from an independent solver."""

from __future__ import annotations

from itertools import product

import cvxpy as cp
import numpy as np

from cutplane.structured import StructuredModel


class Enumerated(StructuredModel):
    """Label sequences, searched by trying every one; features are those of a linear chain."""

    def __init__(self, n_labels=2, n_features=2):
        self.k, self.d = n_labels, n_features

    def labellings(self, x):
        return list(product(range(self.k), repeat=len(x)))

    def joint_feature(self, x, y):
        states, moves = np.zeros((self.k, self.d)), np.zeros((self.k, self.k))
        for t, label in enumerate(y):
            states[label] += x[t]
            if t:
                moves[y[t - 1], label] += 1.0
        return np.concatenate([states.ravel(), moves.ravel()])

    def loss(self, y, y_hat):
        return float(sum(a != b for a, b in zip(y, y_hat, strict=True)))

    def argmax(self, x, w):
        return max(self.labellings(x), key=lambda y: w @ self.joint_feature(x, y))

    def loss_augmented_argmax(self, x, y, w):
        return max(self.labellings(x), key=lambda z: self.loss(y, z) + w @ self.joint_feature(x, z))

    def slack_augmented_argmax(self, x, y, w):
        truth = w @ self.joint_feature(x, y)
        return max(self.labellings(x), key=lambda z: self.loss(y, z) * (1.0 - truth + w @ self.joint_feature(x, z)))


def sequences(n=6, seed=0, k=2, d=2, longest=3):
    """Noisy sequences whose labels follow from their features and their neighbours."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(rng.integers(1, longest + 1)), d)) for _ in range(n)]
    Y = [tuple(int(v) for v in (np.abs(x[:, 0] + 0.3 * rng.normal(size=len(x))) * 1.5).astype(int) % k) for x in X]
    return X, Y


def optimum(model, X, Y, C, rescaling="margin", slacks="n"):
    """The least ½|w|² + C·Σ losses by enumeration; one slack for each example, or one for all."""
    dimension = len(model.joint_feature(X[0], Y[0]))
    w = cp.Variable(dimension)
    planes = []
    for x, y in zip(X, Y, strict=True):
        truth = model.joint_feature(x, y)
        rows = [(model.joint_feature(x, z) - truth, model.loss(y, z)) for z in model.labellings(x)]
        scale = [loss if rescaling == "slack" else 1.0 for _, loss in rows]
        slopes = np.array([s * slope for s, (slope, _) in zip(scale, rows, strict=True)])
        planes.append((slopes, np.array([loss for _, loss in rows])))
    if slacks == "n":
        risk = sum(cp.max(slopes @ w + offsets) for slopes, offsets in planes)
    else:
        slopes = np.array([np.sum(c, axis=0) for c in product(*(list(s) for s, _ in planes))])
        offsets = np.array([np.sum(c) for c in product(*(list(o) for _, o in planes))])
        risk = cp.max(slopes @ w + offsets)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * risk))
    problem.solve(solver=cp.CLARABEL)
    return problem.value
