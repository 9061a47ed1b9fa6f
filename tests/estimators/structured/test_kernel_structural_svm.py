"""`KernelStructuralSVM` as its users meet it, and its optimum by an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests.structured.tiny import Enumerated, optimum, sequences

from cutplane import KernelStructuralSVM, SampledCutSVC, StructuralSVM, load
from cutplane.kernels import Kernel
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import HierarchyModel, MulticlassModel
from cutplane.structured.factored_chain import ChainHinge
from cutplane.structured.matching import MatchingModel
from cutplane.structured.multilabel import MultilabelModel
from cutplane.testing import check_factors

CHAIN = ChainModel(n_labels=3, n_features=4)
TREE = {"cat": "mammal", "dog": "mammal", "mammal": "animal", "fish": "animal"}


def chains(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(rng.integers(1, 6)), 4)) for _ in range(n)]
    return X, [(np.abs(1.5 * x[:, 0])).astype(int) % 3 for x in X]


X, Y = chains()


POINTS = np.random.default_rng(3).normal(size=(12, 2))
LABELS = np.random.default_rng(4).integers(0, 2, size=(12, 3))
PAIRS = [np.random.default_rng(n).normal(size=(2 + n % 2, 4, 3)) for n in range(12)]
PLACES = [np.random.default_rng(n).permutation(4)[: 2 + n % 2] for n in range(12)]
COST = [[0.0, 2.0, 1.0], [1.0, 0.0, 5.0], [0.5, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("model", "examples", "labellings"),
    [
        (CHAIN, X, Y),
        (ChainModel(3, 4, cost=COST), X, Y),
        (MulticlassModel(["a", "b", "c"], cost=COST), POINTS, list("abcabcabcabc")),
        (HierarchyModel(TREE), POINTS, ["cat", "dog", "fish"] * 4),
        (MultilabelModel(3), POINTS, LABELS),
        (MatchingModel(), PAIRS, PLACES),
    ],
    ids=["chain", "chain with costs", "classes with costs", "tree", "several labels", "matchings"],
)
def test_factors_keep_their_contract(model, examples, labellings):
    check_factors(model, examples, labellings)


def test_factors_that_break_their_contract_are_told():
    class Short(ChainHinge):
        def reach(self, squared_lengths):
            return 1.0

    class Blind(ChainHinge):
        def violations(self, examples, scores, weights):
            return super().violations(examples, 0.0 * scores, weights)

    for kind, words in ((Short, "is beyond 1.0"), (Blind, "loss and direction make it")):

        class Broken(ChainModel):
            def factors(self, kind=kind):
                whole = super().factors()
                whole.risk = lambda X, Y, n_threads: kind(
                    np.concatenate([[0], np.cumsum([len(y) for y in Y])]), np.concatenate(Y).astype(np.int32), self.cost
                )
                return whole

        with pytest.raises(AssertionError, match=words):
            check_factors(Broken(3, 4), X, Y)


@pytest.mark.parametrize("stabilised", [True, False])
def test_with_the_linear_kernel_it_is_the_linear_model(stabilised):
    linear = StructuralSVM(CHAIN, C=0.5, tol=1e-5).fit(X, Y)
    kernel = KernelStructuralSVM(CHAIN, 0.5, kernel="linear", risk_tol=1e-4, stabilised=stabilised).fit(X, Y)
    assert kernel.stop_reason_ == "risk_tol"
    assert kernel.objective_ - kernel.lower_bound_ <= 1e-4 * 0.5 * len(X) * (1 + 1e-6)
    assert max(kernel.lower_bound_, linear.lower_bound_) <= min(kernel.objective_, linear.objective_) * (1 + 1e-6)
    weights = np.concatenate([(kernel.support_vectors_.T @ kernel.dual_coef_).ravel(), kernel.explicit_coef_])
    for x, found in zip(X, kernel.predict(X), strict=True):
        # Kernel values are single precision, so labellings may differ where two score the same.
        best = weights @ CHAIN.joint_feature(x, CHAIN.argmax(x, weights))
        assert weights @ CHAIN.joint_feature(x, found) == pytest.approx(best, rel=1e-4, abs=1e-4)


class KernelTokens(Enumerated):
    """Label sequences by enumeration, tokens by rows of a root of the kernel matrix."""


def test_the_optimum_of_a_tiny_chain_by_clarabel():
    tokens, labels = sequences(n=6, seed=1)
    rows = np.concatenate(tokens)
    K = Kernel("rbf", gamma=0.7).block(rows, rows).astype(float)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    parts = np.split(root, np.cumsum([len(x) for x in tokens])[:-1])
    best = optimum(KernelTokens(2, root.shape[1]), parts, labels, C=2.0)
    model = KernelStructuralSVM(ChainModel(2, 2), 2.0, gamma=0.7, risk_tol=1e-5).fit(tokens, labels)
    assert model.lower_bound_ <= best * (1 + 1e-5)
    assert best * (1 - 1e-5) <= model.objective_ <= best + 1.1e-5 * 2.0 * len(tokens)
    sampled = KernelStructuralSVM(ChainModel(2, 2), 2.0, gamma=0.7, method="linear", n_samples_cut=3, risk_tol=1e-3)
    sampled.fit(tokens, labels)
    assert 0.5 * best <= sampled.lower_bound_ <= best * (1 + 1e-5)
    assert best * (1 - 1e-5) <= sampled.objective_


def test_the_objective_is_that_of_the_expansion():
    model = KernelStructuralSVM(CHAIN, 1.0, gamma=0.5, method="linear", n_samples_cut=30).fit(X, Y)
    rows = np.concatenate(X)
    K = Kernel("rbf", gamma=0.5).block(rows, model.support_vectors_).astype(float)
    inside = Kernel("rbf", gamma=0.5).block(model.support_vectors_, model.support_vectors_).astype(float)
    square = np.vdot(model.dual_coef_, inside @ model.dual_coef_) + model.explicit_coef_ @ model.explicit_coef_
    scores = np.split(K @ model.dual_coef_, np.cumsum([len(x) for x in X])[:-1])
    # The scores as features, an identity as their weights: the linear chain says what the risk is.
    weights = np.concatenate([np.eye(3).ravel(), model.explicit_coef_])
    plain = ChainModel(3, 3)
    risk = 0.0
    for s, y in zip(scores, Y, strict=True):
        found = plain.loss_augmented_argmax(s, y, weights)
        risk += plain.loss(y, found) + weights @ (plain.joint_feature(s, found) - plain.joint_feature(s, y))
    assert model.objective_ == pytest.approx(0.5 * square + risk, rel=1e-4)


@pytest.mark.parametrize("method", ["exact", "linear", "constant"])
def test_what_no_linear_chain_learns(method):
    settings = {"gamma": 1.0, "method": method, "n_samples_cut": 30, "risk_tol": 0.05}
    model = KernelStructuralSVM(CHAIN, 20.0, **settings).fit(X, Y)
    linear = StructuralSVM(CHAIN, 20.0).fit(X, Y)
    assert model.score(X, Y) > -0.3 > linear.score(X, Y)
    assert np.isfinite(model.gap_) == (method != "constant")


def test_sparse_tokens_are_the_same_as_dense_ones():
    dense = KernelStructuralSVM(CHAIN, gamma=0.5).fit(X, Y)
    sparse = KernelStructuralSVM(CHAIN, gamma=0.5).fit([sp.csr_array(x) for x in X], Y)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-2)
    assert sp.issparse(sparse.support_vectors_)
    same = [np.array_equal(a, b) for a, b in zip(dense.predict(X), sparse.predict(X), strict=True)]
    assert np.mean(same) > 0.9


def test_threads_do_not_change_a_bit():
    found = [KernelStructuralSVM(CHAIN, method="linear", n_samples_cut=20, n_jobs=jobs).fit(X, Y) for jobs in (1, 2)]
    np.testing.assert_array_equal(found[0].dual_coef_, found[1].dual_coef_)
    np.testing.assert_array_equal(found[0].explicit_coef_, found[1].explicit_coef_)


def test_flat_classes_are_those_of_the_classifier():
    rng = np.random.default_rng(0)
    points, codes = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    names = np.array(["a", "b", "c"])[codes]
    model = KernelStructuralSVM(MulticlassModel(["a", "b", "c"]), gamma=1.0, risk_tol=1e-4).fit(points, names.tolist())
    classifier = SampledCutSVC(gamma=1.0, method="exact", risk_tol=1e-4).fit(points, names)
    assert model.objective_ == pytest.approx(classifier.objective_, rel=1e-3)


def test_leaves_of_a_tree_with_the_linear_kernel():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 3))
    names = [("cat", "dog", "fish")[code] for code in points.argmax(axis=1)]
    linear = StructuralSVM(HierarchyModel(TREE), tol=1e-5).fit(points, names)
    kernel = KernelStructuralSVM(HierarchyModel(TREE), kernel="linear", risk_tol=1e-5).fit(points, names)
    assert max(kernel.lower_bound_, linear.lower_bound_) <= min(kernel.objective_, linear.objective_) * (1 + 1e-6)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-3)
    assert np.mean(np.array(kernel.predict(points)) == np.array(linear.predict(points))) > 0.9


@pytest.mark.parametrize(
    ("model", "examples", "labellings"), [(MultilabelModel(3), POINTS, LABELS), (MatchingModel(), PAIRS, PLACES)]
)
def test_labels_and_matchings_with_the_linear_kernel(model, examples, labellings):
    linear = StructuralSVM(model, tol=1e-5).fit(examples, labellings)
    kernel = KernelStructuralSVM(model, kernel="linear", risk_tol=1e-5).fit(examples, labellings)
    assert max(kernel.lower_bound_, linear.lower_bound_) <= min(kernel.objective_, linear.objective_) * (1 + 1e-6)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-3)
    gaussian = KernelStructuralSVM(model, 100.0, gamma=2.0).fit(examples, labellings)
    assert gaussian.score(examples, labellings) > -0.2


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_files_keep_the_model(kernel, tmp_path):
    data, chain = X, CHAIN
    if kernel == "precomputed":
        rows = np.concatenate(X)
        K = Kernel("rbf", gamma=0.5).block(rows, rows).astype(float)
        data = np.split(K, np.cumsum([len(x) for x in X])[:-1])
        chain = ChainModel(3, len(rows))
    model = KernelStructuralSVM(chain, 2.0, kernel=kernel, gamma=0.5).fit(data, Y)
    model.save(tmp_path / "m")
    back = load(tmp_path / "m")
    assert (back.objective_, back.gap_, back.history_) == (model.objective_, model.gap_, model.history_)
    for a, b in zip(model.predict(data), back.predict(data), strict=True):
        np.testing.assert_array_equal(a, b)


def test_scikit_learn_conventions():
    model = KernelStructuralSVM(CHAIN, 2.0, gamma=0.5)
    assert clone(model).get_params()["gamma"] == 0.5
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.fit(X, Y) is model
    assert model.predict([]) == []


def test_a_report_is_written(tmp_path):
    model = KernelStructuralSVM(CHAIN, gamma=0.5, method="constant", n_samples_cut=10, risk_tol=0.5).fit(X, Y)
    model.report(tmp_path / "r.html")
    assert "Cuts of sampled examples prove no gap" in (tmp_path / "r.html").read_text()


def test_a_model_without_a_factorised_kernel_is_refused():
    with pytest.raises(ValueError, match=r"Enumerated has no factors\(\), .* ChainModel"):
        KernelStructuralSVM(Enumerated()).fit([np.zeros((2, 2))], [(0, 1)])


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_samples_cut": 0}, "n_samples_cut=0 must be"),
        ({"n_samples_cut": 41}, "n_samples_cut=41 is more than the 40 examples"),
        ({"C": -1.0}, "C=-1.0 must be"),
        ({"risk_tol": 0}, "risk_tol=0 must be"),
        ({"kernel": "cosine"}, "kernel='cosine' must be one of"),
        ({"method": "fast"}, "method='fast' must be one of"),
        ({"memory": 0}, "memory=0 must be"),
        ({"model": None}, "model=None must be a StructuredModel"),
    ],
)
def test_bad_parameters_are_one_sentence(params, words):
    with pytest.raises(ValueError, match=words):
        KernelStructuralSVM(**{"model": CHAIN, **params}).fit(X, Y)


def test_bad_examples_are_one_sentence():
    model = KernelStructuralSVM(CHAIN)
    with pytest.raises(ValueError, match="X has 2 examples and y 1 labellings"):
        model.fit(X[:2], Y[:1])
    with pytest.raises(ValueError, match="Example 1: "):
        model.fit(X[:2], [Y[0], [7] * len(Y[1])])
    with pytest.raises(ValueError, match=r"X\[0\] has 5 features, but the model is for 4\."):
        model.fit([np.zeros((2, 5))], [[0, 1]])
    place = "Row 3 of X, counted through all examples, has the value NaN in column 2; every value must be finite"
    odd = np.zeros((2, 4))
    odd[1, 2] = np.nan
    with pytest.raises(ValueError, match=place):
        model.fit([sp.csr_array((2, 4)), sp.csr_array(odd)], [[0, 1], [0, 1]])
    with pytest.raises(ValueError, match=r"X\[1\]\[1, 2\] is nan; every value must be finite"):
        model.fit([np.zeros((2, 4)), odd], [[0, 1], [0, 1]])


def test_a_kernel_that_is_not_positive_semi_definite_is_warned_of_and_ends():
    model = KernelStructuralSVM(CHAIN, kernel=lambda A, B: -(A @ B.T), max_iter=20)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model.fit(X, Y)
    assert model.n_iter_ <= 20
    # Nothing is proven of what need not be a minimum.
    assert model.gap_ == np.inf
    assert model.bound_ == np.inf


def test_a_run_that_ends_early_says_so():
    with pytest.warns(ConvergenceWarning, match="KernelStructuralSVM ended by max_iter after 2 iterations"):
        KernelStructuralSVM(CHAIN, max_iter=2).fit(X, Y)
