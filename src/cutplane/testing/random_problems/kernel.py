"""Random problems of the kernel machines, and what their models claim.

Most kernels have values that single precision holds exactly, as the machines store them: whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._types import Params
from cutplane.testing.random_problems import draws, losses
from cutplane.testing.random_problems.draws import Generator, often, one_of
from cutplane.testing.random_problems.exact import Exact
from cutplane.testing.random_problems.judge import Claim, Truth
from cutplane.testing.random_problems.problem import Problem, Way
from cutplane.testing.random_problems.recomputed import Array

_SELECTIONS = ("second-order", "conjugate", "ofs2", "ofs1", "mvp", "hmg")
# What values of the RBF kernel may be off by, as its documentation says.
_SINGLE = 2e-6
# Of the largest entry times the squared sum of coefficients: what that charge is, in units of what is asked for.
_INDEFINITE = 1e-4
# A machine's coefficients are divided by its margin, which is known up to rounding only.
_MARGIN = 1e-11
# They sum up to as much as they may, up to this share, where there is no margin that they are divided by.
_UNDIVIDED = 1e-9


def _kernel(rng: Generator) -> Params:
    choice = rng.random()
    if choice < 0.4:
        return {"kernel": "linear"}
    if choice < 0.7:
        return {"kernel": "poly", "degree": int(rng.integers(1, 4)), "gamma": 1.0, "coef0": one_of(rng, (0.0, 1.0))}
    return {"kernel": "precomputed"} if choice < 0.85 else {"kernel": "rbf", "gamma": one_of(rng, (0.5, 2.0))}


def _examples(rng: Generator, n: int, kernel: str) -> Array:
    X = rng.integers(-4, 5, size=(n, int(rng.integers(1, 4)))).astype(np.float64)
    return np.asarray(X @ X.T) if kernel == "precomputed" else X


def _ways(rng: Generator, kernel: str) -> tuple[Way, ...]:
    ways = [Way({})]
    for _ in range(int(rng.integers(1, 4))):
        settings: Params = {"tol": draws.power(rng, -6, -2), "stopping": one_of(rng, ("kkt", "gap"))}
        if often(rng, 0.6):
            settings["selection"] = one_of(rng, _SELECTIONS)
        if often(rng, 0.3):
            settings["shrinking"] = False
        if often(rng, 0.3):
            settings["working_set"] = 2
        if often(rng, 0.4):
            settings["max_iter"] = one_of(rng, (1, 5, 20, 100))
        stored = ["X", "np.asfortranarray(X)"] if kernel == "precomputed" else ["X", "sp.csr_matrix(X)"]
        ways.append(Way(settings, one_of(rng, stored)))
    return tuple(ways)


def _problem(
    rng: Generator,
    name: str,
    settings: Params,
    y: str | None,
    ways: Callable[[Generator, str], tuple[Way, ...]] = _ways,
) -> Problem:
    n = int(rng.integers(3, 25))
    kernel = _kernel(rng)
    X = _examples(rng, n, kernel["kernel"])
    labels = rng.integers(2, size=n)
    labels[:2] = 0, 1
    targets = {"labels": labels, "targets": rng.normal(size=n).round(1) + 0.0, None: None}[y]
    data = {"X": X, "y": targets, "sample_weight": draws.weights(rng, n)}
    if data["sample_weight"] is not None:
        data["sample_weight"][:2] = 1.0
    return Problem(name, {**settings, **kernel}, data, ways(rng, kernel["kernel"]), loss=kernel["kernel"])


def svc(rng: Generator) -> Problem:
    """`SVC` of two classes."""
    return _problem(rng, "SVC", {"C": draws.strength(rng)}, "labels")


def nu_svc(rng: Generator) -> Problem:
    """`NuSVC` of two classes."""
    return _problem(rng, "NuSVC", {"nu": one_of(rng, (0.1, 0.3, 0.5))}, "labels")


def svr(rng: Generator) -> Problem:
    """`SVR`."""
    return _problem(rng, "SVR", {"C": draws.strength(rng), "epsilon": one_of(rng, (0.0, 0.1, 1.0))}, "targets")


def nu_svr(rng: Generator) -> Problem:
    """`NuSVR`."""
    return _problem(rng, "NuSVR", {"C": draws.strength(rng), "nu": one_of(rng, (0.1, 0.5, 1.0))}, "targets")


def one_class(rng: Generator) -> Problem:
    """`OneClassSVM`."""
    return _problem(rng, "OneClassSVM", {"nu": one_of(rng, (0.1, 0.3, 0.5, 0.9))}, None)


def _cut_ways(rng: Generator, kernel: str) -> tuple[Way, ...]:
    ways = [{"risk_tol": draws.power(rng, -5, -2), "stabilised": flag, "max_iter": 300} for flag in (True, False)]
    return (*map(Way, ways), Way({"max_iter": int(rng.integers(1, 5))}))


def sampled_cuts(rng: Generator) -> Problem:
    """`SampledCutSVC` with exact cuts: only these prove a bound."""
    settings: Params = {"C": draws.strength(rng), "method": "exact"}
    if often(rng, 0.3):
        settings["intercept_scaling"] = one_of(rng, (0.5, 1.0, 2.0))
    return _problem(rng, "SampledCutSVC", settings, "labels", _cut_ways)


KERNEL: Mapping[str, Callable[[Generator], Problem]] = {
    "SVC": svc,
    "NuSVC": nu_svc,
    "SVR": svr,
    "NuSVR": nu_svr,
    "OneClassSVM": one_class,
    "SampledCutSVC": sampled_cuts,
}


class KernelJudge:
    """Reads the claims of the machines of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.settings = problem, problem.settings
        self.K = _values(problem)
        given = problem.data.get("sample_weight")
        self.weights = np.ones(len(self.K)) if given is None else np.asarray(given, dtype=np.float64)
        self.y = np.asarray(problem.data.get("y"))  # one-class problems have none, and ask for none

    def claims(self, index: int, place: int, model: BaseEstimator) -> list[Claim]:
        """Of the one machine there is."""
        upper, lower = model.objective_, model.lower_bound_
        sampled = self.problem.estimator == "SampledCutSVC"
        history = [(upper, lower)] if sampled else [(step.upper, step.lower) for step in model.history_]
        tol = 0.0 if sampled else model.tol
        truth = self.truth(self._coefficients(model), float(np.ravel(model.intercept_)[0]))
        C = float(self.settings.get("C", 1.0))
        reason = model.stop_reason_
        allowed = tol * max(abs(upper), abs(lower))
        # The width of the tube, or the margin, is part of the model, too, but no attribute.
        complete = self.problem.estimator not in ("NuSVR", "NuSVC")
        bounds = (C, upper, lower, model.gap_)
        return [Claim(index, place, 0, *bounds, history, reason, allowed, truth, complete=complete)]

    def _coefficients(self, model: BaseEstimator) -> Array:
        dense = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
        coef = np.zeros(len(self.K))
        coef[model.support_] = np.ravel(dense)
        return coef

    def truth(self, coef: Array, b: float) -> Truth | None:
        """The objective of a machine with these coefficients and this intercept."""
        if not (np.isfinite(coef).all() and np.isfinite(b)):
            return None
        K, c = Exact.of(self.K), Exact.of(coef)
        products = K @ c
        square = (products * c).total()
        scores = products + Exact.of(b)
        size = float(self.weights @ (1.0 + abs(b) + np.abs(self.K) @ np.abs(coef)))
        bend = float(np.abs(coef) @ np.abs(self.K) @ np.abs(coef))
        if self.settings["kernel"] == "precomputed":
            # How far the matrix may be from a definite one is charged to every coefficient, those of zeros too.
            bend += _INDEFINITE * float(np.abs(self.K).max(initial=0.0)) * float(np.abs(coef).sum()) ** 2
        C = Fraction(float(self.settings.get("C", 1.0)))
        regulariser, risk, error = _MACHINES[self.problem.estimator](self, coef, square, scores, b)
        if self.settings["kernel"] == "rbf":
            # Values of the kernel are single precision: half of that in the square, all of it in the losses.
            error += Fraction(_SINGLE) * (Fraction(size) + Fraction(bend) / C)
        return Truth(regulariser, risk, error, size + bend / float(C))


