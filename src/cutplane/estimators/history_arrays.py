"""`history_` as a handful of arrays, and back: a thousand steps are no thousand JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.solvers.result import Step

_INTEGERS = ("iteration", "planes")
_FLOATS = ("seconds", "upper", "lower", "step")
_PHASE = "history.phase."

History = list[Step] | list[list[Step]]


def history_to_arrays(history: History) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the columns of `history`, and what is needed besides to put it together again."""
    nested = bool(history) and not isinstance(history[0], Step)
    runs: Sequence[Any] = history if nested else [history]
    steps: list[Step] = [step for run in runs for step in run]
    phases = sorted({name for step in steps for name in step.phases})
    arrays: dict[str, NDArray[Any]] = {"history.lengths": np.array([len(run) for run in runs], dtype=np.int64)}
    for name in _INTEGERS:
        arrays[f"history.{name}"] = np.array([getattr(step, name) for step in steps], dtype=np.int64)
    for name in _FLOATS:
        arrays[f"history.{name}"] = np.array([getattr(step, name) for step in steps], dtype=np.float64)
    for name in phases:
        # NaN where a step did not have that phase.
        arrays[_PHASE + name] = np.array([step.phases.get(name, np.nan) for step in steps], dtype=np.float64)
    return arrays, {"per_class": nested, "phases": phases}


def history_from_arrays(described: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> History:
    """Return the history that `history_to_arrays` took apart; `ValueError` if the parts do not fit."""
    lengths = arrays["history.lengths"]
    columns = {name: arrays[f"history.{name}"] for name in (*_INTEGERS, *_FLOATS)}
    phases = {name: arrays[_PHASE + name] for name in described["phases"]}
    total = int(lengths.sum())
    if lengths.dtype.kind != "i" or (lengths < 0).any():
        raise ValueError("history lengths are not counts")
    if any(column.shape != (total,) for column in (*columns.values(), *phases.values())):
        raise ValueError("the columns of the history are not of one length")
    # tolist gives Python numbers, as the solver does.
    lists = {name: column.tolist() for name, column in columns.items()}
    phase_lists = {name: column.tolist() for name, column in phases.items()}
    steps = [
        Step(
            **{name: values[i] for name, values in lists.items()},
            phases={name: v[i] for name, v in phase_lists.items() if not np.isnan(v[i])},
        )
        for i in range(total)
    ]
    if not described["per_class"]:
        return steps
    ends = np.cumsum(lengths).tolist()
    return [steps[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]
