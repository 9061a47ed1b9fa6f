"""`history_` as a handful of arrays, and back: a thousand steps are no thousand JSON objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cutplane._types import Arrays, Document
from cutplane.kernels.machine_step import KernelStep
from cutplane.kernels.sampled_cuts import CutStep
from cutplane.solvers.result import Step

_PHASE = "history.phase."
# The columns of each kind of step: integers, then other numbers.
_COLUMNS: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {
    Step: (("iteration", "planes"), ("seconds", "upper", "lower", "step")),
    KernelStep: (("iteration", "machine"), ("seconds", "upper", "lower", "violation")),
    CutStep: (("iteration", "cuts"), ("seconds", "objective", "value", "violation")),
}
_WITH_PHASES = (Step, KernelStep)
_MARKS = {"of_kernels": KernelStep, "of_cuts": CutStep}

AnyStep = Step | KernelStep | CutStep
History = list[Step] | list[list[Step]] | list[KernelStep] | list[list[KernelStep]] | list[CutStep]


def history_to_arrays(history: History) -> tuple[Arrays, Document]:
    """Return the columns of `history`, and what is needed besides to put it together again."""
    nested = bool(history) and isinstance(history[0], list)
    runs: Sequence[Sequence[AnyStep]] = history if nested else [history]  # type: ignore[assignment, list-item]
    steps = [step for run in runs for step in run]
    kind = type(steps[0]) if steps else Step
    integers, floats = _COLUMNS[kind]
    phases = sorted({name for step in steps for name in _phases(step)})
    arrays: Arrays = {"history.lengths": np.array([len(run) for run in runs], dtype=np.int64)}
    for name in integers:
        arrays[f"history.{name}"] = np.array([getattr(step, name) for step in steps], dtype=np.int64)
    for name in floats:
        arrays[f"history.{name}"] = np.array([getattr(step, name) for step in steps], dtype=np.float64)
    for name in phases:
        # NaN where a step did not have that phase.
        arrays[_PHASE + name] = np.array([_phases(step).get(name, np.nan) for step in steps], dtype=np.float64)
    return arrays, {"per_class": nested, "phases": phases, **{mark: kind is each for mark, each in _MARKS.items()}}


def _phases(step: AnyStep) -> Mapping[str, float]:
    """Seconds by phase; sampled cuts have none."""
    return {} if isinstance(step, CutStep) else step.phases


def history_from_arrays(described: Document, arrays: Arrays) -> History:
    """Return the history that `history_to_arrays` took apart; `ValueError` if the parts do not fit."""
    lengths = arrays["history.lengths"]
    kind = next((each for mark, each in _MARKS.items() if described.get(mark)), Step)
    columns = {name: arrays[f"history.{name}"] for names in _COLUMNS[kind] for name in names}
    phases = {name: arrays[_PHASE + name] for name in described["phases"]}
    total = int(lengths.sum())
    if lengths.dtype.kind != "i" or (lengths < 0).any():
        raise ValueError("history lengths are not counts")
    if any(column.shape != (total,) for column in (*columns.values(), *phases.values())):
        raise ValueError("the columns of the history are not of one length")
    # tolist gives Python numbers, as the solver does.
    lists = {name: column.tolist() for name, column in columns.items()}
    phase_lists = {name: column.tolist() for name, column in phases.items()}
    steps: list[AnyStep] = []
    for i in range(total):
        values = {name: column[i] for name, column in lists.items()}
        phases_here = {name: column[i] for name, column in phase_lists.items() if not np.isnan(column[i])}
        steps.append(kind(**values, phases=phases_here) if kind in _WITH_PHASES else kind(**values))
    if not described["per_class"]:
        return steps  # type: ignore[return-value]
    ends = np.cumsum(lengths).tolist()
    parts = zip(ends, lengths.tolist(), strict=True)
    return [steps[end - length : end] for end, length in parts]  # type: ignore[return-value]
