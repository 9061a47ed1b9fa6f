"""Kernels in structural SVMs by sampled cuts (Yu and Joachims 2008): the loop.

A cut of the whole sample is a sum of as many kernel functions as there are examples, so that products of cuts cost
N² kernel values. A cut of r sampled examples costs r. `minimise` is the template of the paper (Algorithm 4); where a
cut comes from is said by a `CutFinder`: of these there are three.

What is proven depends on the finder. Exact cuts are planes below the risk: the QP's value is a lower bound, and the
gap is a proof. Sampled cuts are not, so no gap is stated for them, but what the paper proves: with linear-time cuts the
objective itself is evaluated and ends within C·epsilon of the model; with constant-time cuts even that is an estimate.
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
from cutplane._types import Array
from cutplane.kernels.cut_finders import CutFinder
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.expansions import Rows
from cutplane.solvers.bundle.gram import GramBundle
from cutplane.solvers.result import Estimate, OnStep, Step

Reason = Literal["epsilon", "max_iter", "time_limit", "interrupted", "stalled"]


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
        Why the run ended; "stalled" where it seemed to be within epsilon and its certificate is not.
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
    epsilon: float = 1e-3,
    max_iter: int = 10_000,
    time_limit: float | None = None,
    on_step: OnStep | None = None,
    probability: float = 0.95,
) -> Outcome:
    """Minimise ½|w|² + C·R(w), R a mean, until the risk is within `epsilon` of the model (Algorithm 4).

    Ctrl-C ends the run with what was reached.
    """
    with one_blas_thread():
        return _minimise(finder, C, epsilon, max_iter, time_limit, on_step, probability)


def _minimise(
    finder: CutFinder,
    C: float,
    epsilon: float,
    max_iter: int,
    time_limit: float | None,
    on_step: OnStep | None,
    probability: float,
) -> Outcome:
    start = time.perf_counter()
    bundle, solution, value, best = GramBundle(), None, 0.0, -math.inf
    history: list[Step] = []
    reason: Reason | None = None
    try:
        while reason is None:
            found = finder.find(solution, C)
            finder.mark(solution, C)
            violation = (found.objective - value) / C
            step = Step(
                len(history) + 1,
                time.perf_counter() - start,
                math.inf,
                -math.inf,
                len(bundle),
                violation=violation,
                estimate=Estimate(found.objective, value),
            )
            history.append(step)
            stop = on_step is not None and on_step(step) is True
            if finder.satisfied(violation, epsilon):
                reason = "epsilon"
            elif step.iteration >= (min(max_iter, TUNING.indefinite_iterations) if finder.indefinite else max_iter):
                reason = "max_iter"
            elif time_limit is not None and step.seconds >= time_limit:
                reason = "time_limit"
            elif stop:
                reason = "interrupted"
            else:
                finder.keep(found)
                bundle.add(found.products, found.offset)
                idle = bundle.idle(1 if finder.full else TUNING.idle_iterations)
                if len(idle):
                    bundle.remove(idle)
                    finder.drop(idle)
                solution = bundle.solve(C)
                value = solution.value
                if finder.exact and value > best:
                    best = value
                    finder.remember(solution, bundle.offsets)
    except KeyboardInterrupt:
        if not history:
            raise
        reason = "interrupted"
    answer = finder.answer(C, history[-1].objective, history[-1].violation)
    proven = not finder.indefinite
    return Outcome(
        answer.rows,
        answer.coef,
        answer.explicit,
        answer.objective,
        max(step.value for step in history) if finder.exact and proven else None,
        answer.violation,
        finder.bound(C, epsilon, answer.violation, probability, max_iter) if proven else math.inf,
        1.0 if finder.exact else probability,
        history,
        reason,
        C * finder.mean_size,
    )
