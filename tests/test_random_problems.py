"""Certificates judged without rounding: mistakes of the past, and a quick draw of random problems.

For a longer draw: ``python -m cutplane.testing --hours 1``.
"""

import numpy as np
import pytest

import cutplane
from cutplane.testing.random_problems.families import FAMILIES, ROUND, drawn
from cutplane.testing.random_problems.linear import LinearJudge
from cutplane.testing.random_problems.problem import Problem, Way
from cutplane.testing.random_problems.reference import reference_truths
from cutplane.testing.random_problems.snippets import snippet
from cutplane.testing.random_problems.trial import run_trial
from cutplane.testing.random_problems.workers import Order, outcomes

# Rounds of problems of every estimator: about a minute in all.
ROUNDS = 15


def column(*values):
    return np.array(values)[:, None]


def problem(estimator, settings, X, y, *settings_of_ways, ways=()):
    ways = ways or tuple(map(Way, settings_of_ways or ({},)))
    data = {"X": np.array(X)} if y is None else {"X": np.array(X), "y": np.array(y)}
    return Problem(estimator, settings, data, ways)


PAST = {
    "nonnegative hinge below its weights": problem(
        "LinearSVC",
        {"C": 1.0, "nonnegative": True},
        column(1.0, 0.7, 0.7, 1.6, -1.2, -0.6, -1.3),
        [0, 1, 0, 1, 1, 0, 0],
    ),
    "error cost below its weights": problem(
        "LinearSVC",
        {"C": 10.0, "loss": "error_cost", "fit_intercept": False},
        column(-0.2, 1.2, 1.7, -0.5, 1.3),
        [0, 1, 0, 0, 1],
    ),
    "nonnegative ROC area of nothing": problem(
        "LinearSVC", {"C": 10.0, "loss": "roc_area", "nonnegative": True}, column(-1.3, 2.6, 0.5), [0, 1, 0]
    ),
    "ordinal planes below their weights": problem(
        "OrdinalSVC", {"C": 1.0}, column(0.2, -0.5, -0.4, -2.4), [0, 1, 1, 2], {"method": "oca", "tol": 1e-8}
    ),
    "precision at k from a prior": problem(
        "LinearSVC",
        {"C": 30.0, "loss": "prec@k", "prior": np.array([1.0])},
        column(-1.3, -2.4, -1.2, 0.3, 0.7, 1.9),
        [1, 1, 1, 0, 0, 0],
    ),
    "hinge below its weights after a warm start": problem(
        "LinearSVC",
        {"C": 1.0, "fit_intercept": False},
        [
            [1.0, 0.0, 0.0, -1.0],
            [-1.0, 0.0, 0.0, 1.0],
            [-1.0, 0.0, -2.0, 0.0],
            [0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0],
            [0.0, 3.0, -1.0, 1.0],
            [-1.0, 1.0, -1.0, 2.0],
        ],
        [0, 1, 0, 1, 0, 1, 0, 0],
        ways=(Way({"tol": 8e-4}, "sp.csr_array(X)", {"C": 7.0, "tol": 4e-6}),),
    ),
    "two classes together, below their weights": problem(
        "LinearSVC",
        {"C": 3.0, "multi_class": "crammer_singer", "fit_intercept": False},
        column(0.9, -1.1, 0.4, -0.4, 0.4, 0.9, -0.4, 0.3, 0.9, 0.9),
        [1, 0, 1, 0, 0, 1, 0, 0, 0, 1],
        {"method": "oca"},
    ),
    "two classes together, below their weights by default": problem(
        "LinearSVC",
        {"C": 3.0, "multi_class": "crammer_singer", "fit_intercept": False},
        np.float64(np.float32(column(0.9, -1.1, 0.4, -0.4, 0.4, 0.9, -0.4, 0.3, 0.9, 0.9))),
        [1, 0, 1, 0, 0, 1, 0, 0, 0, 1],
    ),
    "absolute error of large values": problem(
        "LinearSVR",
        {"C": 0.2, "loss": "epsilon_insensitive"},
        [[0.0, 0.0, 0.0], [0.0, 0.0, -1e6]],
        [-0.1, -1.1],
    ),
    "two to rank of large values": problem(
        "OrdinalSVC",
        {"C": 0.1},
        [
            [0.0, -1e9, 1e9, 0.0],
            [1e9, 1e9, 0.0, 0.0],
            [-1e9, -1e9, 1e9, 1e9],
            [1e9, -2e9, 0.0, 0.0],
            [0.0, -1e9, 0.0, -1e9],
        ],
        [0, 1, 0, 0, 1],
        {"tol": 4e-6, "method": "cpa", "max_iter": 100},
    ),
    "bound on two to rank": problem(
        "RankSVM",
        {"C": 20.0, "weighting": "pairs"},
        [[-2.0, 0.0, 0.0, -2.0, -1.0], [-1.0, 1.0, -2.0, 1.0, 0.0]],
        [0, 1],
        {"tol": 1e-9},
    ),
    "bound on pairs at a large C": problem(
        "RankSVM",
        {"C": 1e4},
        [[0.0, -2.0], [0.0, 0.0], [-2.0, 1.0], [1.0, 0.0]],
        [0, 1, 2, 0],
        {"method": "newton"},
    ),
    "bound on ordered classes at a large C": problem(
        "OrdinalSVC",
        {"C": 6e5},
        [[2.0, -1.0, -1e-6], [0.0, -1.0, 1e-6], [-1.0, 0.0, 0.0], [0.0, 1.0, -1e-6], [-2.0, 0.0, 1e-6]],
        [0, 1, 1, 2, 2],
        {"tol": 4e-5, "method": "newton", "max_iter": 100},
    ),
    "difference of two classes from a prior": problem(
        "LinearSVC",
        {
            "C": 0.05,
            "multi_class": "crammer_singer",
            "prior": np.array([-0.2, 0.7]),
            "cost_matrix": np.array([[0.0, 0.5], [5.0, 0.0]]),
        },
        1e6 * np.array([[0.0, -1.0], [0.0, -1.0], [0.0, 1.0], [0.0, 0.0], [0.0, -1.0], [0.0, -2.0], [0.0, -1.0]]),
        [0, 0, 1, 0, 1, 0, 0],
        {"tol": 1e-9, "max_iter": 30},
    ),
    "logistic intercept where all is flat": problem(
        "LinearSVC",
        {"C": 400.0, "loss": "logistic"},
        [
            [-1e6, 1.3e6, 2.6e6, -0.9e6],
            [-0.1e6, 1.2e6, 0.8e6, -0.6e6],
            [-0.7e6, -0.3e6, 1.3e6, 0.4e6],
            [0.2e6, -2.1e6, -1.1e6, 1.4e6],
            [-1.6e6, -0.5e6, -1.6e6, -0.6e6],
        ],
        [1, 0, 3, 3, 2],
        {"tol": 3e-4, "method": "oca", "line_search": "exact", "max_iter": 300},
    ),
    "cost of errors of huge values": problem(
        "LinearSVC",
        {"C": 20.0, "loss": "error_cost"},
        1e24 * column(2.9, 0.8, 0.3, 1.0, 1.7, -1.1, 0.2, 1.0, 1.9, -1.5, 0.9),
        [0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0],
    ),
    "one class of nothing but zeros": problem("LinearOneClassSVM", {"nu": 0.5}, np.zeros((15, 1)), None),
    "one class of squares beyond single precision": problem(
        "LinearOneClassSVM",
        {"nu": 0.1},
        column(-1e24, 0.0, 0.0, 1e24, -1e24),
        None,
        ways=(Way({"tol": 2e-7, "max_iter": 100}, "sp.csr_matrix(X.astype(np.float32))"),),
    ),
}


