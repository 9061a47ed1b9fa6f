"""`history_` as a handful of arrays, and back: a thousand steps are no thousand JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.estimators.machines import KernelStep
from cutplane.solvers.result import Step

_INTEGERS = ("iteration", "planes")
_FLOATS = ("seconds", "upper", "lower", "step")
_PHASE = "history.phase."
# The columns of kernel machines.
_KERNEL_INTEGERS = ("iteration", "machine")
_KERNEL_FLOATS = ("seconds", "upper", "lower", "violation")

History = list[Step] | list[list[Step]] | list[KernelStep] | list[list[KernelStep]]


def history_to_arrays(history: History) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the columns of `history`, and what is needed besides to put it together again."""
    nested = bool(history) and isinstance(history[0], list)
    runs: Sequence[Any] = history if nested else [history]
    steps: list[Any] = [step for run in runs for step in run]
    of_kernels = bool(steps) and isinstance(steps[0], KernelStep)
    integers, floats = (_KERNEL_INTEGERS, _KERNEL_FLOATS) if of_kernels else (_INTEGERS, _FLOATS)
    phases = sorted({name for step in steps for name in step.phases})
    arrays: dict[str, NDArray[Any]] = {"history.lengths": np.array([len(run) for run in runs], dtype=np.int64)}
    for name in integers:
        arrays[f"history.{name}"] = np.array([getattr(step, name) for step in steps], dtype=np.int64)
    for name in floats:
        arrays[f"history.{name}"] = np.array([getattr(step, name) for step in steps], dtype=np.float64)
    for name in phases:
        # NaN where a step did not have that phase.
        arrays[_PHASE + name] = np.array([step.phases.get(name, np.nan) for step in steps], dtype=np.float64)
    return arrays, {"per_class": nested, "phases": phases, "of_kernels": of_kernels}


def history_from_arrays(described: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> History:
    """Return the history that `history_to_arrays` took apart; `ValueError` if the parts do not fit."""
    lengths = arrays["history.lengths"]
    of_kernels = bool(described.get("of_kernels"))
    names = (*_KERNEL_INTEGERS, *_KERNEL_FLOATS) if of_kernels else (*_INTEGERS, *_FLOATS)
    columns = {name: arrays[f"history.{name}"] for name in names}
    phases = {name: arrays[_PHASE + name] for name in described["phases"]}
    total = int(lengths.sum())
    if lengths.dtype.kind != "i" or (lengths < 0).any():
        raise ValueError("history lengths are not counts")
    if any(column.shape != (total,) for column in (*columns.values(), *phases.values())):
        raise ValueError("the columns of the history are not of one length")
    # tolist gives Python numbers, as the solver does.
    lists = {name: column.tolist() for name, column in columns.items()}
    phase_lists = {name: column.tolist() for name, column in phases.items()}
    steps: list[Any] = []
    for i in range(total):
        values = {name: column[i] for name, column in lists.items()}
        phases_here = {name: column[i] for name, column in phase_lists.items() if not np.isnan(column[i])}
        steps.append((KernelStep if of_kernels else Step)(**values, phases=phases_here))
    if not described["per_class"]:
        return steps
    ends = np.cumsum(lengths).tolist()
    return [steps[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]
