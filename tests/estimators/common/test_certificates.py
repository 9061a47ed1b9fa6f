"""The shape of certificates: the same for every estimator, whatever the number of its problems."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from cutplane import (
    SVC,
    SVR,
    KernelStructuralSVM,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    LogisticRegression,
    LogisticRegressionCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    OrdinalSVC,
    RankSVM,
    SampledCutSVC,
    SequenceSVM,
    StringSVC,
    StructuralSVM,
    load,
)
from cutplane.estimators.common.certificates import CertifiedEstimator
from cutplane.solvers.certificates import STOP_REASONS, ProblemCertificate
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import MulticlassModel

RNG = np.random.default_rng(5)
X = RNG.standard_normal((60, 3))
TWO = np.where(X[:, 0] > 0.1, "yes", "no")
FOUR = np.array(["a", "b", "c", "d"])[(X[:, 0] > 0) * 2 + (X[:, 1] > 0)]
TARGETS = X @ [1.0, -1.0, 0.5]
STRINGS = ["".join(RNG.choice(list("ACGT"), 8)) for _ in X]
SEQUENCES, TAGS = [X[:3], X[3:7]], [["p", "q", "p"], ["q", "q", "p", "p"]]
PAIRS = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]

# An estimator, what it is fitted on, and what its problems are about.
CASES = {
    "linear, two classes": (LinearSVC(), (X, TWO), ["yes"]),
    "linear, four classes": (LinearSVC(), (X, FOUR), list("abcd")),
    "linear, four classes together": (LinearSVC(multi_class="crammer_singer"), (X, FOUR), [None]),
    "cross-validated": (LinearSVCCV(Cs=[0.1, 1.0], cv=3), (X, FOUR), list("abcd")),
    "regression": (LinearSVR(), (X, TARGETS), [None]),
    "cross-validated regression": (LinearSVRCV(Cs=[0.1, 1.0], cv=3), (X, TARGETS), [None]),
    "linear, one class": (LinearOneClassSVM(), (X + 3.0,), [None]),
    "logistic regression, two classes": (LogisticRegression(), (X, TWO), ["yes"]),
    "logistic regression, four classes": (LogisticRegression(), (X, FOUR), [None]),
    "cross-validated logistic regression": (LogisticRegressionCV(Cs=[0.1, 1.0], cv=3), (X, FOUR), [None]),
    "ordered classes": (OrdinalSVC(class_order=list("abcd")), (X, FOUR), [None]),
    "ranking": (RankSVM(), (X, TARGETS), [None]),
    "strings, two classes": (StringSVC(order=2), (STRINGS, TWO), ["yes"]),
    "strings, four classes": (StringSVC(order=2), (STRINGS, FOUR), list("abcd")),
    "kernel, two classes": (SVC(), (X, TWO), [("no", "yes")]),
    "kernel, four classes": (SVC(), (X, FOUR), PAIRS),
    "kernel, four classes, each against the rest": (SVC(multi_class="ovr"), (X, FOUR), list("abcd")),
    "kernel, nu": (NuSVC(nu=0.2), (X, FOUR), PAIRS),
    "kernel regression": (SVR(), (X, TARGETS), [None]),
    "kernel regression, nu": (NuSVR(), (X, TARGETS), [None]),
    "kernel, one class": (OneClassSVM(), (X,), [None]),
    "exact cuts": (SampledCutSVC(method="exact"), (X, FOUR), [None]),
    "sampled cuts": (SampledCutSVC(n_samples_cut=30), (X, TWO), [None]),
    "structured": (StructuralSVM(MulticlassModel(list("abcd"))), (X, FOUR.tolist()), [None]),
    "structured, kernel": (KernelStructuralSVM(ChainModel(2, 3)), (SEQUENCES, [[0, 1, 0], [1, 1, 0, 0]]), [None]),
    "sequences": (SequenceSVM(), (SEQUENCES, TAGS), [None]),
}


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    estimator, examples, labels = CASES[request.param]
    return estimator.fit(*examples), labels


def test_every_estimator_has_a_case():
    import cutplane.estimators as package

    kinds = {getattr(package, name) for name in package.__all__}
    certified = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, CertifiedEstimator)}
    assert certified == {type(estimator) for estimator, *_ in CASES.values()}


def test_numbers_are_numbers(fitted):
    model, labels = fitted
    assert [each.problem for each in model.certificates_] == labels
    for name in ("objective_", "lower_bound_", "gap_"):
        assert type(getattr(model, name)) is float
    assert model.stop_reason_ in STOP_REASONS
    for each in model.certificates_:
        assert [type(value) for value in (each.objective, each.lower_bound, each.gap, each.seconds)] == [float] * 4
        assert type(each.n_iter) is int
        assert each.stop_reason in STOP_REASONS


def test_the_whole_follows_from_the_problems(fitted):
    model, _ = fitted
    each = model.certificates_
    assert model.objective_ == pytest.approx(sum(one.objective for one in each), rel=1e-15)
    assert model.lower_bound_ == pytest.approx(sum(one.lower_bound for one in each), rel=1e-15)
    assert Fraction(model.objective_) >= sum(Fraction(one.objective) for one in each)
    if math.isfinite(model.lower_bound_):
        assert Fraction(model.lower_bound_) <= sum(Fraction(one.lower_bound) for one in each)
        assert model.gap_ == max((one.objective - one.lower_bound) / abs(one.objective) for one in each)
    else:
        assert model.gap_ == math.inf
    assert model.history_ == [step for one in each for step in one.history]
    assert [one.history[-1].problem for one in each] == list(range(len(each)))
    counts = [one.n_iter for one in each]
    assert model.n_iter_ == max(counts) if np.ndim(model.n_iter_) == 0 else model.n_iter_.tolist() == counts


def test_steps_end_with_the_certificate(fitted):
    model, _ = fitted
    for number, each in enumerate(model.certificates_):
        assert {step.problem for step in each.history} == {number}
        if math.isfinite(each.lower_bound):
            assert (each.history[-1].upper, each.history[-1].lower) == (each.objective, each.lower_bound)


def test_files_keep_certificates(fitted, tmp_path):
    model, _ = fitted
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").certificates_ == model.certificates_


def test_an_unfitted_estimator_has_none():
    for estimator, *_ in CASES.values():
        new = type(estimator)()
        assert not any(hasattr(new, name) for name in ("certificates_", "gap_", "objective_", "history_", "n_iter_"))


def certificate(objective, lower_bound, stop_reason="gap"):
    return ProblemCertificate(None, objective, lower_bound, stop_reason, 1, 0.0, [])


def certified(*certificates):
    model = CertifiedEstimator()
    model.certificates_ = list(certificates)
    return model


def test_the_gap_is_that_of_the_worst_problem_not_of_the_sums():
    assert certified(certificate(100.0, 100.0), certificate(1.0, 0.5)).gap_ == 0.5
    assert certified(certificate(0.0, -1.0), certificate(1.0, 1.0)).gap_ == math.inf
    assert certified(certificate(0.0, 0.0)).gap_ == 0.0
    assert certified(certificate(-1.0, -1.5)).gap_ == 0.5


@pytest.mark.parametrize("worse", list(range(len(STOP_REASONS) - 1)))
def test_the_reason_is_the_first_in_the_documented_order(worse):
    best, other = STOP_REASONS[worse + 1], STOP_REASONS[worse]
    assert certified(certificate(1.0, 1.0, best), certificate(1.0, 1.0, other)).stop_reason_ == other


def test_steps_say_their_problem_to_whoever_listens():
    seen = []
    model = LinearSVC(on_step=seen.append).fit(X, FOUR)
    assert [(step.problem, step.iteration) for step in seen] == [(s.problem, s.iteration) for s in model.history_]


def test_a_path_certifies_every_problem_of_every_C():
    for model in LinearSVC().path(X, FOUR, [0.1, 1.0]):
        assert [each.problem for each in model.certificates_] == list("abcd")
        assert model.gap_ == max(each.gap for each in model.certificates_) <= 1e-3


def test_examples_around_the_origin_have_bounds_as_close_as_is_said_and_no_relative_gap():
    around = np.concatenate([X, -X])
    model = LinearOneClassSVM(tol=1e-3).fit(around)
    assert (model.objective_, model.gap_, model.stop_reason_) == (0.0, math.inf, "gap")
    assert -1e-3 * 1e-6 * np.square(around).sum(axis=1).max() <= model.lower_bound_ < 0.0
