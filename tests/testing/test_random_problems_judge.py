"""The judge of random problems is right: its arithmetic, its formulas, and that it catches lies."""

from dataclasses import replace
from fractions import Fraction
from math import inf, log, nan

import numpy as np
import pytest
from scipy.special import log1p
from tests.selection import first_cases

from cutplane.risks import registry
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.one_class import OneClass
from cutplane.risks.ordinal import OrdinalRisk
from cutplane.risks.ranking import RankingRisk
from cutplane.testing.random_problems import losses
from cutplane.testing.random_problems.exact import Exact, log1p_exp
from cutplane.testing.random_problems.families import FAMILIES, drawn
from cutplane.testing.random_problems.judge import Claim, Truth, judge
from cutplane.testing.random_problems.linear import LinearJudge
from cutplane.testing.random_problems.problem import Problem, Way
from cutplane.testing.random_problems.reference import references
from cutplane.testing.random_problems.snippets import Cabinet, snippet
from cutplane.testing.random_problems.trial import run_trial

SEEDS = range(20)


def labelled(seed, n=9):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    y[:2] = 1, -1
    weights = rng.choice([0.5, 1.0, 2.0], size=n)
    return y.astype(np.int64), rng.normal(size=n).round(1), weights


# --- arithmetic ---


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_of_products_are_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(4, 3)) * 10.0 ** rng.integers(-300, 300, size=(4, 3)), rng.normal(size=3)
    found = (Exact.of(X) @ Exact.of(w) + Exact.of(0.1)).fractions()
    assert found == [
        sum(Fraction(a) * Fraction(b) for a, b in zip(row, w.tolist(), strict=True)) + Fraction(0.1)
        for row in X.tolist()
    ]


@pytest.mark.parametrize("z", [0.0, 0.3, -0.3, 7.5, -40.0, 800.0, -1e4, 1e15])
def test_logarithms_agree_with_double_precision(z):
    expected = max(z, 0.0) + float(log1p(np.exp(-abs(z))))
    assert float(log1p_exp(Fraction(z))) == pytest.approx(expected, rel=1e-15, abs=1e-300)


def test_logarithms_are_right_far_beyond_double_precision():
    two = log1p_exp(Fraction(0))
    assert float(two) == log(2.0)
    # log(1 + e^z) - log(1 + e^-z) = z
    z = Fraction(1, 3)
    assert abs(log1p_exp(z) - log1p_exp(-z) - z) < Fraction(1, 10**45)


# --- formulas, against the library's risks, which are means ---


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", registry.BINARY)
def test_losses_of_two_classes_agree_with_the_risks(name, seed):
    y, scores, weights = labelled(seed)
    if name in losses.WITHOUT_WEIGHTS:
        weights = np.ones(len(y))
        risk = registry.BINARY[name](y.astype(np.int8))
    else:
        risk = registry.BINARY[name](y.astype(np.int8), weights)
    found = losses.BINARY[name](y, Exact.of(scores), Exact.of(weights))
    assert float(found) == pytest.approx(weights.sum() * risk.value(scores), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("epsilon_insensitive", {"epsilon": 0.3}),
        ("squared_epsilon_insensitive", {"epsilon": 0.3}),
        ("huber", {"delta": 0.7}),
        ("quantile", {"quantile": 0.9}),
    ],
)
def test_losses_of_targets_agree_with_the_risks(name, options, seed):
    _, scores, weights = labelled(seed)
    targets = np.random.default_rng(seed + 100).normal(size=len(scores))
    risk = registry.REGRESSION[name](targets, weights, **options)
    found = losses.REGRESSION[name](Exact.of(targets), Exact.of(scores), Exact.of(weights), **options)
    assert float(found) == pytest.approx(weights.sum() * risk.value(scores), rel=1e-12)


def test_every_loss_of_the_registry_is_judged():
    assert set(losses.BINARY) == set(registry.BINARY)
    assert set(losses.REGRESSION) == set(registry.REGRESSION)


