"""What certificates say of predictions: an independent solver's optimum must lie in every interval.

Models are taken as they are fitted, and moved away at random with their objective evaluated anew: those, too, have a
certificate that holds, and radii that are as tight as they can be.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from cutplane import LinearSVC, LinearSVR, OrdinalSVC, RankSVM, load
from cutplane.estimators.common.certain_classes import by_highest, by_highest_difference, by_sign, by_votes
from cutplane.estimators.common.score_bounds import label_bounds, pair_bounds, target_bounds
from cutplane.proof import ball
from cutplane.proof.prover import Plane, Prover
from cutplane.proof.rounding import Rounding
from cutplane.solvers.certificates import ProblemCertificate

LOSSES: dict[str, tuple[Any, dict[str, Any]]] = {
    "hinge": (lambda m, y: cp.pos(1 - cp.multiply(y, m)), {}),
    "squared_hinge": (lambda m, y: cp.square(cp.pos(1 - cp.multiply(y, m))), {}),
    "logistic": (lambda m, y: cp.logistic(-cp.multiply(y, m)), {}),
    "epsilon_insensitive": (lambda m, y: cp.pos(cp.abs(m - y) - 0.5), {"epsilon": 0.5}),
    "squared_epsilon_insensitive": (lambda m, y: cp.square(cp.pos(cp.abs(m - y) - 0.5)), {"epsilon": 0.5}),
    "huber": (lambda m, y: 0.5 * cp.huber(m - y, 0.7), {"delta": 0.7}),
    "quantile": (lambda m, y: 0.8 * cp.pos(y - m) + 0.2 * cp.pos(m - y), {"quantile": 0.8}),
}
BINARY = ("hinge", "squared_hinge", "logistic")
INTERCEPTS: dict[str, dict[str, Any]] = {
    "none": {"fit_intercept": False},
    "penalised": {"intercept_scaling": 1.5},
    "free": {},
}
# What the independent solver leaves open: of objectives, relative; and of intercepts, which the objective may not feel.
ACCURACY, OF_INTERCEPTS = 1e-9, 1e-3


class Drawn:
    """A random problem: ties, weights (some zero), a prior and bounds of weights, every kind of intercept."""

    def __init__(self, seed: int, loss: str, intercept: str) -> None:
        rng = self.rng = np.random.default_rng(seed)
        n, d = int(rng.integers(6, 40)), int(rng.integers(1, 6))
        self.loss, self.intercept = loss, intercept
        self.X = rng.integers(-2, 3, (n, d)) * 1.0 if rng.random() < 0.5 else rng.normal(size=(n, d)) + 0.4
        scores = self.X @ rng.normal(size=d) + rng.normal(size=n) + 0.5
        self.y = np.where(scores > np.median(scores), 1, -1) if loss in BINARY else scores
        self.y[:2] = (1, -1) if loss in BINARY else self.y[:2]
        self.weights = rng.integers(0, 4, n) * 0.5 if rng.random() < 0.5 else np.ones(n)
        self.weights[:2] = 1.0
        self.C = float(10.0 ** rng.uniform(-2, 1))
        self.prior = rng.normal(size=d) if rng.random() < 0.4 else None
        self.nonnegative = rng.random(d) < 0.5 if rng.random() < 0.3 else None
        self.new = 2.0 * rng.normal(size=(30, d))

    def model(self, **more: Any) -> Any:
        kind = LinearSVC if self.loss in BINARY else LinearSVR
        options = {"loss": self.loss, "loss_options": LOSSES[self.loss][1], "prior": self.prior}
        settings = {**options, "nonnegative": self.nonnegative, **INTERCEPTS[self.intercept], **more}
        return kind(self.C, **settings).fit(self.X, self.y, self.weights)

    def objective(self, w: Any, b: Any) -> Any:
        each = LOSSES[self.loss][0](self.X @ w + b, self.y)
        origin = np.zeros(w.shape[0]) if self.prior is None else self.prior
        total = 0.5 * cp.sum_squares(w - origin) + self.C * cp.sum(cp.multiply(self.weights, each))
        return total + (0.5 * (b / 1.5) ** 2 if self.intercept == "penalised" else 0.0)

    def optimum(self) -> tuple[np.ndarray, float, float]:
        """Weights and intercept of an independent solver, and how far from the optimum its weights can be."""
        w, b = cp.Variable(self.X.shape[1]), cp.Variable() if self.intercept != "none" else cp.Constant(0.0)
        rules = [] if self.nonnegative is None else [w[k] >= 0 for k in np.flatnonzero(self.nonnegative)]
        problem = cp.Problem(cp.Minimize(self.objective(w, b)), rules)
        tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
        value = float(problem.solve(solver=cp.CLARABEL, **tight))
        return w.value, float(b.value), math.sqrt(2.0 * ACCURACY * max(1.0, abs(value)))

    def moved(self, model: Any, far: float) -> Any:
        """The model with other weights, and a certificate that says what these are worth."""
        w = np.ravel(model.coef_) + far * self.rng.normal(size=self.X.shape[1])
        if self.nonnegative is not None:
            w = np.where(self.nonnegative, np.maximum(w, 0.0), w)
        b = float(model.intercept_[0]) + (far * float(self.rng.normal()) if self.intercept == "penalised" else 0.0)
        upper = float(self.objective(cp.Constant(w), cp.Constant(b)).value) * (1.0 + 1e-12)
        model.coef_, model.intercept_ = w.reshape(model.coef_.shape), np.array([b])
        model.certificates_ = [replace(model.certificates_[0], objective=upper, radius=math.inf)]
        return model


def misses(drawn: Drawn, model: Any, best: tuple[np.ndarray, float, float]) -> int:
    """How many of the optimum's scores, on old rows and new, lie outside of their intervals."""
    w, b, off = best
    model.certify_intercept(drawn.X, drawn.y, drawn.weights)
    rows = np.vstack([drawn.X, drawn.new])
    low, high = model.decision_bounds(rows)
    scores = rows @ w + b
    slack = off * np.hypot(np.linalg.norm(rows, axis=1), 1.5) + (OF_INTERCEPTS if drawn.intercept == "free" else 0.0)
    return int(np.sum((scores + slack < low) | (scores - slack > high)))


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_lies_in_every_interval(loss, intercept):
    for seed in range(6):
        drawn = Drawn(seed, loss, intercept)
        best = drawn.optimum()
        for tol in (1e-1, 1e-3, 1e-9):
            assert misses(drawn, drawn.model(tol=tol), best) == 0
        for far in (1.0, 0.1):
            assert misses(drawn, drawn.moved(drawn.model(tol=1e-9), far), best) == 0


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_half_the_radius_would_be_noticed(intercept, monkeypatch):
    # Else the test above proves little.
    right = ProblemCertificate.ball.fget
    monkeypatch.setattr(ProblemCertificate, "ball", property(lambda each: 0.5 * right(each)))
    found = 0
    for seed in range(12):
        drawn = Drawn(seed, "hinge", intercept)
        found += misses(drawn, drawn.moved(drawn.model(tol=1e-9), 1.0), drawn.optimum())
    assert found > 0


