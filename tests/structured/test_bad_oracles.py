"""Oracles that fail, lie or do not know: said plainly, with the example, and never certified."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cutplane import StructuralSVM, load
from cutplane.structured import OracleError
from cutplane.testing import check_oracle

sys.path.insert(0, str(Path(__file__).parent))
from tiny import Enumerated, optimum, sequences

X, Y = sequences(n=8, seed=1, longest=2)
LAST = 7


class Bad(Enumerated):
    """Wrong in one place, for one example."""

    def __init__(self, where, what):
        super().__init__()
        self.where, self.what = where, what

    def _wrong(self, name, x, right):
        if name == self.where and x is X[LAST]:
            return self.what(right) if callable(self.what) else self.what
        return right

    def joint_feature(self, x, y):
        return self._wrong("joint_feature", x, super().joint_feature(x, y))

    def loss_augmented_argmax(self, x, y, w):
        return self._wrong("search", x, super().loss_augmented_argmax(x, y, w))


def fail(_):
    raise ZeroDivisionError("no luck")


@pytest.mark.parametrize(
    ("where", "what", "words"),
    [
        ("joint_feature", lambda f: f * np.nan, "Example 7: joint_feature has the value nan at feature 0"),
        ("joint_feature", lambda f: f[:-1], "Example 7: joint_feature has length 7, but that of example 0 has 8"),
        ("joint_feature", lambda f: f[None, :], "Example 7: joint_feature failed"),
        ("joint_feature", fail, "Example 7: joint_feature failed .ZeroDivisionError: no luck"),
        ("search", fail, "Example 7: loss_augmented_argmax failed .ZeroDivisionError: no luck"),
        ("search", None, "Example 7: joint_feature failed"),
    ],
)
@pytest.mark.parametrize("method", ["one-slack", "frank-wolfe"])
def test_errors_name_the_example(where, what, words, method):
    with pytest.raises(OracleError, match=words):
        StructuralSVM(Bad(where, what), method=method).fit(X, Y)


@pytest.mark.parametrize("loss", [np.nan, np.inf])
def test_a_loss_that_is_none(loss):
    model = Enumerated()
    model.loss = lambda y, z: 0.0 if y == z else loss
    with pytest.raises(OracleError, match=f"Example .: loss is {loss}; it must be"):
        StructuralSVM(model).fit(X, Y)


def test_a_truth_that_costs():
    model = Enumerated()
    model.loss = lambda y, z: 1.0
    with pytest.raises(OracleError, match=r"Example 0: loss\(y, y\) is 1; the truth must cost nothing"):
        StructuralSVM(model).fit(X, Y)


class Liar(Enumerated):
    """Says it is exact and returns the worst labelling, once it has learned something."""

    def loss_augmented_argmax(self, x, y, w):
        best = max if not w.any() else min
        return best(self.labellings(x), key=lambda z: self.loss(y, z) + w @ self.joint_feature(x, z))


class Flatterer(Enumerated):
    """Says that the truth is always the best."""

    def loss_augmented_argmax(self, x, y, w):
        return y


class Forgetful(Enumerated):
    """Exact at first; later it returns the truth, which a better labelling beats."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def loss_augmented_argmax(self, x, y, w):
        self.calls += 1
        return super().loss_augmented_argmax(x, y, w) if self.calls <= len(X) else y


@pytest.mark.parametrize("method", ["one-slack", "frank-wolfe", "oca"])
def test_a_lie_below_the_truth_is_found_out(method):
    with pytest.raises(OracleError, match=r"Example \d: the labelling found .* below the truth, loss included"):
        StructuralSVM(Liar(), C=10.0, method=method).fit(X, Y)


def test_a_lie_below_what_was_found_earlier_is_found_out():
    with pytest.raises(OracleError, match=r"Example \d: .* but one it found earlier has"):
        StructuralSVM(Forgetful(), C=10.0).fit(X, Y)


@pytest.mark.parametrize("method", ["one-slack", "frank-wolfe", "oca"])
def test_a_lie_below_the_prediction_is_found_out(method):
    with pytest.raises(OracleError, match=r"Example \d: .* but the one that argmax predicts has"):
        StructuralSVM(Flatterer(), method=method).fit(X, Y)


@pytest.mark.parametrize("model", [Liar(), Flatterer()])
def test_check_oracle_finds_liars(model):
    with pytest.raises(AssertionError, match="loss_augmented_argmax found a labelling with"):
        check_oracle(model, X, Y)


