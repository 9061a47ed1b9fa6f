"""A solver of the core at work: its steps, its bounds and what single precision does to them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cutplane import _core
from cutplane.kernels.certificate import prove
from cutplane.kernels.functions import SINGLE_PRECISION
from cutplane.kernels.matrix import KernelMatrix
from cutplane.kernels.problems import DualProblem
from cutplane.kernels.smo_result import Array, SMOResult, SMOStopReason
from cutplane.kernels.smo_settings import TUNING
from cutplane.proof.certificate import relative_gap
from cutplane.solvers.result import Step


class Workspace:
    """A solver of the core at work on a problem, its numbers in units of the problem.

    Parameters
    ----------
    solver : SmoSolver
    problem : DualProblem
    matrix : KernelMatrix
        Multipliers of the solver are those of the problem times 2^matrix.exponent.
    n_rows : int
        Rows of the matrix that the problem has variables of.
    threads : callable
        How many threads to use until the next look at the clock.
    """

    def __init__(
        self,
        solver: _core.SmoSolver,
        problem: DualProblem,
        matrix: KernelMatrix,
        n_rows: int,
        threads: Callable[[], int],
    ) -> None:
        self.solver, self.problem = solver, problem
        self._threads = threads
        self._matrix, self._n_rows = matrix, n_rows
        self._before = 0  # steps of the solvers that this one has taken over from

    @property
    def row_bytes(self) -> int:
        """Bytes of a kernel row."""
        return self._matrix.row_bytes

    @property
    def steps(self) -> int:
        """Pair steps until now."""
        return self._before + self.solver.iterations

    def advance(self, most: int) -> str:
        """Pair steps until there are `most`, or until the clock and the signals are to be looked at."""
        return self.solver.advance(most - self._before, TUNING.seconds_per_look, self._threads())

    def take_over(self, solver: _core.SmoSolver) -> None:
        """Go on with another solver, which has been started from the multipliers of this one."""
        self._before, self.solver = self.steps, solver

    def bounds(self) -> tuple[float, float, float]:
        """Dual, primal and violation for the kernel values as they are, with all variables at hand again."""
        self.solver.settle()
        dual, primal, violation, *_ = self.solver.bounds()
        return dual, primal, violation

    def alpha(self) -> Array:
        """Multipliers in units of the problem."""
        return in_units(self.solver.alpha(), self.problem.upper, self._matrix.exponent)

    def step(self, seconds: float, best: float) -> tuple[Step, float]:
        """A look at the run, and the gap for the kernel values as they are; `best` is the best bound until now."""
        if not self.solver.ready:
            return Step(self.steps, seconds, math.inf, -math.inf), math.inf
        dual, primal, violation, *rho = self.solver.bounds()
        scale, (below, above) = 2.0**-self._matrix.exponent, self._off_by_single_precision(rho)
        lower = max((dual - below) * scale, best)
        upper = (primal + above) * scale
        return Step(self.steps, seconds, upper, lower, violation=violation), relative_gap(primal, dual)

    def result(self, history: list[Step], reason: SMOStopReason) -> SMOResult:
        """Multipliers in units of the problem, and bounds with all rounding charged."""
        last, problem = history[-1], self.problem
        rho_up, rho_down = self.solver.bounds()[3:] if self.solver.ready else (0.0, 0.0)
        alpha, gradient = self.alpha(), self.solver.gradient()
        dual, primal = -math.inf, math.inf
        if self.solver.ready:
            scores = (problem.y * (gradient - problem.p))[: self._n_rows]
            spread = self.solver.drift + 2.0**-52 * float(np.abs(problem.p).max(initial=0.0))
            errors = np.full(self._n_rows, spread)
            proof = prove(problem, alpha, (rho_up, rho_down), scores, errors, self._matrix.largest_value)
            dual, primal = proof.lower_bound, proof.objective
        return SMOResult(
            alpha,
            gradient,
            (rho_up, rho_down),
            last.iteration,
            dual,
            primal,
            last.violation,
            history,
            reason,
            last.seconds,
            self.solver.phases(),
        )

    def _off_by_single_precision(self, rho: list[float]) -> tuple[float, float]:
        """What errors of kernel values do to dual and primal: those that differ by rows, and those that all share."""
        y, alpha, gradient = self.problem.y, self.solver.alpha(), self.solver.gradient()
        scores = np.abs(gradient - self.problem.p)
        upper = np.ldexp(self.problem.upper, self._matrix.exponent)
        losing = np.where(np.where(y > 0, rho[0], -rho[1]) > gradient, upper, 0.0)
        reach = float(np.sqrt(losing @ losing))
        coef = np.abs((y * alpha).reshape(-1, self._n_rows).sum(axis=0))
        largest = float(np.ldexp(self._matrix.largest_value, -self._matrix.exponent))
        length = float(np.sqrt(coef @ coef))
        square = 0.5 * largest * length * length + 0.5 * float(coef @ scores[: self._n_rows])
        losses = largest * length * reach + float(losing @ scores)
        return SINGLE_PRECISION * square, SINGLE_PRECISION * (square + losses)


def in_units(scaled: Array, upper: Array, exponent: int) -> Array:
    """Multipliers of the core in units of the problem."""
    # What is at its bound is there exactly, also where numbers are too small to be scaled exactly.
    at_bound = scaled >= np.ldexp(upper, exponent)
    return np.asarray(np.minimum(np.where(at_bound, upper, np.ldexp(scaled, -exponent)), upper))
