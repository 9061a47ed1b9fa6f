"""Classes that are trained together, with free intercepts: an independent solver's optimum must lie in every interval.

Models are taken as they are fitted, and moved away at random with their objective evaluated anew: those, too, have a
certificate that holds, and intervals that are as tight as they can be.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from cutplane import LinearSVC, LogisticRegression, load
from cutplane.estimators.common.certain_classes import by_highest
from cutplane.proof.ball import Scored
from cutplane.proof.class_intercepts import ClassEnds, ClassProblem, HalfSpaces, _enclosed, _Leaning, class_ends
from cutplane.proof.class_losses import ClassMargin, ClassSoftmax
from cutplane.solvers.certificates import ProblemCertificate

KINDS = ("margin", "slack", "softmax")
# What the independent solver leaves open: of objectives, relative; and of intercepts, which the objective may not feel.
ACCURACY, OF_INTERCEPTS = 1e-9, 1e-3


class Drawn:
    """A random problem: ties, weights (some zero), costs, a prior and bounds of weights."""

    def __init__(self, seed: int, kind: str) -> None:
        rng = self.rng = np.random.default_rng(seed)
        self.kind, self.k = kind, int(rng.integers(3 if kind == "softmax" else 2, 5))
        n, d, k = int(rng.integers(8, 30)), int(rng.integers(1, 5)), self.k
        self.X = rng.integers(-2, 3, (n, d)) * 1.0 if rng.random() < 0.5 else rng.normal(size=(n, d)) + 0.4
        self.y = np.argmax(self.X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)), axis=1)
        self.y[:k] = np.arange(k)
        self.weights = rng.integers(0, 4, n) * 0.5 if rng.random() < 0.5 else np.ones(n)
        self.weights[:k] = 1.0
        self.C = float(10.0 ** rng.uniform(-2, 1))
        self.new = 2.0 * rng.normal(size=(20, d))
        self.cost, self.settings = 1.0 - np.eye(k), {}
        self.origin, self.nonnegative = np.zeros((d, k)), np.zeros(d, bool)
        if kind != "softmax":
            self._draw_options(d, k)

    def _draw_options(self, d: int, k: int) -> None:
        rng, rows = self.rng, 1 if self.k == 2 else self.k
        self.settings |= {"multi_class": "crammer_singer", "rescaling": self.kind}
        if rng.random() < 0.6:
            self.cost = self.cost * rng.choice([0.5, 1.0, 3.0], (k, k))
            self.settings["cost_matrix"] = self.cost
        if rng.random() < 0.4:
            prior = self.settings["prior"] = rng.normal(size=(rows, d))
            self.origin = prior.T if rows > 1 else np.column_stack([-0.5 * prior[0], 0.5 * prior[0]])
        if k > 2 and rng.random() < 0.3:
            self.nonnegative = self.settings["nonnegative"] = rng.random(d) < 0.5

    def model(self, **more: Any) -> Any:
        kind = LogisticRegression if self.kind == "softmax" else LinearSVC
        return kind(C=self.C, **self.settings, **more).fit(self.X, self.y, self.weights)

    def objective(self, W: Any, b: Any) -> Any:
        scores = self.X @ W + np.ones((len(self.X), 1)) @ cp.reshape(b, (1, self.k), order="C")
        true = cp.sum(cp.multiply(np.eye(self.k)[self.y], scores), axis=1)
        if self.kind == "softmax":
            each = cp.log_sum_exp(scores, axis=1) - true
        else:
            factor = self.cost if self.kind == "slack" else np.ones((self.k, self.k))
            apart = scores - cp.reshape(true, (len(self.X), 1), order="C") @ np.ones((1, self.k))
            each = cp.max(self.cost[self.y] + cp.multiply(factor[self.y], apart), axis=1)
        return 0.5 * cp.sum_squares(W - self.origin) + self.C * (self.weights @ each)

    def optimum(self) -> tuple[np.ndarray, float]:
        """The scores of an independent solver's optimum on all rows, and how far its weights can be off."""
        W, b = cp.Variable(self.origin.shape), cp.Variable(self.k)
        rules = [cp.sum(b) == 0] + [W[j] >= 0 for j in np.flatnonzero(self.nonnegative)]
        problem = cp.Problem(cp.Minimize(self.objective(W, b)), rules)
        tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
        value = float(problem.solve(solver=cp.CLARABEL, **tight))
        scores = self.rows @ W.value + b.value
        scores = scores[:, 1:] - scores[:, :1] if self.k == 2 else scores
        return scores, math.sqrt(2.0 * ACCURACY * max(1.0, abs(value)))

    @property
    def rows(self) -> np.ndarray:
        return np.vstack([self.X, self.new])

    def moved(self, model: Any, far: float) -> Any:
        """The model with other weights and intercepts, and a certificate that says what these are worth."""
        weights, intercept = (far * self.rng.normal(size=each.shape) for each in (model.coef_, model.intercept_))
        return self.moved_by(model, weights, intercept)

    def moved_by(self, model: Any, weights: Any, intercept: Any) -> Any:
        model.coef_ = model.coef_ + weights
        model.coef_[:, self.nonnegative] = np.maximum(model.coef_[:, self.nonnegative], 0.0)
        b = model.intercept_ + intercept
        model.intercept_ = b if self.k == 2 else b - b.mean()
        W, b = model.coef_.T, model.intercept_
        if self.k == 2:
            W, b = np.column_stack([-0.5 * W, 0.5 * W]), np.array([-0.5 * b[0], 0.5 * b[0]])
        upper = float(self.objective(cp.Constant(W), cp.Constant(b)).value) * (1.0 + 1e-12)
        model.certificates_ = [replace(model.certificates_[0], objective=upper, radius=math.inf)]
        return model