def test_intercepts_that_were_not_moved_would_be_noticed(monkeypatch):
    path = "cutplane.estimators.linear.certain_intercept.intercept_ends"
    monkeypatch.setattr(path, lambda terms, low, high, b: (b, b))
    drawn = [Drawn(seed, "hinge", "free") for seed in range(12)]
    assert sum(misses(each, each.moved(each.model(tol=1e-9), 1.0), each.optimum()) for each in drawn) > 0


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, np.float32])
def test_certain_labels_are_those_of_the_optimum(convert):
    for seed in range(8):
        drawn = Drawn(seed, "hinge", "free")
        w, b, _ = drawn.optimum()
        model = drawn.model(tol=1e-6).certify_intercept(drawn.X, drawn.y, drawn.weights)
        new = drawn.new.astype(np.float32)
        labels, certain = model.predict(convert(new), return_certain=True)
        assert np.array_equal(labels, model.predict(new))
        scores = new.astype(float) @ w + b
        assert (np.where(scores > 0, 1, -1) == labels)[certain].all()
        low, high = model.decision_bounds(new)
        assert np.array_equal(certain, (low > 0) | (high <= 0))
        truth = np.where(drawn.rng.random(len(new)) < 0.3, -labels, labels)
        figures = model.score_bounds(new, truth)
        accuracy = np.mean(np.where(scores > 0, 1, -1) == truth)
        assert figures["accuracy"][0] <= accuracy <= figures["accuracy"][1]


