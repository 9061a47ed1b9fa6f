"""Every ready-made model keeps the contract of oracles and has the optimum that enumeration finds."""

from __future__ import annotations

import sys
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import LinearSVC, StructuralSVM
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import HierarchyModel, MulticlassModel
from cutplane.structured.matching import MatchingModel
from cutplane.structured.multilabel import MultilabelModel
from cutplane.testing import check_oracle

sys.path.insert(0, str(Path(__file__).parent))
from tiny import optimum

TREE = {"cat": "mammal", "dog": "mammal", "mammal": "animal", "fish": "animal", "animal": "thing", "stone": "thing"}
COST = np.array([[0.0, 2.0, 0.5], [1.0, 0.0, 3.0], [0.0, 1.0, 0.0]])


def classes(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    codes = (np.abs(X[:, 0] + 0.5 * rng.normal(size=12)) * 2).astype(int) % len(model.labels)
    return model, X, [model.labels[c] for c in codes], lambda x: model.labels


def multilabel():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9, 3))
    Y = (X[:, :2] + 0.5 * rng.normal(size=(9, 2)) > 0).astype(int)
    return MultilabelModel(2), X, Y, lambda x: [np.array(y) for y in product((0, 1), repeat=2)]


def matching():
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(3, 3 + i % 2, 2)) for i in range(6)]
    Y = [rng.permutation(x.shape[1])[:3] for x in X]
    return MatchingModel(), X, Y, lambda x: [np.array(p) for p in permutations(range(x.shape[1]), 3)]


def chain(cost=None):
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(n, 2)) for n in (1, 2, 3, 3, 2)]
    X[2] = sp.csr_array(X[2])
    Y = [rng.integers(0, 3, size=x.shape[0]) for x in X]
    labellings = lambda x: [np.array(y, dtype=np.int32) for y in product(range(3), repeat=x.shape[0])]  # noqa: E731
    return ChainModel(3, 2, cost), X, Y, labellings


CASES = {
    "multi-class": lambda: classes(MulticlassModel(["a", "b", "c"])),
    "costs": lambda: classes(MulticlassModel(["a", "b", "c"], COST)),
    "hierarchy": lambda: classes(HierarchyModel(TREE)),
    "multi-label": multilabel,
    "matching": matching,
    "chain": chain,
    "chain, costs": lambda: chain(COST),
}
SLACK = ("multi-class", "costs", "hierarchy")


@pytest.mark.parametrize("name", CASES)
def test_contract(name):
    model, X, Y, labellings = CASES[name]()

    def random_labelling(x, y, rng):
        choices = labellings(x)
        return choices[rng.integers(len(choices))]

    check_oracle(model, X, Y, labellings=random_labelling, slack=name in SLACK, trials=5)


@pytest.mark.parametrize("method", ["auto", "one-slack", "frank-wolfe"])
@pytest.mark.parametrize("name", CASES)
def test_optimum(name, method):
    model, X, Y, model.labellings = CASES[name]()
    best = optimum(model, X, Y, 0.7)
    tol = 1e-4 if method == "frank-wolfe" else 1e-5  # which takes a hundred times as long for another digit
    svm = StructuralSVM(model, C=0.7, tol=tol, method=method).fit(X, Y)
    assert svm.objective_ == pytest.approx(best, rel=2 * tol)
    assert svm.lower_bound_ <= best * (1 + 1e-6)


@pytest.mark.parametrize("name", SLACK)
def test_optimum_of_slack_rescaling(name):
    model, X, Y, model.labellings = CASES[name]()
    best = optimum(model, X, Y, 0.7, "slack")
    svm = StructuralSVM(model, C=0.7, tol=1e-5, rescaling="slack").fit(X, Y)
    assert svm.objective_ == pytest.approx(best, rel=2e-5)


@pytest.mark.parametrize("name", ["multi-class", "hierarchy", "multi-label", "chain"])
def test_a_bound_sample_sweeps_as_the_methods_do(name):
    from cutplane.structured.oracle import OracleSample

    model, X, Y, _ = CASES[name]()
    bound = model.bind(X, Y, rescaling="margin", n_threads=1)
    called = OracleSample(model, X, Y)
    for w in np.random.default_rng(0).normal(size=(5, called.dimension)):
        one, other = bound.sweep(w), called.sweep(w)
        assert one.heights == pytest.approx(other.heights, abs=1e-12)
        assert one.slope == pytest.approx(other.slope, abs=1e-12)
        assert one.offset == pytest.approx(other.offset, abs=1e-12)


def test_multilabel_is_one_hinge_for_each_label():
    model, X, Y, _ = multilabel()
    together = StructuralSVM(model, C=0.5, tol=1e-6).fit(X, Y)
    alone = [LinearSVC(C=0.5, tol=1e-6, fit_intercept=False).fit(X, Y[:, k]).objective_ for k in range(2)]
    assert together.objective_ == pytest.approx(sum(alone), rel=3e-6)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize(
    "model",
    [
        MulticlassModel(["a", "b", "c"]),
        MulticlassModel(["a", "b", "c"], COST + 0.5 - 0.5 * np.eye(3)),
        HierarchyModel(TREE),
    ],
)
def test_classes_have_the_optimum_of_the_dedicated_risk(model, rescaling):
    _, X, y, _ = classes(model)
    structured = StructuralSVM(model, C=0.7, tol=1e-6, rescaling=rescaling).fit(X, y)
    dedicated = LinearSVC(
        C=0.7,
        tol=1e-6,
        multi_class="crammer_singer",
        cost_matrix=model.cost,
        class_features=model.memberships,
        rescaling=rescaling,
        fit_intercept=False,
    ).fit(X, y)
    assert sorted(model.labels) == dedicated.classes_.tolist() == model.labels
    assert structured.objective_ == pytest.approx(dedicated.objective_, rel=3e-6)
    assert max(structured.lower_bound_, dedicated.lower_bound_) <= min(structured.objective_, dedicated.objective_)


def test_two_classes_are_a_binary_hinge():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1, -1)
    # Weights +u and -u of two classes: |w|² is twice |u|², and u is half the binary weights.
    two = StructuralSVM(MulticlassModel([-1, 1]), C=0.5, tol=1e-6).fit(X, y.tolist())
    binary = LinearSVC(C=1.0, tol=1e-6, fit_intercept=False).fit(X, y)
    assert two.objective_ == pytest.approx(0.5 * binary.objective_, rel=3e-6)


@pytest.mark.parametrize("name", CASES)
def test_saved_models_predict_the_same(name, tmp_path):
    from cutplane import load

    model, X, Y, _ = CASES[name]()
    svm = StructuralSVM(model, C=1.0).fit(X, Y)
    svm.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert type(again.model) is type(model)
    for one, other in zip(svm.predict(X), again.predict(X), strict=True):
        assert np.array_equal(one, other)
    assert (again.gap_, again.C) == (svm.gap_, svm.C)
