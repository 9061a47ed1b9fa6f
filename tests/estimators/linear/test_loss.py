"""`loss=` takes a name or a user's own risk."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cutplane import LinearSVC
from cutplane.risks.base import Array, Risk, ScoreCut
from cutplane.risks.hinge import Hinge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5))
Y = np.where(X @ RNG.normal(size=5) + 0.5 * RNG.normal(size=200) > 0.3, "yes", "no")


class Ramp(Risk):
    """The hinge, as a user writes it: the mean of max(0, margin - y·score)."""

    def __init__(self, y: Any, sample_weight: Any = None, *, margin: float = 1.0) -> None:
        self.y, self.margin = y, margin
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.share = weights / weights.sum()

    def value(self, scores: Array) -> float:
        return float(self.share @ np.maximum(0.0, self.margin - self.y * scores))

    def cut(self, scores: Array) -> ScoreCut:
        active = self.share * (self.margin - self.y * scores >= 0.0)
        return ScoreCut(-self.y * active, self.margin * float(active.sum()), self.value(scores))


class Contrary(Ramp):
    def decide(self, scores: Array) -> Any:
        return np.where(scores > 0, -1, 1)


class Differences(Ramp):
    """A loss of differences of scores alone: there is no intercept to find."""

    shift_invariant = True
    binary_only = True

    def value(self, scores: Array) -> float:
        return super().value(scores - scores.mean())

    def cut(self, scores: Array) -> ScoreCut:
        coef, offset, value = super().cut(scores - scores.mean())
        return ScoreCut(coef - coef.mean(), offset, value)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["auto", "oca"])
def test_a_users_hinge_has_the_optimum_of_ours(fit_intercept, weighted, method):
    weights = np.linspace(0.5, 2.0, 200) if weighted else None
    ours = LinearSVC(C=0.5, tol=1e-6, fit_intercept=fit_intercept).fit(X, Y, weights)
    own = LinearSVC(C=0.5, loss=Ramp, method=method, tol=1e-4, fit_intercept=fit_intercept).fit(X, Y, weights)
    assert own.gap_ <= 1e-4
    assert own.lower_bound_ <= ours.objective_ * (1 + 1e-9)
    assert own.objective_ >= ours.lower_bound_ * (1 - 1e-9)
    assert (own.predict(X) == ours.predict(X)).mean() > 0.98


def test_options_reach_the_loss():
    narrow = LinearSVC(loss=Ramp, loss_options={"margin": 0.5}).fit(X, Y)
    same = LinearSVC(loss=partial(Ramp, margin=0.5)).fit(X, Y)
    assert np.array_equal(narrow.coef_, same.coef_)
    assert not np.allclose(narrow.coef_, LinearSVC(loss=Ramp).fit(X, Y).coef_)


def test_a_loss_survives_cloning():
    assert clone(LinearSVC(loss=Ramp)).loss is Ramp


def test_a_loss_may_decide_for_itself():
    usual, contrary = LinearSVC(loss=Ramp).fit(X, Y), LinearSVC(loss=Contrary).fit(X, Y)
    assert (usual.predict(X) != contrary.predict(X)).all()


def test_a_model_that_decides_for_itself_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="its own `decide`"):
        LinearSVC(loss=Contrary).fit(X, Y).save(tmp_path / "model")


def test_no_intercept_is_sought_where_it_changes_nothing():
    assert LinearSVC(loss=Differences).fit(X, Y).intercept_ == 0.0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "hinged"}, r"loss='hinged' must be one of 'hinge', .*a subclass of Risk"),
        ({"loss": 3}, "loss=3 must be one of"),
        ({"loss": Hinge([1, -1])}, "is the risk of one sample; pass its class"),
        ({"loss_options": {"margin": 2}}, "loss_options has 'margin', but loss='hinge' has none"),
        ({"loss": Ramp, "method": "newton"}, "method='newton' needs a loss that is smooth .* Ramp cannot"),
    ],
)
def test_what_is_wrong_is_said(parameters, words):
    with pytest.raises(ValueError, match=words):
        LinearSVC(**parameters).fit(X, Y)


def test_a_loss_must_return_a_risk():
    with pytest.raises(TypeError, match=r"The loss returned 1.0; it must return a cutplane.risks.base.Risk"):
        LinearSVC(loss=lambda y, sample_weight: 1.0).fit(X, Y)


def test_a_loss_for_two_classes_refuses_three():
    with pytest.raises(ValueError, match=r"y has 3 classes, but loss=.* is for two"):
        LinearSVC(loss=Differences).fit(X, np.arange(200) % 3)
