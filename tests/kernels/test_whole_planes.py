"""Planes of the whole sample behind sampled cuts hold, whichever examples and labellings they are made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.kernels.expansions import HostKernelRows
from cutplane.kernels.functions import Kernel
from cutplane.kernels.whole_planes import Labelling, proof_by
from cutplane.structured.factored import BinaryHinge, ClassHinge, Violations
from cutplane.structured.weighted import WeightedRisk

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
CODES = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(np.int64) + (X[:, 1] > 1.0)
SIGNS = np.where(CODES > 0, 1, -1).astype(np.int8)
KERNEL = Kernel("rbf", gamma=1.0)
K = KERNEL.block(X, X).astype(float)
EVERYONE = np.arange(60)
RISKS = {
    "two classes": BinaryHinge(SIGNS),
    "an intercept": BinaryHinge(SIGNS, 2.0),
    "three classes": ClassHinge(CODES, 1.0 - np.eye(3)),
    "weights": WeightedRisk(ClassHinge(CODES, np.array([[0, 1, 3.7], [2, 0, 1], [1, 1, 0]])), RNG.uniform(0, 3, 60)),
}


def labellings(risk, seed: int, count: int) -> list[Labelling]:
    """The most violated labellings at random scores."""
    rng = np.random.default_rng(seed)
    points = [(rng.normal(size=(60, risk.columns)), rng.normal(size=risk.explicit)) for _ in range(count)]
    return [Labelling.of(risk.violations(EVERYONE, scores, weights)) for scores, weights in points]


@pytest.mark.parametrize("name", RISKS)
@given(seed=st.integers(0, 10**6), values=st.sampled_from([40.0, 4e3, 1e7]), scale=st.floats(0.01, 10.0))
def test_no_model_is_below_what_is_proven(name, seed, values, scale):
    risk, rng, C = RISKS[name], np.random.default_rng(seed), 20.0
    proof = proof_by(risk, HostKernelRows(X, KERNEL), labellings(risk, seed, 4), C, upper=1e3, most_values=values)
    assert proof.value >= 0.0
    coef, explicit = scale * rng.normal(size=(60, risk.columns)), scale * rng.normal(size=risk.explicit)
    losses = risk.violations(EVERYONE, K @ coef, explicit).values.mean()
    objective = 0.5 * (np.vdot(coef, K @ coef) + explicit @ explicit) + C * losses
    assert proof.value <= objective + 1e-5 * (1.0 + objective)


@pytest.mark.parametrize("name", RISKS)
def test_every_plane_is_below_the_risk(name):
    risk = RISKS[name]
    proof = proof_by(risk, HostKernelRows(X, KERNEL), labellings(risk, 1, 3), 5.0, upper=1e3, most_values=1e7)
    assert len(proof.planes) > 3  # those that were given, and more
    for seed in range(20):
        rng = np.random.default_rng(seed)
        coef, explicit = rng.normal(size=(60, risk.columns)), rng.normal(size=risk.explicit)
        scores = K @ coef
        value = risk.violations(EVERYONE, scores, explicit).values.mean()
        for plane, offset in zip(proof.planes, proof.offsets, strict=True):
            height = np.vdot(plane.coef, scores[plane.rows]) + plane.explicit @ explicit + offset
            assert height <= value + 1e-9


def test_more_time_proves_more():
    risk = RISKS["two classes"]
    found = labellings(risk, 2, 5)
    rows = HostKernelRows(X, KERNEL)
    bounds = [proof_by(risk, rows, found, 30.0, upper=1e3, most_values=values).value for values in (1e2, 1e4, 1e7)]
    assert 0.0 < bounds[0] < bounds[1] < bounds[2]


def test_planes_that_prove_all_there_is_are_enough():
    """By the rounding of kernel values, what is proven may be above the least objective known."""
    risk = RISKS["two classes"]
    for upper in (0.0, 1e-9):
        proof = proof_by(risk, HostKernelRows(X, KERNEL), labellings(risk, 2, 5), 30.0, upper=upper, most_values=1e9)
        assert len(proof.planes) == 5


def test_examples_without_a_loss_prove_nothing():
    risk = BinaryHinge(SIGNS)
    none = Labelling.of(Violations(np.zeros(60, bool), np.zeros(60), np.zeros(60)))
    assert proof_by(risk, HostKernelRows(X, KERNEL), [none], 1.0, upper=1.0, most_values=1e6).value == 0.0


def test_losses_are_kept_or_rounded_down():
    losses = np.array([0.0, 1.0, 1.0 / 3.0, 0.1, 1e-60, 2.0**24 + 1.0])
    kept = Labelling.of(Violations(np.arange(6), losses, losses))
    assert kept.losses.dtype == np.float32
    assert np.all(kept.losses <= losses)
    assert np.all(kept.losses >= losses * (1 - 1e-6) - 1e-44)
    assert kept.labels.dtype == np.int8
    wide = Labelling.of(Violations(np.array([0, 200]), np.array([0.0, 3.0]), np.zeros(2)))
    assert wide.labels.tolist() == [0, 200]
    assert wide.losses.dtype == np.int8
