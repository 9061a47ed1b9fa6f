"""Kernels in structural SVMs by sampled cuts (Yu and Joachims 2008): the loop.

A cut of the whole sample is a sum of as many kernel functions as there are examples, so that products of cuts cost
N² kernel values. A cut of r sampled examples costs r. `minimise` is the template of the paper (Algorithm 4); where a
cut comes from is said by a `CutFinder`: of these there are three.

What is proven depends on the finder. Exact cuts are planes below the risk: the QP's value is a lower bound, and the
gap is a proof. Sampled cuts are not, so a run states no gap for them, but what the paper proves: with linear-time cuts
the objective itself is evaluated and ends within C·risk_tol of the model; with constant-time cuts even that is an
estimate. A bound for linear-time cuts is found when the run has ended (`cutplane.kernels.whole_planes`).
`Outcome.bound` is the excess of the objective that the paper's Theorems 2 and 3 allow: true, and coarse.

A `Step` says on the way what a run believes: its `estimate` has the objective of the point that would be returned now
(constant-time: of the minimiser, in a sample) and the value of the QP. `violation` is their difference over C. Kernel
values are single precision, so the bounds of a step stay infinite until the end, when a certificate states them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Literal

from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import TimeIsUpError, deadline, time_is_up
from cutplane._types import Array
from cutplane.kernels.cut_finders import CutFinder, Found
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.expansions import Rows
from cutplane.solvers.bundle.gram import GramBundle, GramSolution
from cutplane.solvers.result import Estimate, OnStep, Step

Reason = Literal["risk_tol", "max_iter", "time_limit", "interrupted", "stalled"]

# More iterations than any run takes: what the paper's bounds ask to be known in advance.
_NO_LIMIT = 2**62


@dataclass(frozen=True)
class Outcome:
    """The solution w = Σ coef[j] phi(x_rows[j]) and what is known of it.

    Attributes
    ----------
    rows, coef, explicit : array
        The expansion, and the weights of explicit features.
    objective : float
        ½|w|² + C·risk. With constant-time cuts an estimate from a sample; where w is a mean, from a few samples and the
        mean of the squared lengths, which is too large if anything.
    lower_bound : float or None
        A proven lower bound on the optimum: with exact cuts of a positive semi-definite kernel only.
    violation : float
        By how much the risk is above the model; where w is a mean of minimisers, the mean of theirs.
    bound, probability : float
        With at least this probability the objective exceeds the optimum by at most `bound`; infinite where cuts show
        that the kernel is not positive semi-definite.
    reason : str
        Why the run ended; "stalled" where it seemed to be within risk_tol and its certificate is not, or where a
        hundred exact cuts changed neither bound.
    scores_size : float
        C times the mean size of scores, with exact cuts: what rounding to single precision is in proportion to.
    """

    rows: Rows
    coef: Array
    explicit: Array
    objective: float
    lower_bound: float | None
    violation: float
    bound: float
    probability: float
    history: list[Step] = field(repr=False)
    reason: Reason
    scores_size: float = 0.0


def minimise(
    finder: CutFinder,
    C: float,
    *,
    risk_tol: float = 1e-3,
    max_iter: int | None = 10_000,
    time_limit: float | None = None,
    on_step: OnStep | None = None,
    probability: float = 0.95,
) -> Outcome:
    """Minimise ½|w|² + C·R(w), R a mean, until the risk is within `risk_tol` of the model (Algorithm 4).

    Ctrl-C ends the run with what was reached.
    """
    run = _Run(finder, C, risk_tol, _NO_LIMIT if max_iter is None else max_iter, on_step)
    with one_blas_thread(), deadline(time_limit):
        return run.outcome(run.to_the_end(), probability)


@dataclass
class _Run:
    """The cuts so far, the QP over them, and when to stop."""

    finder: CutFinder
    C: float
    risk_tol: float
    max_iter: int
    on_step: OnStep | None
    bundle: GramBundle = field(default_factory=GramBundle)
    solution: GramSolution | None = None
    value: float = 0.0
    best: float = -math.inf
    least: float = math.inf  # the best objective
    gained: int = 0  # the iteration that raised the one or lowered the other last
    history: list[Step] = field(default_factory=list)
    start: float = field(default_factory=time.perf_counter)

    def to_the_end(self) -> Reason:
        """Find a cut, stop if the model is good enough, else add the cut to the model."""
        reason: Reason | None = None
        try:
            while reason is None:
                found = self.finder.find(self.solution, self.C)
                self.finder.mark(self.solution, self.C)
                reason = self._reason(self._note(found.objective))
                if reason is None:
                    self._add(self.finder.complete(found))
        except TimeIsUpError:
            reason = "time_limit"
        except KeyboardInterrupt:
            if not self.history:
                raise
            reason = "interrupted"
        return reason

    def _note(self, objective: float) -> Step:
        step = Step(
            len(self.history) + 1,
            time.perf_counter() - self.start,
            math.inf,
            -math.inf,
            len(self.bundle),
            violation=(objective - self.value) / self.C,
            estimate=Estimate(objective, self.value),
        )
        self.history.append(step)
        if objective < self.least:
            self.least, self.gained = objective, step.iteration
        return step

    def _reason(self, step: Step) -> Reason | None:
        stop = self.on_step is not None and self.on_step(step) is True
        if self.finder.satisfied(step.violation, self.risk_tol):
            return "risk_tol"
        most = min(self.max_iter, TUNING.indefinite_iterations) if self.finder.indefinite else self.max_iter
        if step.iteration >= most:
            return "max_iter"
        if time_is_up():
            return "time_limit"
        if self.finder.exact and step.iteration - self.gained > TUNING.idle_cuts:
            return "stalled"
        return "interrupted" if stop else None

    def _add(self, found: Found) -> None:
        """Add a cut to the model, drop idle ones, and solve the QP."""
        assert found.products is not None
        self.finder.keep(found)
        self.bundle.add(found.products, found.offset)
        idle = self.bundle.idle(1 if self.finder.full else TUNING.idle_iterations)
        if len(idle):
            self.bundle.remove(idle)
            self.finder.drop(idle)
        self.solution = self.bundle.solve(self.C)
        self.value = self.solution.value
        if self.finder.exact and self.value > self.best:
            self.best, self.gained = self.value, len(self.history)
            self.finder.remember(self.solution, self.bundle.offsets)

    def outcome(self, reason: Reason, probability: float) -> Outcome:
        """The point reached, and what is proven of it."""
        finder, C, last = self.finder, self.C, self.history[-1]
        answer = finder.answer(C, last.objective, last.violation)
        proven = not finder.indefinite
        bound = math.inf
        if proven:
            bound = finder.bound(C, self.risk_tol, answer.violation, probability, self.max_iter)
        return Outcome(
            answer.rows,
            answer.coef,
            answer.explicit,
            answer.objective,
            max(step.value for step in self.history) if finder.exact and proven else None,
            answer.violation,
            bound,
            1.0 if finder.exact else probability,
            self.history,
            reason,
            C * finder.mean_size,
        )
