"""What a run of SMO returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.certificate import Certificate
from cutplane.solvers.result import Step

Array = NDArray[np.float64]
SMOStopReason = Literal["kkt", "gap", "pair", "stalled", "max_iter", "time_limit", "interrupted"]


@dataclass(frozen=True, slots=True)
class SMOResult:
    """The solution of a dual problem with its certificate.

    Attributes
    ----------
    alpha : array
        The a of `DualProblem`, feasible.
    gradient : array
        Q a + p.
    rho : tuple of two floats
        The threshold; for a grouped problem that of label +1 and of label -1, else twice the same.
    n_iter : int
        Pair steps.
    dual, primal : float
        The optimum of the primal problem lies between them; infinite where the run ended before the gradient of the
        start was complete, and `rho` is 0 then.
    violation : float
        m(a) - M(a), the maximal violation of the optimality conditions.
    history : list of Step
        While variables are shrunken away, `upper` and `violation` of a step are those of the last full look. `lower` is
        the best bound until then. Both bounds allow for kernel values in single precision, whose errors add up as
        their squares do.
    stop_reason : str
        "kkt", "gap", "pair": the rule asked for. "max_iter", "time_limit", "interrupted". "stalled", in any of these
        cases: no pair makes progress in double precision; what is left of the violation is its rounding; ten million
        steps (100 for each variable, if that is more) have left no violation but what the rounding of kernel values to
        single precision accounts for; after a million steps (100 for each variable) and along conjugate directions,
        too, the last half of the steps closed less than a tenth of the gap and did not halve the violation.
    seconds : float
    phases : dict
        Seconds spent on kernel rows, selection, pair steps and gradients, where the solver keeps them.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1, 1], np.int8)
    >>> result = solve(DualProblem.classification(y, np.full(2, 10.0)), KernelMatrix(X, Kernel("linear")))
    >>> result.stop_reason, round(result.rho[0], 3), bool(result.dual <= result.primal)
    ('kkt', 1.0, True)
    """

    alpha: Array
    gradient: Array
    rho: tuple[float, float]
    n_iter: int
    dual: float
    primal: float
    violation: float
    history: list[Step] = field(repr=False)
    stop_reason: SMOStopReason
    seconds: float
    phases: dict[str, float] = field(default_factory=dict, repr=False)

    @property
    def certificate(self) -> Certificate:
        """Both bounds."""
        return Certificate(self.primal, self.dual)

    @property
    def gap(self) -> float:
        """The relative duality gap, (primal - dual) / |primal|."""
        return self.certificate.gap
