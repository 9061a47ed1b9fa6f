"""Weights of structured examples and of sampled cuts: an example of weight 3 is one that is there three times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane import KernelStructuralSVM, SampledCutSVC, SequenceSVM, StructuralSVM
from cutplane.structured import StructuredModel
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import MulticlassModel
from cutplane.structured.matching import MatchingModel
from cutplane.structured.multilabel import MultilabelModel

N = 30
rng = np.random.default_rng(0)
WEIGHTS = rng.integers(0, 4, size=N).astype(float)
ROWS = rng.normal(size=(N, 3))
CLASSES = np.argmax(ROWS + 0.7 * rng.normal(size=(N, 3)), axis=1)
FLAGS = (ROWS + 0.7 * rng.normal(size=(N, 3)) > 0).astype(int)
SEQUENCES = [rng.normal(size=(length, 4)) for length in rng.integers(1, 6, size=N)]
LABELS = [np.argmax(x[:, :3] + 0.6 * rng.normal(size=(len(x), 3)), axis=1).tolist() for x in SEQUENCES]
PAIRS = [rng.normal(size=(3, 3, 2)) for _ in range(N)]
MATCHES = [rng.permutation(3).tolist() for _ in range(N)]


class Nearest(StructuredModel):
    """One of three numbers: a model of a user's own."""

    def joint_feature(self, x: Any, y: Any) -> Any:
        return np.array([x * y, -0.5 * y * y])

    def loss(self, y: Any, y_hat: Any) -> float:
        return abs(y - y_hat)

    def argmax(self, x: Any, w: Any) -> Any:
        return max((0, 1, 2), key=lambda y: w @ self.joint_feature(x, y))

    def loss_augmented_argmax(self, x: Any, y: Any, w: Any) -> Any:
        return max((0, 1, 2), key=lambda z: self.loss(y, z) + w @ self.joint_feature(x, z))

    def slack_augmented_argmax(self, x: Any, y: Any, w: Any) -> Any:
        truth = w @ self.joint_feature(x, y)
        return max((0, 1, 2), key=lambda z: self.loss(y, z) * (1.0 + w @ self.joint_feature(x, z) - truth))


def own(**params: Any) -> Any:
    return lambda: StructuralSVM(Nearest(), tol=1e-5, **params), ROWS[:, 0].tolist(), CLASSES.tolist()


CASES: dict[str, Any] = {
    "own, one-slack": own(method="one-slack"),
    "own, without a cache": own(method="one-slack", planes_kept=0),
    "own, oca": own(method="oca"),
    "own, frank-wolfe": own(method="frank-wolfe"),
    "own, slack": own(rescaling="slack"),
    "classes": (lambda: StructuralSVM(MulticlassModel([0, 1, 2]), tol=1e-5), ROWS, CLASSES.tolist()),
    "classes, slack": (
        lambda: StructuralSVM(MulticlassModel([0, 1, 2]), tol=1e-5, rescaling="slack"),
        ROWS,
        CLASSES.tolist(),
    ),
    "classes, frank-wolfe": (
        lambda: StructuralSVM(MulticlassModel([0, 1, 2]), tol=1e-4, method="frank-wolfe"),
        ROWS,
        CLASSES.tolist(),
    ),
    "labels": (lambda: StructuralSVM(MultilabelModel(3), tol=1e-5), ROWS, list(FLAGS)),
    "matchings": (lambda: StructuralSVM(MatchingModel(), tol=1e-4), PAIRS, MATCHES),
    "chains": (lambda: StructuralSVM(ChainModel(3, 4), tol=1e-4, method="one-slack"), SEQUENCES, LABELS),
    "sequences": (lambda: SequenceSVM(tol=1e-4), SEQUENCES, LABELS),
    "sequences, one-slack": (lambda: SequenceSVM(tol=1e-4, method="one-slack"), SEQUENCES, LABELS),
    "kernel, chains": (
        lambda: KernelStructuralSVM(ChainModel(3, 4), gamma=0.5, risk_tol=1e-4, C=0.3),
        SEQUENCES,
        LABELS,
    ),
    "kernel, matchings": (lambda: KernelStructuralSVM(MatchingModel(), gamma=0.5, risk_tol=1e-4), PAIRS, MATCHES),
    "kernel, labels": (lambda: KernelStructuralSVM(MultilabelModel(3), gamma=0.5, risk_tol=1e-4), ROWS, list(FLAGS)),
    "cuts, two classes": (
        lambda: SampledCutSVC(gamma=0.5, method="exact", risk_tol=1e-4, intercept_scaling=1.0),
        ROWS,
        CLASSES > 0,
    ),
    "cuts, three classes": (lambda: SampledCutSVC(gamma=0.5, method="exact", risk_tol=1e-4), ROWS, CLASSES),
}


