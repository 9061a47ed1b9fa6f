"""What must hold of a model's certificate, given its true objective: all in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cutplane._types import Array

#: How far above the true objective a report may be, relative to it: what a bound on rounding may cost.
_TIGHT = Fraction(1, 10**9)
#: What is wrong by less, relative to the objective, is the rounding of a report, not of a proof.
ROUNDING = 1e-12
_LITTLE = 1e-6


@dataclass(frozen=True)
class Truth:
    """The true objective of some weights: regulariser + C·risk.

    Attributes
    ----------
    regulariser, risk : Fraction
    error : Fraction
        What the risk may be off by, either way.
    size : float
        The size of the terms whose sum the risk is, for what rounding may cost.
    """

    regulariser: Fraction
    risk: Fraction
    error: Fraction = Fraction(0)
    size: float = 0.0

    def least(self, C: float) -> Fraction:
        """The objective, or a little below."""
        return self.regulariser + Fraction(C) * (self.risk - self.error)

    def most(self, C: float) -> Fraction:
        """The objective, or a little above."""
        return self.regulariser + Fraction(C) * (self.risk + self.error)


@dataclass(frozen=True)
class Claim:
    """What a model says of itself, on one of its problems.

    Attributes
    ----------
    way, place : int
        The way that trained it, and which of the models this way made.
    part : int
        Which of the estimator's problems: of several classes, each against the rest.
    C : float
    objective, lower_bound, gap : float
    history : sequence of (upper, lower)
    stop_reason : str
    allowed : float
        The difference of the bounds at which it was to stop.
    truth : Truth or None
        Of its weights; None where they are not finite.
    scores : tuple of two arrays, or None
        Between what the optimum's scores of the examples lie; None where the model does not say.
    within : bool
        Whether the weights are within their bounds.
    complete : bool
        Whether weights and intercept are all of the model; else the truth is that at the best value of the rest, and
        the objective may be above it.
    """

    way: int
    place: int
    part: int
    C: float
    objective: float
    lower_bound: float
    gap: float
    history: Sequence[tuple[float, float]]
    stop_reason: str
    allowed: float
    truth: Truth | None
    scores: tuple[Array, Array] | None = None
    within: bool = True
    complete: bool = True


@dataclass(frozen=True)
class Failure:
    """A contract that does not hold.

    Attributes
    ----------
    kind : str
    message : str
    way : int
        The way whose model it is.
    excess : float
        How much is wrong, relative to the objective; infinite where that has no meaning.
    """

    kind: str
    message: str
    way: int
    excess: float = math.inf

    @property
    def name(self) -> str:
        """The kind, and how grave it is."""
        if self.excess < ROUNDING:
            return f"{self.kind} by rounding"
        return f"{self.kind} by a little" if self.excess < _LITTLE else self.kind


def judge(claims: Sequence[Claim], others: Sequence[tuple[int, Truth]] = (), *, rounding: float = 0.0) -> list[Failure]:
    """The contracts that the claims break.

    Parameters
    ----------
    claims : sequence of Claim
        Of models of one problem, up to C.
    others : sequence of (part, Truth)
        Of further weights of the same problem, from elsewhere.
    rounding : float
        Excesses up to this, relative to the objective, are let pass. 0: real numbers.
    """
    found: list[Failure] = []
    for claim in claims:
        found += _alone(claim)
    for part in sorted({claim.part for claim in claims}):
        mine = [claim for claim in claims if claim.part == part]
        found += _of_one_part(mine, [truth for index, truth in others if index == part])
        for C in sorted({claim.C for claim in mine}):
            found += _scores([claim for claim in mine if claim.C == C])
    return [failure for failure in found if failure.excess > rounding]


def _of_one_part(claims: list[Claim], others: list[Truth]) -> list[Failure]:
    """What must hold of models of one part of a problem: at each C, no truth is below what any of them proves."""
    truths = [claim.truth for claim in claims if claim.truth is not None and claim.within] + others
    found: list[Failure] = []
    for C in sorted({claim.C for claim in claims}):
        found += _together([claim for claim in claims if claim.C == C], C, truths)
    return found


def _alone(claim: Claim) -> list[Failure]:
    """What must hold of each model by itself."""
    numbers = (claim.objective, claim.lower_bound)
    if claim.truth is None or not all(map(math.isfinite, numbers)):
        return [Failure("not finite", f"objective_ {claim.objective!r}, lower_bound_ {claim.lower_bound!r}", claim.way)]
    found = [*_objective(claim, claim.truth), *_gap(claim), *_last_entry(claim)]
    if not claim.within:
        found.append(Failure("constraint", "a weight that must not be negative is", claim.way))
    return found


def _objective(claim: Claim, truth: Truth) -> list[Failure]:
    """The objective reported is that of the weights, and not below it."""
    said, least, most = Fraction(claim.objective), truth.least(claim.C), truth.most(claim.C)
    if said < least:
        wrong = _relative(least - said, least)
        message = f"objective_ is {claim.objective!r}; its weights have {float(least)!r} (C={claim.C!r})"
        return [Failure("objective below truth", message, claim.way, wrong)]
    # What a bound on rounding costs is in proportion to the terms, not to their sum.
    room = _TIGHT * (abs(most) + Fraction(claim.C) * Fraction(truth.size))
    if claim.complete and said > most + room:
        message = f"objective_ is {claim.objective!r}; its weights have {float(most)!r} (C={claim.C!r})"
        return [Failure("objective above truth", message, claim.way, _relative(said - most, most))]
    return []


def _gap(claim: Claim) -> list[Failure]:
    """The gap is that of the bounds, and a run that stopped for it has it."""
    found = []
    upper, lower = claim.objective, claim.lower_bound
    if lower > upper:
        message = f"lower_bound_ {lower!r} is above objective_ {upper!r}"
        found.append(Failure("bounds cross", message, claim.way, _relative(Fraction(lower) - Fraction(upper), upper)))
    expected = 0.0 if upper == lower else (upper - lower) / abs(upper) if upper else math.inf
    if not (claim.gap == expected or math.isclose(claim.gap, expected, rel_tol=1e-12)) and lower <= upper:
        message = f"gap_ is {claim.gap!r}; ({upper!r} - {lower!r}) / |upper| is {expected!r}"
        found.append(Failure("gap is not the gap", message, claim.way))
    if claim.stop_reason == "gap" and not upper - lower <= claim.allowed * (1.0 + 1e-12):
        message = f"stop_reason_ is 'gap' with bounds {upper - lower!r} apart; at most {claim.allowed!r} was asked for"
        found.append(Failure("gap not reached", message, claim.way))
    return found


def _last_entry(claim: Claim) -> list[Failure]:
    """The history ends with the certificate."""
    if not claim.history:
        return [Failure("history", "history_ is empty", claim.way)]
    if tuple(claim.history[-1]) == (claim.objective, claim.lower_bound):
        return []
    message = f"history_ ends with {tuple(claim.history[-1])!r}, not {(claim.objective, claim.lower_bound)!r}"
    ends = [Fraction(value) for value in claim.history[-1] if math.isfinite(value)]
    off = max(abs(a - Fraction(b)) for a, b in zip(ends, (claim.objective, claim.lower_bound), strict=False))
    return [Failure("history end", message, claim.way, max(_relative(off, claim.objective), 5e-324))]


def _together(claims: Sequence[Claim], C: float, truths: Sequence[Truth]) -> list[Failure]:
    """No lower bound is above the objective of any weights, and no objective on the way below a bound."""
    if not truths:
        return []
    best = min(truth.most(C) for truth in truths)
    found = []
    proven = max((claim.lower_bound for claim in claims if math.isfinite(claim.lower_bound)), default=-math.inf)
    for claim in claims:
        if math.isfinite(claim.lower_bound) and Fraction(claim.lower_bound) > best:
            message = f"lower_bound_ is {claim.lower_bound!r}; there are weights with {float(best)!r} (C={C!r})"
            wrong = _relative(Fraction(claim.lower_bound) - best, best)
            found.append(Failure("lower bound above a model", message, claim.way, wrong))
        found += _history(claim, best, proven)
    return found


def _scores(claims: Sequence[Claim]) -> list[Failure]:
    """The optimum's scores lie in the intervals of all models, so that these meet."""
    known = [(claim, *claim.scores) for claim in claims if claim.scores is not None]
    if not known:
        return []
    found = [
        Failure("intervals", "an interval of a score has no ends", claim.way)
        for claim, low, high in known
        if np.isnan(low).any() or np.isnan(high).any()
    ]
    lows, highs = np.array([low for _, low, _ in known]), np.array([high for *_, high in known])
    apart = lows.max(axis=0) - highs.min(axis=0)
    row = int(np.argmax(apart))
    if apart[row] > 0.0:
        above, below = known[int(lows[:, row].argmax())], known[int(highs[:, row].argmin())]
        message = (
            f"the optimum's score of example {row} is at least {lows[:, row].max()!r} by way {above[0].way} "
            f"and at most {highs[:, row].min()!r} by way {below[0].way} (C={claims[0].C!r})"
        )
        size = max(abs(float(lows[:, row].max())), abs(float(highs[:, row].min())))
        found.append(Failure("intervals apart", message, above[0].way, float(apart[row]) / size if size else math.inf))
    return found


