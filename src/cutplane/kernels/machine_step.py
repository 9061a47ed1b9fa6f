"""How far a run of SMO is, as users see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cutplane.kernels.certificate import relative_gap
from cutplane.kernels.smo import SMOStep


@dataclass(frozen=True, slots=True)
class KernelStep:
    """A look at a run of SMO, as `history_` and `on_step` see it.

    Attributes
    ----------
    iteration : int
        Pair steps until now.
    seconds : float
    upper, lower : float
        The primal and the dual objective: the optimum lies between them.
    violation : float
        The maximal violation of the optimality conditions, which ``stopping="kkt"`` holds against `tol`.
    machine : int
        Which of several machines.
    phases : dict
        Of the last look: seconds spent on kernel rows, selection, pair steps and gradients, where they are known.
    """

    iteration: int
    seconds: float
    upper: float
    lower: float
    violation: float
    machine: int = 0
    phases: Mapping[str, float] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(self.upper, self.lower)

    @classmethod
    def of(cls, step: SMOStep, machine: int) -> KernelStep:
        """The solver's step, with the machine it belongs to."""
        return cls(step.iteration, step.seconds, step.primal, step.dual, step.violation, machine)
