"""Slack re-scaling for chains: the search by mistakes against every labelling, and the optimum against a solver."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane import StructuralSVM
from cutplane.structured.chain import ChainModel

sys.path.insert(0, str(Path(__file__).parent))
from tiny import Enumerated, optimum, sequences


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 4), st.booleans())
def test_the_search_beats_every_labelling(seed, k, length, sparse):
    rng = np.random.default_rng(seed)
    model, all_of_them = ChainModel(k, 2), Enumerated(k, 2)
    x, y, w = rng.normal(size=(length, 2)), rng.integers(0, k, size=length), rng.normal(size=model.dimension)

    def height(z):
        violation = w @ (model.joint_feature(x, z) - model.joint_feature(x, y))
        return model.loss(y, z) * (1.0 + violation)

    found = model.slack_augmented_argmax(sp.csr_array(x) if sparse else x, y, w)
    assert height(found) == pytest.approx(max(height(z) for z in all_of_them.labellings(x)), abs=1e-12)


def test_the_optimum_is_that_of_enumeration():
    X, Y = sequences(seed=2)
    svm = StructuralSVM(ChainModel(2, 2), C=0.5, rescaling="slack", tol=1e-6).fit(X, Y)
    best = optimum(Enumerated(), X, Y, 0.5, "slack")
    assert svm.lower_bound_ <= best * (1 + 1e-6)
    assert svm.objective_ == pytest.approx(best, rel=2e-6)
    assert svm.objective_ != pytest.approx(optimum(Enumerated(), X, Y, 0.5), rel=1e-3)


def test_other_costs_are_refused():
    model = ChainModel(2, 1, cost=[[0.0, 2.0], [1.0, 0.0]])
    with pytest.raises(NotImplementedError, match="mistakes cost 1 each"):
        model.slack_augmented_argmax(np.ones((1, 1)), [0], np.zeros(model.dimension))