Parts = tuple[Fraction, Fraction, Fraction]


def _svc(judge: KernelJudge, coef: Array, square: Fraction, scores: Exact, b: float) -> Parts:
    signs = np.where(judge.y == 1, 1, -1)
    return square / 2, losses.hinge(signs, scores, Exact.of(judge.weights)), Fraction(0)


def _sampled(judge: KernelJudge, coef: Array, square: Fraction, scores: Exact, b: float) -> Parts:
    scaling = judge.settings.get("intercept_scaling")
    penalty = Fraction(0) if scaling is None else Fraction(b) * Fraction(b) / Fraction(scaling) / Fraction(scaling)
    regulariser, risk, error = _svc(judge, coef, square, scores, b)
    return regulariser + penalty / 2, risk, error


def _nu_svc(judge: KernelJudge, coef: Array, square: Fraction, scores: Exact, b: float) -> Parts:
    """½|w|² - nu·Σweights·r + Σ weightᵢ max(0, r - yᵢf), w and f being r times those of the machine."""
    total = Fraction(float(judge.settings["nu"])) * Exact.of(judge.weights).total()
    r = total / Exact.of(np.abs(coef)).total()
    signs = np.where(judge.y == 1, 1, -1)
    weights = Exact.of(judge.weights)
    risk = r * losses.hinge(signs, scores, weights) - total * r
    if abs(r - 1) < _UNDIVIDED:  # as they are where there is no margin: r is 0 then
        risk = min(risk, ((Exact.of(-signs) * scores).positive() * weights).total())
    return r * r * square / 2, risk, Fraction(_MARGIN) * (total * r + r * r * square)