def fails_of(of, others=()):
    found = sorted(run_trial(of, LinearJudge(of), others=others).failures, key=lambda failure: -failure.excess)
    return [snippet(of, failure) for failure in found]


@pytest.mark.parametrize("name", PAST)
def test_mistakes_of_the_past_stay_away(name):
    assert not fails_of(PAST[name], reference_truths(PAST[name]))


@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_values_whose_squares_overflow_are_refused(multi_class):
    X = np.array([[1.0, 2.0], [2.0, -1.0], [0.5, 0.5], [-1.0, 0.3], [1.0, 1.0], [-2.0, 1.0]]) * 1e160
    with pytest.raises(ValueError, match="scale"):
        cutplane.LinearSVC(multi_class=multi_class).fit(X, [0, 1, 2, 0, 1, 2])


@pytest.mark.nightly
def test_certificates_of_random_problems_hold():
    """Of every estimator; one test, so that processes that run tests side by side do not draw twice."""
    order = Order(ROUND, seed=0, rounding=0.0, limit=300.0)  # seconds: for a hang, not for a busy machine
    tried, wrong = dict.fromkeys(FAMILIES, 0), {}
    for number, outcome in outcomes(order, 2, lambda count: count < ROUNDS * len(ROUND)):
        name = ROUND[number % len(ROUND)]
        tried[name] += 1
        if outcome.failures:
            _, of = drawn(ROUND, order.seed, number)
            wrong.setdefault(name, []).extend((-each.excess, snippet(of, each)) for each in outcome.failures)
    assert min(tried.values()) >= ROUNDS
    said = [f"{name}: {len(found)} failures, the gravest:\n{min(found)[1]}" for name, found in wrong.items()]
    assert not said, "\n".join(said)