def misses(drawn: Drawn, model: Any, best: tuple[np.ndarray, float]) -> int:
    """How many of the optimum's scores lie outside of their intervals, and of certain labels are not the optimum's."""
    scores, off = best
    model.certify_intercept(drawn.X, drawn.y, drawn.weights)
    low, high = (each.reshape(scores.shape) for each in model.decision_bounds(drawn.rows))
    assert (low <= high).all()
    slack = off * np.hypot(np.linalg.norm(drawn.rows, axis=1), 1.0)[:, None] + OF_INTERCEPTS
    labels, certain = model.predict(drawn.rows, return_certain=True)
    padded = np.pad(scores, ((0, 0), (drawn.k == 2, 0)))
    ahead = padded[np.arange(len(padded)), labels]
    beaten = certain & (ahead + 2.0 * slack[:, 0] < padded.max(axis=1))
    return int(np.sum((scores + slack < low) | (scores - slack > high)) + np.sum(beaten))


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_lies_in_every_interval(kind):
    for seed in (0, 1, 6, 11, 14):  # of two classes, three and four
        drawn = Drawn(seed, kind)
        best = drawn.optimum()
        assert misses(drawn, drawn.model(tol=1e-1), best) == 0
        good = drawn.model(tol=1e-5)
        assert misses(drawn, good, best) == 0
        assert np.isfinite(good.intercept_bounds_).all()
        assert misses(drawn, drawn.moved(good, 0.5), best) == 0


def test_a_radius_too_small_would_be_noticed(monkeypatch):
    # Else the test above proves little.
    right = ProblemCertificate.ball.fget
    monkeypatch.setattr(ProblemCertificate, "ball", property(lambda each: 0.5 * right(each)))
    drawn = Drawn(0, "margin")
    drawn.C, drawn.new = 1e-3, 100.0 * drawn.new  # so far off that intercepts hardly count
    towards = 0.01 * np.outer(np.eye(drawn.k)[0], drawn.new[0])
    assert misses(drawn, drawn.moved_by(drawn.model(tol=1e-6), towards, 0.0), drawn.optimum()) > 0


@pytest.mark.parametrize("name", ["ends", "heights"])
def test_ends_too_near_would_be_noticed(name, monkeypatch):
    if name == "ends":
        path = "cutplane.estimators.linear.certain_classifier.class_ends"
        monkeypatch.setattr(path, lambda p, *_: ClassEnds(p.X.mean(axis=0), *np.zeros((2, len(p.intercept)))))
    else:
        right = _Leaning._height
        monkeypatch.setattr(_Leaning, "_height", lambda self, *about: 0.1 * right(self, *about))
    drawn = [Drawn(seed, kind) for seed in range(2) for kind in ("margin", "softmax")]
    moved = [each.moved_by(each.model(tol=1e-6), 0.0, 5.0 * np.eye(max(each.k, 3))[0][: each.k]) for each in drawn]
    assert sum(misses(each, model, each.optimum()) for each, model in zip(drawn, moved, strict=True)) > 0