def _history(claim: Claim, best: Fraction, proven: float) -> list[Failure]:
    found = []
    lowers = [lower for _, lower in claim.history if math.isfinite(lower)]
    uppers = [upper for upper, _ in claim.history if math.isfinite(upper)]
    if lowers and Fraction(max(lowers)) > best and max(lowers) != claim.lower_bound:
        message = f"history_ has a lower bound {max(lowers)!r}; there are weights with {float(best)!r}"
        found.append(Failure("history lower", message, claim.way, _relative(Fraction(max(lowers)) - best, best)))
    # A bound that is wrong itself is no witness.
    if uppers and min(uppers) < proven and Fraction(proven) <= best:
        message = f"history_ has an objective {min(uppers)!r}; {proven!r} is proven to be below the optimum"
        wrong = _relative(Fraction(proven) - Fraction(min(uppers)), best)
        found.append(Failure("history upper", message, claim.way, wrong))
    if any(math.isnan(value) for pair in claim.history for value in pair):
        found.append(Failure("history", "history_ has a NaN", claim.way))
    return found


def _relative(excess: Fraction, size: Fraction | float) -> float:
    """Relative to the size, infinite next to nothing."""
    try:
        return float(excess / abs(Fraction(size))) if size else math.inf
    except OverflowError:
        return math.inf