def several(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    return X, np.argmax(X[:, :3] + 0.5 * rng.normal(size=(60, 3)), axis=1)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_one_class_against_the_rest(intercept):
    X, y = several()
    model = LinearSVC(tol=1e-4, **INTERCEPTS[intercept]).fit(X, y).certify_intercept(X, y)
    exact = LinearSVC(tol=1e-12, **INTERCEPTS[intercept]).fit(X, y)
    low, high = model.decision_bounds(X)
    scores = exact.decision_function(X)
    assert low.shape == scores.shape
    assert ((low <= scores + 1e-4) & (scores - 1e-4 <= high)).all()
    labels, certain = model.predict(X, return_certain=True)
    assert certain.mean() > 0.5
    assert np.array_equal(labels[certain], exact.predict(X)[certain])
    assert exact.certify_intercept(X, y).predict(X, return_certain=True)[1].mean() > certain.mean() - 1e-9


@pytest.mark.parametrize("options", [{}, {"prior": True}, {"class_features": True}, {"two": True}])
@pytest.mark.parametrize("intercept", ["none", "penalised"])
def test_classes_trained_together(options, intercept):
    X, y = several()
    if "two" in options:
        X, y = X[y < 2], y[y < 2]
    k = len(np.unique(y))
    rng = np.random.default_rng(1)
    settings = dict(INTERCEPTS[intercept], multi_class="crammer_singer")
    features, origin = np.eye(k), np.zeros((k, 4))
    if "prior" in options:
        settings["prior"] = origin = rng.normal(size=(k, 4))
    if "class_features" in options:
        settings["class_features"] = features = rng.normal(size=(k, 2))
    W = cp.Variable((4 + (intercept == "penalised"), features.shape[1]))
    padded = np.column_stack([X, np.full(len(X), 1.5)]) if intercept == "penalised" else X
    given = np.pad(origin, ((0, 0), (0, padded.shape[1] - 4)))
    total = W @ features.T + given.T
    scores = padded @ total
    margins = [cp.max(scores[i] + (np.arange(k) != y[i])) - scores[i, y[i]] for i in range(len(X))]
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + sum(margins))).solve(solver=cp.CLARABEL)
    best = padded @ total.value
    best = best[:, 1:] - best[:, :1] if k == 2 else best
    for tol in (1e-1, 1e-4):
        model = LinearSVC(tol=tol, **settings).fit(X, y)
        low, high = (each.reshape(len(X), -1) for each in model.decision_bounds(X))
        assert ((low <= best + 1e-3) & (best - 1e-3 <= high)).all()
        labels, certain = model.predict(X, return_certain=True)
        winner = best.argmax(axis=1) if k > 2 else (best[:, 0] > 0).astype(int)
        assert np.array_equal(labels[certain], winner[certain])
    assert certain.mean() > 0.5


def test_differences_of_classes_are_known_better_than_their_scores():
    X, y = several()
    model = LinearSVC(tol=1e-3, multi_class="crammer_singer", fit_intercept=False).fit(X, y)
    apart = model.predict(X, return_certain=True)[1].mean()
    assert apart > (by_highest(*model.decision_bounds(X)) >= 0).mean()


def test_pairs_whose_order_is_proven():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) + 3.0
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=50), [2.5, 3.5])
    pairs = rng.integers(0, 50, (200, 2))
    for model in (RankSVM(tol=1e-4), OrdinalSVC(tol=1e-4)):
        qid = {"qid": np.zeros(50)} if isinstance(model, RankSVM) else {}
        model.fit(X, y, **qid)
        exact = type(model)(tol=1e-10).fit(X, y, **qid)
        scores = X @ exact.coef_[0]
        low, high = model.decision_bounds(X)
        assert ((low <= scores + 1e-4) & (scores - 1e-4 <= high)).all()
        order = model.proven_order(X, pairs)
        assert np.array_equal(order[order != 0], np.sign(scores[pairs[:, 0]] - scores[pairs[:, 1]])[order != 0])
        by_intervals = (low[pairs[:, 0]] > high[pairs[:, 1]]) | (high[pairs[:, 0]] < low[pairs[:, 1]])
        assert (order != 0).sum() > by_intervals.sum()
        assert np.array_equal(order, model.proven_order(sp.csr_array(X), pairs))
    with pytest.raises(ValueError, match="names row 50, but X has 50 rows"):
        model.proven_order(X, [[0, 50]])


def test_probabilities_lie_between_their_bounds():
    X, y = several()
    for labels in (y, y == 1):
        model = LinearSVC(loss="logistic", tol=1e-3).fit(X, labels).certify_intercept(X, labels)
        exact = LinearSVC(loss="logistic", tol=1e-12).fit(X, labels)
        low, high = model.probability_bounds(X)
        assert ((low <= exact.predict_proba(X) + 1e-4) & (exact.predict_proba(X) - 1e-4 <= high)).all()
        assert ((low <= model.predict_proba(X)) & (model.predict_proba(X) <= high)).all()
    with pytest.raises(AttributeError, match="has no attribute 'probability_bounds'"):
        LinearSVC().fit(X, y).probability_bounds  # noqa: B018