def several() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) + 1.0
    return X, np.argmax(X[:, :3] + 0.5 * rng.normal(size=(90, 3)), axis=1)


MODELS = [LinearSVC(multi_class="crammer_singer", tol=1e-5), LogisticRegression(tol=1e-5)]


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("model", MODELS, ids=lambda each: type(each).__name__)
def test_certain_labels_are_those_of_the_optimum(model, convert):
    X, y = several()
    model = clone(model).fit(convert(X), y).certify_intercept(convert(X), y)
    exact = clone(model).set_params(tol=1e-9).fit(X, y)
    new = np.random.default_rng(1).normal(size=(300, 4)) + 1.0
    labels, certain = model.predict(convert(new), return_certain=True)
    assert certain.mean() > 0.9
    assert np.array_equal(labels[certain], exact.predict(new)[certain])
    low, high = model.decision_bounds(new)
    assert ((low <= model.decision_function(new)) & (model.decision_function(new) <= high)).all()
    assert certain.mean() > (by_highest(low, high) >= 0).mean()  # differences of scores are known better than scores
    truth = np.argmax(new[:, :3], axis=1)
    least, most = model.score_bounds(new, truth)["accuracy"]
    assert least <= exact.score(new, truth) <= most <= least + 0.1
    assert (
        (model.intercept_bounds_[:, 0] <= exact.intercept_) & (exact.intercept_ <= model.intercept_bounds_[:, 1])
    ).all()


def test_probabilities_lie_between_their_bounds():
    X, y = several()
    model = LogisticRegression(tol=1e-5).fit(X, y).certify_intercept(X, y)
    low, high = model.probability_bounds(X)
    exact = LogisticRegression(tol=1e-9).fit(X, y).predict_proba(X)
    assert ((low <= exact) & (exact <= high)).all()
    assert (high - low).max() < 0.1


@pytest.mark.parametrize("model", MODELS, ids=lambda each: type(each).__name__)
def test_training_until_labels_are_certain(model):
    X, y = several()
    found = clone(model).set_params(tol=0.1, certain_on=(X, 0.95)).fit(X, y)
    assert found.stop_reason_ == "certain"
    assert found.predict(X, return_certain=True)[1].mean() >= 0.95


@pytest.mark.parametrize("model", MODELS, ids=lambda each: type(each).__name__)
def test_intervals_outlive_a_file(model, tmp_path):
    X, y = several()
    model = clone(model).fit(X, y).certify_intercept(X, y)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert np.array_equal(again.decision_bounds(X), model.decision_bounds(X))
    assert np.array_equal(again.predict(X, return_certain=True)[1], model.predict(X, return_certain=True)[1])
    again.certify_intercept(X, y)  # what a loaded model has is enough to find them anew
    assert np.array_equal(again.decision_bounds(X), model.decision_bounds(X))
    again.fit(X, y)
    with pytest.raises(ValueError, match=r"call certify_intercept\(X, y\)"):
        again.decision_bounds(X)


def test_a_prior_outlives_a_file(tmp_path):
    X, y = several()
    settings = {"multi_class": "crammer_singer", "prior": np.full((3, 4), 0.1)}
    model = LinearSVC(**settings).fit(X, y).certify_intercept(X, y)
    model.save(tmp_path / "model.safetensors")
    assert np.array_equal(load(tmp_path / "model.safetensors").decision_bounds(X), model.decision_bounds(X))


def test_damaged_ends_are_refused():
    X, y = several()
    model = clone(MODELS[0]).fit(X, y).certify_intercept(X, y)
    arrays, _ = model._to_file()
    for name, wrong in (("class_ends", arrays["class_ends"][:, ::-1]), ("class_centre", np.full(4, np.nan))):
        with pytest.raises(ValueError, match=r"the centre of the rows|the ends of the classes"):
            model._weights_from_file({**arrays, name: wrong}, model.coef_.shape)