def repeated(values: Any) -> Any:
    where = np.repeat(np.arange(N), WEIGHTS.astype(int))
    return values[where] if isinstance(values, np.ndarray) else [values[i] for i in where]


@pytest.mark.parametrize("name", CASES)
def test_a_weight_is_so_many_copies(name: str) -> None:
    make, X, y = CASES[name]
    weighted, copied = make().fit(X, y, sample_weight=WEIGHTS), make().fit(repeated(X), repeated(y))
    # Either model's bounds hold for the other: they are bounds of the same problem.
    assert weighted.lower_bound_ <= copied.objective_
    assert copied.lower_bound_ <= weighted.objective_
    assert weighted.gap_ < 0.02
    plain = make().fit(X, y)
    assert plain.objective_ < weighted.lower_bound_ or plain.lower_bound_ > weighted.objective_  # proven to differ


def test_labels_of_sequences_without_weight_stay() -> None:
    X, y = [*SEQUENCES, SEQUENCES[0][:1]], [*LABELS, [7]]
    model = SequenceSVM(C=1.0).fit(X, y, sample_weight=[*np.ones(N), 0.0])
    assert model.classes_.tolist() == [0, 1, 2, 7]
    assert model.coef_.shape == (4, 4)
    assert model.score(SEQUENCES, LABELS) > 0.7
    assert 7 not in {label for labels in model.predict(SEQUENCES) for label in labels}


@pytest.mark.nightly
@pytest.mark.parametrize("name", CASES)
def test_twice_the_weight_is_twice_the_C(name: str) -> None:
    make, X, y = CASES[name]
    heavy, strict = make().fit(X, y, sample_weight=np.full(N, 2.0)), make()
    strict.set_params(C=2.0 * strict.C).fit(X, y)
    assert heavy.lower_bound_ <= strict.objective_
    assert strict.lower_bound_ <= heavy.objective_


@pytest.mark.parametrize("name", ["own, one-slack", "chains", "sequences", "kernel, labels"])
def test_scores_weigh_examples_as_copies(name: str) -> None:
    make, X, y = CASES[name]
    model = make().set_params(max_iter=1).fit(X, y)  # far from right, so that examples differ
    assert model.score(X, y, sample_weight=WEIGHTS) == pytest.approx(model.score(repeated(X), repeated(y)))
    assert model.score(X, y, sample_weight=WEIGHTS) != pytest.approx(model.score(X, y))
    assert model.score(X, y, sample_weight=np.ones(N)) == pytest.approx(model.score(X, y))
    with pytest.raises(ValueError, match="negative"):
        model.score(X, y, sample_weight=-np.ones(N))


@pytest.mark.parametrize("method", ["linear", "constant"])
@pytest.mark.parametrize("classes", [2, 3])
def test_sampled_cuts_see_weights(method: str, classes: int) -> None:
    X = np.random.default_rng(1).normal(size=(400, 3))
    y = np.arange(400) % classes
    last = classes - 1
    weights = np.where(y == last, 10.0, 1.0)  # nothing else tells the classes apart
    model = SampledCutSVC(C=0.01, gamma=0.1, method=method, n_samples_cut=100, intercept_scaling=None, random_state=0)
    assert np.mean(model.fit(X, y, sample_weight=weights).predict(X) == last) > 0.9
    assert np.mean(model.fit(X, y).predict(X) == last) < 0.9


@pytest.mark.parametrize("name", ["own, one-slack", "sequences", "kernel, chains", "cuts, two classes"])
def test_weights_that_are_none_are_refused(name: str) -> None:
    make, X, y = CASES[name]
    with pytest.raises(ValueError, match="negative"):
        make().fit(X, y, sample_weight=-np.ones(N))
    with pytest.raises(ValueError, match="non-zero"):
        make().fit(X, y, sample_weight=np.zeros(N))
    with pytest.raises(ValueError, match="sample_weight"):
        make().fit(X, y, sample_weight=np.ones(N - 1))