def test_what_is_not_proven_is_refused():
    X, y = several()
    model = LinearSVC().fit(X, y)
    with pytest.raises(ValueError, match=r"call certify_intercept\(X, y\)"):
        model.decision_bounds(X)
    with pytest.raises(ValueError, match="not the data of the fit"):
        model.certify_intercept(2.0 * X, y)
    with pytest.raises(ValueError, match="classes in y are not those"):
        model.certify_intercept(X, y + 1)
    with pytest.raises(ValueError, match="no sum over examples"):
        LinearSVC(loss="roc_area").fit(X, y == 1).certify_intercept(X, y == 1)


def test_a_new_fit_forgets_the_intercepts_of_the_last():
    X, y = several()
    model = LinearSVC().fit(X, y).certify_intercept(X, y)
    assert not hasattr(model.fit(X, y), "intercept_bounds_")


def test_intervals_outlive_a_file(tmp_path):
    X, y = several()
    model = LinearSVC().fit(X, y).certify_intercept(X, y)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert np.array_equal(again.decision_bounds(X), model.decision_bounds(X))


def test_a_radius_is_that_of_strong_convexity_and_no_less():
    # Where no example reaches its kink the risk is a plane: w = 0 is as far from the optimum as the radius says.
    g = np.array([0.3, 0.4])
    assert ball.radius(0.0, -0.5 * g @ g) == pytest.approx(0.5)
    assert ball.radius(0.0, -0.5 * g @ g) >= 0.5
    assert ball.radius(1.0, 1.0) == 0.0
    for bounds in ((np.inf, 0.0), (1.0, -np.inf), (1.0, 2.0), (np.nan, 0.0)):
        assert ball.radius(*bounds) == np.inf


class Flat:
    """A risk that is a plane: all that the prover asks of it for a radius."""

    lower_bound = -100.0


def test_a_plane_that_is_tight_at_the_model_narrows_the_ball():
    prover = Prover(Flat(), 1.0, Rounding())
    w = np.array([3.0, 4.0])
    # The plane's own least weights are w: both parabolas rise from there.
    assert prover.radius(Plane(-w, 0.0), w, 2.0, 0.0) == pytest.approx(math.sqrt(2.0))
    assert ball.radius(2.0, 0.0) == pytest.approx(2.0)
    # They are as far off as they can be: the optimum may be there, and the radius is the plain one.
    assert prover.radius(Plane(-2.0 * w, 0.0), w, 12.5, 0.0) == pytest.approx(5.0)
    # Bounds that no plane has proven.
    assert prover.radius(Plane(-w, 0.0), w, 2.0, -200.0) == ball.radius(2.0, -200.0)


def test_radii_of_fits_are_narrower_than_their_gaps_say():
    X, y = several()
    for each in LinearSVC(tol=1e-5).fit(X, y).certificates_:
        assert 0.7 < each.radius / ball.radius(each.objective, each.lower_bound) < 0.75


def test_lengths_are_not_too_short():
    for X in (np.full((1, 3), 1e-200), np.full((1, 3), 1e200, np.float64), np.full((2, 3), 1 / 3, np.float32)):
        for rows in (X, sp.csr_array(X)):
            found = ball.scored(rows, np.ones((1, 3)))
            exact = math.sqrt(3.0) * float(X[0, 0])
            assert found.lengths[0] >= exact


def test_classes_by_intervals():
    low, high = np.array([0.1, -0.2, -0.5]), np.array([0.4, 0.1, 0.0])
    assert by_sign(low, high).tolist() == [1, -1, 0]
    assert by_highest(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[2.0, 0.9], [2.0, 1.0]])).tolist() == [0, -1]
    scores, none = np.array([[1.0, 0.0]]), np.zeros((1, 2))
    near, far = np.array([0.5]), np.array([0.8])
    apart = np.sqrt(2.0) * (1.0 - np.eye(2))
    assert by_highest_difference(scores, none, near, apart).tolist() == [0]
    assert by_highest_difference(scores, none, far, apart).tolist() == [-1]
    # Pairs (0, 1), (0, 2), (1, 2): the first class wins both of its own, or one is open.
    assert by_votes(np.array([[1.0, 1.0, -1.0]]), np.array([[2.0, 2.0, 1.0]]), 3).tolist() == [0]
    assert by_votes(np.array([[1.0, -1.0, -1.0]]), np.array([[2.0, 2.0, 1.0]]), 3).tolist() == [-1]