def test_what_is_not_proven_is_refused():
    X, y = several()
    model = clone(MODELS[0]).fit(X, y)
    with pytest.raises(ValueError, match=r"call certify_intercept\(X, y\)"):
        model.predict(X, return_certain=True)
    with pytest.raises(ValueError, match="not the data of the fit"):
        model.certify_intercept(2.0 * X, y)
    shared = clone(MODELS[0]).set_params(class_features=np.arange(6.0).reshape(3, 2))
    for wrong in (shared.fit, lambda X, y: shared.set_params(certain_on=None).fit(X, y).certify_intercept(X, y)):
        shared.set_params(certain_on=(X, 0.5))
        with pytest.raises(ValueError, match="class_features have no proven bounds"):
            wrong(X, y)


def scored(problem: ClassProblem) -> Scored:
    scores = problem.X @ problem.weights
    return Scored(scores, np.full_like(scores, 1e-14), np.linalg.norm(problem.X, axis=1))


def test_every_best_intercept_is_between_the_ends():
    # Rows without features, as many of one class as of the other: every difference of intercepts from -1 to 1 is best.
    y = np.array([0, 1, 0, 1])
    costs = 1.0 - np.eye(2)
    problem = ClassProblem(np.zeros((4, 1)), y, np.ones(4), ClassMargin(costs, costs), np.zeros((1, 2)), np.zeros(2))
    ends = class_ends(problem, scored(problem), 0.0)
    assert ends.high[1] - ends.low[0] == pytest.approx(1.0, abs=1e-6)
    assert ends.high[1] - ends.low[0] >= 1.0
    assert ends.high[0] - ends.low[1] >= 1.0


def test_a_class_without_examples_has_no_best_intercept():
    problem = ClassProblem(
        np.ones((4, 1)), np.array([0, 1, 0, 1]), np.ones(4), ClassSoftmax(), np.zeros((1, 3)), np.zeros(3)
    )
    ends = class_ends(problem, scored(problem), 0.1)
    assert np.isinf([ends.low, ends.high]).all()
    assert np.isinf(class_ends(problem, scored(problem), math.inf).high).all()


def test_the_model_that_is_the_optimum_is_known_to_be():
    # As many of each class: by symmetry the best weights and intercepts are zero.
    problem = ClassProblem(np.ones((6, 1)), np.arange(6) % 3, np.ones(6), ClassSoftmax(), np.zeros((1, 3)), np.zeros(3))
    ends = class_ends(problem, scored(problem), 0.0)
    assert np.abs([ends.low, ends.high]).max() < 1e-6


@pytest.mark.parametrize("loss", [ClassMargin(2.0 * (1.0 - np.eye(3)), np.ones((3, 3))), ClassSoftmax()], ids=str)
def test_planes_are_below_their_loss_by_what_they_say(loss):
    rng = np.random.default_rng(0)
    y, move = rng.integers(3, size=50), 2.0 * rng.normal(size=3)
    here, elsewhere = 2.0 * rng.normal(size=(2, 50, 3))
    examples = loss.of(here, np.zeros(50), y)
    plane = examples.touching(move)
    assert np.allclose(plane.coef.sum(axis=1), 0.0, atol=1e-12)
    value = examples.values - plane.below
    assert np.allclose(value + plane.coef @ move, loss.of(here + move, np.zeros(50), y).values)
    above = loss.of(elsewhere, np.zeros(50), y).values
    assert (value + (plane.coef * (elsewhere - here)).sum(axis=1) <= above + 1e-12).all()


def test_half_spaces_enclose():
    # The triangle x1 <= 1, x2 <= 2, x1 + x2 >= -3, with x3 = -x1 - x2: no entry but the third is bounded by one plane.
    normals = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    spaces = HalfSpaces(normals - 1.0 / 3.0, np.zeros(3), np.array([1.0, 2.0, 3.0]))
    low, high = _enclosed(spaces)
    assert np.allclose(high, [1.0, 2.0, 3.0], atol=1e-6)
    assert np.allclose(low, [-5.0, -4.0, -3.0], atol=1e-6)
    assert (high >= [1.0, 2.0, 3.0]).all()
    wider = _enclosed(spaces._replace(errors=np.full(3, 0.01)))
    assert (wider[1] > high + 0.01).all()
    assert _enclosed(HalfSpaces(*(each[:2] for each in spaces))) is None
    assert _enclosed(spaces._replace(errors=np.full(3, 0.9))) is None