@pytest.mark.parametrize(
    ("where", "what", "words"),
    [
        ("joint_feature", lambda f: f * np.nan, "example 7: joint_feature is not finite"),
        ("joint_feature", lambda f: f[:-1], "example 7: joint_feature has length 7; that of example 0 has 8"),
        ("joint_feature", fail, "example 7: joint_feature failed .ZeroDivisionError: no luck"),
        ("search", fail, "example 7: loss_augmented_argmax failed .ZeroDivisionError: no luck"),
    ],
)
def test_check_oracle_names_the_example(where, what, words):
    with pytest.raises(AssertionError, match=words):
        check_oracle(Bad(where, what), X, Y, trials=2)


def test_check_oracle_names_the_example_of_a_bad_loss():
    model = Enumerated()
    model.loss = lambda y, z: 0.0 if y == z else -1.0
    with pytest.raises(AssertionError, match=r"example 0: the loss of .* is -1.0; it must be finite, 0 or greater"):
        check_oracle(model, X, Y, trials=2)


class Hasty(Enumerated):
    """Looks at half of the labellings, and says so."""

    exact = False

    def labellings(self, x):
        return super().labellings(x)[::2]


@pytest.mark.parametrize("method", ["one-slack", "frank-wolfe", "oca"])
def test_an_inexact_oracle_never_certifies(method, tmp_path):
    steps = []
    svm = StructuralSVM(Hasty(), C=1.0, method=method, on_step=steps.append)
    with pytest.warns(ConvergenceWarning, match="nothing is certified"):
        svm.fit(X, Y)
    assert svm.objective_ == svm.gap_ == np.inf
    assert svm.stop_reason_ == "stalled"
    assert steps
    assert all(step.upper == step.gap == np.inf for step in [*svm.history_, *steps])
    assert 0.0 < svm.lower_bound_ <= optimum(Enumerated(), X, Y, 1.0) * (1 + 1e-6)
    svm.save(tmp_path / "hasty.safetensors")
    again = load(tmp_path / "hasty.safetensors")
    assert again.gap_ == np.inf
    with pytest.raises(ValueError, match="files keep the weights of a model of your own, not its code"):
        again.predict(X)
    assert again.set_params(model=Hasty()).predict(X) == svm.predict(X)


@pytest.mark.parametrize(
    ("params", "data", "words"),
    [
        ({}, (X, Y[:-1]), "X has 8 examples and y 7 labellings"),
        ({}, ([], []), "X is empty"),
        ({}, (iter(X), Y), "X is a list_iterator"),
        ({"model": "chain"}, (X, Y), "model='chain' must be a StructuredModel"),
        ({"C": -1.0}, (X, Y), "C=-1.0 must be"),
        ({"method": "newton"}, (X, Y), "method='newton' must be one of 'auto'"),
        ({"rescaling": "both"}, (X, Y), "rescaling='both' must be one of"),
        ({"backend": "dask"}, (X, Y), "backend='dask' must be one of"),
        ({"planes_kept": -1}, (X, Y), "planes_kept=-1 must be"),
    ],
)
def test_bad_arguments(params, data, words):
    with pytest.raises(ValueError, match=words):
        StructuralSVM(**{"model": Enumerated(), **params}).fit(*data)


def test_slack_rescaling_needs_its_search():
    from cutplane.structured.matching import MatchingModel

    x = np.zeros((2, 2, 1))
    with pytest.raises(NotImplementedError, match="MatchingModel has no slack_augmented_argmax"):
        StructuralSVM(MatchingModel(), rescaling="slack").fit([x], [[0, 1]])


def test_other_exits_keep_the_best_model():
    with pytest.warns(ConvergenceWarning, match="reached max_iter"):
        svm = StructuralSVM(Enumerated(), C=10.0, max_iter=2).fit(X, Y)
    assert svm.stop_reason_ == "max_iter"
    assert svm.lower_bound_ <= optimum(Enumerated(), X, Y, 10.0) <= svm.objective_ * (1 + 1e-9)
    with pytest.warns(ConvergenceWarning, match="was interrupted"):
        svm = StructuralSVM(Enumerated(), C=10.0, on_step=lambda step: True).fit(X, Y)
    assert svm.n_iter_ == 1