def test_figures_by_intervals():
    bounds = label_bounds(np.array([0, 1, -1, 1]), np.array(["a", "a", "a", "b"]), np.array(["a", "b"]))
    assert bounds["accuracy"] == (0.5, 0.75)
    assert bounds["balanced_accuracy"] == pytest.approx((2 / 3, 5 / 6))
    positive = np.array([True, True, False])
    assert pair_bounds(np.array([2.0, 0.0, 1.0]), np.array([3.0, 2.0, 1.5]), positive) == pytest.approx((0.5, 1.0))
    assert pair_bounds(np.full(3, -np.inf), np.full(3, np.inf), positive) == pytest.approx((0.0, 1.0))
    y = np.array([0.0, 2.0])
    assert target_bounds(y - 1.0, y, y)["r2"] == pytest.approx((0.0, 1.0))
    with pytest.raises(ValueError, match="same value everywhere"):
        target_bounds(y, y, np.ones(2))


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"])
def test_without_redundant_examples_the_optimum_is_the_same(loss, intercept):
    found = 0
    for seed in range(4):
        drawn = Drawn(seed, loss, intercept)
        model = drawn.model(tol=1e-7)
        redundant = model.redundant_examples(drawn.X, drawn.y, drawn.weights)
        found += int(redundant[drawn.weights > 0].sum())
        exact = drawn.model(tol=1e-12)
        drawn.X, drawn.y, drawn.weights = (each[~redundant] for each in (drawn.X, drawn.y, drawn.weights))
        if loss in BINARY and len(np.unique(drawn.y)) < 2:
            continue
        assert np.allclose(drawn.model(tol=1e-12).coef_, exact.coef_, atol=1e-4)
    assert found > 0


def test_examples_at_their_bound_are_so_at_the_optimum():
    drawn = Drawn(3, "hinge", "free")
    w, b, _ = drawn.optimum()
    model = drawn.model(tol=1e-7)
    bound = model.bound_examples(drawn.X, drawn.y, drawn.weights)
    redundant = model.redundant_examples(drawn.X, drawn.y, drawn.weights)
    margins = drawn.y * (drawn.X @ w + b)
    assert bound.any()
    assert (margins[bound] < 1.0).all()
    assert (margins[redundant & (drawn.weights > 0)] > 1.0).all()
    assert not (bound & redundant).any()


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_losses_that_are_flat_nowhere_have_no_redundant_examples(loss):
    drawn = Drawn(2, loss, "none")
    X = 1e3 * drawn.X  # scores beyond what exp can tell from nothing
    weights = np.ones(len(X))
    kind = LinearSVC if loss in BINARY else LinearSVR
    model = kind(loss=loss, fit_intercept=False).fit(X, drawn.y)
    assert not model.redundant_examples(X, drawn.y, weights).any()


def test_several_classes_are_screened_together():
    X, y = several()
    model = LinearSVC(tol=1e-8).fit(X, y)
    assert model.redundant_examples(X, y).shape == (60,)
    assert model.bound_examples(X, y).shape == (60, 3)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("classes", [2, 3])
def test_training_until_predictions_are_certain(intercept, classes):
    X, y = several()
    y = np.minimum(y, classes - 1)
    plain = LinearSVC(tol=0.3, method="oca", **INTERCEPTS[intercept]).fit(X, y).certify_intercept(X, y)
    assert plain.predict(X, return_certain=True)[1].mean() < 0.95
    model = LinearSVC(tol=0.3, method="oca", certain_on=(X, 0.95), **INTERCEPTS[intercept]).fit(X, y)
    assert model.stop_reason_ == "certain"
    assert model.predict(X, return_certain=True)[1].mean() >= 0.95
    assert model.gap_ < plain.gap_
    iterations = [step.iteration for step in model.certificates_[0].history]
    assert iterations == list(range(1, len(iterations) + 1))
    assert model.certificates_[0].n_iter == len(iterations)


def test_certainty_that_cannot_be_had_is_not_claimed():
    X, y = several()
    nowhere = np.zeros((1, 4))  # without an intercept its score is 0, for every model
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(fit_intercept=False, certain_on=(nowhere, 1.0)).fit(X, y)
    assert model.stop_reason_ != "certain"
    assert model.gap_ < 1e-9


@pytest.mark.parametrize("wrong", [0.9, (np.zeros((1, 4)), 1.5), (np.zeros((1, 4)), True), ([[0.0]], None)])
def test_goals_that_make_no_sense_are_refused(wrong):
    X, y = several()
    with pytest.raises(ValueError, match="must be a share above 0 and at most 1"):
        LinearSVC(certain_on=wrong).fit(X, y)