@pytest.mark.parametrize("seed", SEEDS)
def test_losses_of_pairs_agree_with_the_risks(seed):
    _, scores, weights = labelled(seed)
    rng = np.random.default_rng(seed)
    ranks, queries = rng.integers(3, size=len(scores)), rng.integers(2, size=len(scores))
    ranks[:2], queries[:2] = (0, 1), 0
    s, w = Exact.of(scores), Exact.of(weights)
    expected = weights.sum() * OrdinalRisk(ranks, weights).value(scores)
    assert float(losses.ordinal(ranks, s, w)) == pytest.approx(expected, rel=1e-12)
    for weighting in ("queries", "pairs"):
        risk = RankingRisk(ranks, queries, weights, equal_groups=weighting == "queries")
        found = losses.ranking(ranks, s, w, queries, weighting)
        assert float(found) == pytest.approx(risk.total_weight * risk.value(scores), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_the_joint_loss_agrees_with_the_risk(rescaling, seed):
    rng = np.random.default_rng(seed)
    codes, scores = rng.integers(3, size=8), rng.normal(size=(8, 3))
    cost, weights = rng.choice([0.5, 1.0, 3.0], size=(3, 3)) * (1.0 - np.eye(3)), rng.choice([0.0, 1.0, 2.5], size=8)
    weights[0] = 1.0
    risk = Multiclass(codes, 3, cost, rescaling=rescaling, sample_weight=weights)
    found = losses.crammer_singer(codes, Exact.of(scores), Exact.of(weights), cost, rescaling)
    assert float(found) == pytest.approx(weights.sum() * risk.value(scores), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_loss_of_one_class_agrees_with_the_risk_at_the_best_rho(seed):
    _, scores, weights = labelled(seed)
    risk = OneClass(len(scores), weights, nu=0.3)
    rho = float(risk.threshold(scores))
    found = losses.one_class(Exact.of(scores), Exact.of(weights), 0.3, rho)
    assert float(found) == pytest.approx(risk.value(scores), rel=1e-12)
    assert found <= losses.one_class(Exact.of(scores), Exact.of(weights), 0.3, rho + 0.1)


# --- objectives, against what CVXPY makes of the same problem ---


@pytest.mark.parametrize("number", first_cases(range(90), 12))
def test_objectives_agree_with_those_of_a_general_solver(number):
    names = tuple(name for name, family in FAMILIES.items() if family.reader is LinearJudge)
    of = drawn(names, 3, number)[1]
    # Signs and small weights, so that the solver's own rounding is small.
    prior = of.settings.get("prior")
    settings = of.settings if prior is None else {**of.settings, "prior": np.sign(prior)}
    of = replace(of, settings={**settings, "C": 2.0}, data={**of.data, "X": np.sign(of.data["X"])})
    if of.estimator == "LinearOneClassSVM":
        of = replace(of, settings={"nu": of.settings["nu"]})
    for reference in references(of) if of.small else []:
        C = float(of.settings.get("C", 1.0))
        assert float(reference.truth.most(C)) == pytest.approx(reference.said, rel=1e-6, abs=1e-7)


# --- kernels, structures, strings: formulas, against what converged models say ---


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.reader is not LinearJudge])
def test_objectives_agree_with_those_of_trained_models(name, number):
    of = drawn((name,), 7, number)[1]
    reader = Remembering(FAMILIES[name].reader(of))
    run_trial(of, reader)
    for claim in reader.seen:
        C, said = claim.C, claim.objective
        room = 1e-5 * (abs(said) + C * claim.truth.size)
        assert said >= claim.truth.least(C) - room
        assert said <= claim.truth.most(C) + room or not claim.complete


class Remembering:
    def __init__(self, reader):
        self.reader, self.seen = reader, []

    def claims(self, index, place, model):
        found = self.reader.claims(index, place, model)
        self.seen += found
        return found


# --- lies ---


def honest():
    truth = Truth(Fraction(1, 2), Fraction(3))
    return Claim(0, 0, 0, 1.0, 3.5, 3.499, (3.5 - 3.499) / 3.5, [(4.0, 1.0), (3.5, 3.499)], "gap", 3.5e-3, truth)


def kinds(*claims, others=()):
    return {failure.kind for failure in judge(claims, others)}


def test_an_honest_claim_passes():
    assert not kinds(honest())


def scored(low: list[float], high: list[float], way: int = 0) -> Claim:
    return replace(honest(), way=way, scores=(np.array(low), np.array(high)))


def test_intervals_of_the_optimum_meet():
    assert not kinds(scored([0.0, 1.0], [2.0, 3.0]), scored([-1.0, 3.0], [0.0, 4.0], way=1))
    apart = scored([-1.0, 3.0 + 1e-9], [0.0, 4.0], way=1)
    assert kinds(scored([0.0, 1.0], [2.0, 3.0]), apart) == {"intervals apart"}
    assert kinds(scored([nan], [1.0])) == {"intervals"}


