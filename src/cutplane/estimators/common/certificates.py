"""What every fitted estimator says of its training, in one shape: a certificate for each problem, and their sum.

A fit solves one problem or several (one for each class against the rest, one for each pair of classes). `certificates_`
has an entry for each; the other attributes are worked out from it, so that they cannot contradict it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Labels
from cutplane.solvers.certificates import STOP_REASONS, AnyStopReason, ProblemCertificate
from cutplane.solvers.result import OnStep, Result, Step


class CertifiedEstimator:
    """An estimator with certificates. `_certify_problems` is called once the problems are solved."""

    certificates_: list[ProblemCertificate]

    def _problem_labels(self) -> list[object]:
        """What the problems of a fitted model are about, for `ProblemCertificate.problem`."""
        return [None]

    def _certify_problems(self, results: Sequence[Result]) -> None:
        """Keep the certificates of runs, one for each problem."""
        self.certificates_ = [
            ProblemCertificate(
                label,
                float(result.upper),
                float(result.lower),
                result.stop_reason,
                len(result.history),
                result.history[-1].seconds if result.history else 0.0,
                steps_of(result.history, number),
                float(result.radius),
            )
            for number, (label, result) in enumerate(zip(self._problem_labels(), results, strict=True))
        ]

    @property
    def objective_(self) -> float:
        """The objective at the model: the sum over the problems, rounded up."""
        return _sum([each.objective for each in self.certificates_], math.inf)

    @property
    def lower_bound_(self) -> float:
        """What no model's objective is below: the sum over the problems, rounded down."""
        return _sum([each.lower_bound for each in self.certificates_], -math.inf)

    @property
    def gap_(self) -> float:
        """The proven relative gap of the worst problem."""
        return max(each.gap for each in self.certificates_)

    @property
    def stop_reason_(self) -> AnyStopReason:
        """Why training ended; of several problems' reasons the first in `STOP_REASONS`."""
        return min((each.stop_reason for each in self.certificates_), key=STOP_REASONS.index)

    @property
    def n_iter_(self) -> int | NDArray[np.int32]:
        """Iterations: the most that a problem took."""
        return max(each.n_iter for each in self.certificates_)

    @property
    def history_(self) -> list[Step]:
        """What the iterations reached, one problem after the other; `Step.problem` says which."""
        return [step for each in self.certificates_ for step in each.history]


def steps_of(history: Sequence[Step], number: int) -> list[Step]:
    """The steps of a run as those of the problem of that number."""
    return [step if step.problem == number else replace(step, problem=number) for step in history]


def listening(on_step: OnStep | None, number: int) -> OnStep | None:
    """What calls `on_step` with the steps of the problem of that number."""
    if on_step is None or number == 0:
        return on_step

    def listen(step: Step) -> object:
        return on_step(replace(step, problem=number))

    return listen


def one_against_rest(classes: Labels) -> list[object]:
    """The labels of problems of one class against the rest; of two classes, the second against the first."""
    labels: list[object] = classes.tolist()
    return labels[1:] if len(labels) == 2 else labels


def _sum(values: Sequence[float], towards: float) -> float:
    """The sum on the safe side: `fsum` rounds the exact one to the nearest number."""
    return values[0] if len(values) == 1 else math.nextafter(math.fsum(values), towards)