def _svr(judge: KernelJudge, coef: Array, square: Fraction, scores: Exact, b: float) -> Parts:
    targets, weights = Exact.of(judge.y), Exact.of(judge.weights)
    return square / 2, losses.epsilon_insensitive(targets, scores, weights, judge.settings["epsilon"]), Fraction(0)


def _nu_svr(judge: KernelJudge, coef: Array, square: Fraction, scores: Exact, b: float) -> Parts:
    """Σ weightᵢ max(0, |f - yᵢ| - epsilon) + nu·Σweights·epsilon, at the best epsilon: one of the errors, or 0."""
    errors = (scores - Exact.of(judge.y)).size().fractions()
    weights = Exact.of(judge.weights).fractions()
    price = Fraction(float(judge.settings["nu"])) * sum(weights)

    def at(epsilon: Fraction) -> Fraction:
        beyond = sum(w * max(error - epsilon, Fraction(0)) for w, error in zip(weights, errors, strict=True))
        return price * epsilon + beyond

    return square / 2, min(map(at, [Fraction(0), *errors])), Fraction(0)


def _one_class(judge: KernelJudge, coef: Array, square: Fraction, scores: Exact, b: float) -> Parts:
    """Σ weightᵢ max(0, -f) - nu·Σweights·rho: LIBSVM's scale, rho being minus the intercept."""
    weights = Exact.of(judge.weights)
    outside = ((-scores).positive() * weights).total()
    return square / 2, outside + Fraction(float(judge.settings["nu"])) * weights.total() * Fraction(b), Fraction(0)


_MACHINES: Mapping[str, Callable[..., Parts]] = {
    "SVC": _svc,
    "NuSVC": _nu_svc,
    "SVR": _svr,
    "NuSVR": _nu_svr,
    "OneClassSVM": _one_class,
    "SampledCutSVC": _sampled,
}


def _values(problem: Problem) -> Array:
    """The kernel matrix, from the definitions of the kernels."""
    X, kernel = np.asarray(problem.data["X"]), problem.settings["kernel"]
    if kernel == "precomputed":
        return X
    products = X @ X.T
    if kernel == "rbf":
        distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
        return np.asarray(np.exp(-problem.settings["gamma"] * distances))
    if kernel == "poly":
        return np.asarray((products + problem.settings["coef0"]) ** problem.settings["degree"])
    return np.asarray(products)