@pytest.mark.parametrize(
    ("lie", "kind"),
    [
        ({"objective": 3.5 * (1 - 1e-15)}, "objective below truth"),
        ({"objective": 3.5 * (1 + 1e-8)}, "objective above truth"),
        ({"objective": nan}, "not finite"),
        ({"lower_bound": -inf}, "not finite"),
        ({"truth": None}, "not finite"),
        ({"lower_bound": 3.6}, "bounds cross"),
        ({"lower_bound": 3.6}, "lower bound above a model"),
        ({"gap": 0.0}, "gap is not the gap"),
        ({"allowed": 1e-4}, "gap not reached"),
        ({"history": [(3.5, 3.4)]}, "history end"),
        ({"history": []}, "history"),
        ({"history": [(4.0, 3.7), (3.5, 3.499)]}, "history lower"),
        ({"history": [(3.4, 1.0), (3.5, 3.499)]}, "history upper"),
        ({"history": [(nan, 1.0), (3.5, 3.499)]}, "history"),
        ({"within": False}, "constraint"),
    ],
)
def test_a_lie_is_caught(lie, kind):
    assert kind in kinds(replace(honest(), **lie))


def test_a_bound_is_held_against_weights_from_elsewhere():
    better = Truth(Fraction(1, 2), Fraction(2998, 1000))
    assert kinds(honest(), others=[(0, better)]) == {"lower bound above a model"}
    assert not kinds(honest(), others=[(1, better)])


def test_a_bound_is_held_against_a_model_trained_with_another_C():
    better = replace(honest(), C=2.0, truth=Truth(Fraction(1), Fraction(2)), objective=5.0, lower_bound=4.9)
    better = replace(better, gap=0.1 / 5.0, history=[(5.0, 4.9)], allowed=1.0)
    better = replace(better, gap=(5.0 - 4.9) / 5.0)
    assert kinds(honest(), better) == {"lower bound above a model"}


class Lying(LinearJudge):
    """Reads models as if they said something else."""

    def __init__(self, problem, lie):
        super().__init__(problem)
        self.lie = lie

    def claims(self, index, place, model):
        return [self.lie(claim) for claim in super().claims(index, place, model)]


def lowered(claim):
    return replace(claim, objective=claim.objective * (1.0 - 1e-6))


def raised(claim):
    return replace(claim, lower_bound=claim.objective * (1.0 + 1e-6))


@pytest.mark.parametrize(("lie", "kind"), [(lowered, "objective below truth"), (raised, "lower bound above a model")])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "roc_area", "f1", "error_cost"])
def test_a_planted_lie_of_a_millionth_is_caught_in_a_trained_model(loss, lie, kind):
    X, y = np.array([[0.1], [1.2], [0.7], [-0.4], [0.3]]), np.array([0, 1, 0, 0, 1])
    of = Problem("LinearSVC", {"C": 2.0, "loss": loss}, {"X": X, "y": y}, (Way({"tol": 1e-6, "max_iter": 500}),))
    assert kind in {failure.kind for failure in run_trial(of, Lying(of, lie)).failures}


def test_what_is_no_certificate_is_caught_too():
    X, y = np.array([[0.1], [1.2], [0.7]]), np.array([0, 1, 0])

    def failures(settings):
        of = Problem("LinearSVC", settings, {"X": X, "y": y}, (Way({}),))
        return [failure.kind for failure in run_trial(of, LinearJudge(of), rounding=1e-9).failures]

    assert failures({"C": 1.0}) == []
    assert failures({"C": -1.0}) == ["refused"]
    assert failures({"c": 1.0}) == ["exception"]


# --- snippets ---


def test_a_snippet_runs_and_makes_the_same_model(capsys):
    X, y = np.array([[0.1, 0.3], [1.2, -7e-12], [0.7, 1 / 3]]), np.array([0, 1, 0])
    way = Way({"tol": 1e-5}, "sp.csr_matrix(X)", {"C": 3.0})
    of = Problem("LinearSVC", {"C": 2.0, "prior": np.array([0.1, 0.2])}, {"X": X, "y": y}, (way,))
    (failure,) = judge([replace(honest(), gap=0.0)])
    names = {}
    exec(snippet(of, failure), names)
    assert np.array_equal(names["X"], X)
    assert names["models"][0].C == 3.0
    assert names["models"][1].C == 2.0
    assert "objective" in capsys.readouterr().out


def test_of_many_failures_of_one_kind_the_shortest_are_kept(tmp_path):
    cabinet = Cabinet(tmp_path, most=2)
    (failure,) = judge([replace(honest(), gap=0.0)])
    for number, n in enumerate((9, 3, 7, 2)):
        of = Problem("LinearSVC", {"C": 2.0}, {"X": np.zeros((n, 1)), "y": np.arange(n)}, (Way({}),), loss="hinge")
        cabinet.keep("LinearSVC", of, failure, number)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["gap_is_not_the_gap_LinearSVC_hinge_1.py", "gap_is_not_the_gap_LinearSVC_hinge_3.py"]
