"""`history_` as a handful of arrays, and back: a thousand steps are no thousand JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from cutplane._types import Arrays, Document
from cutplane.solvers.result import Estimate, Step

Kind = Literal["planes", "kernels", "cuts"]
History = list[Step] | list[list[Step]]

_PHASE = "history.phase."


class _Columns(NamedTuple):
    """What a file keeps of the steps of a kind of solver: integers, numbers, and numbers kept where one is finite."""

    integers: tuple[str, ...]
    floats: tuple[str, ...]
    if_finite: tuple[str, ...] = ()


_COLUMNS: dict[Kind, _Columns] = {
    "planes": _Columns(("iteration", "planes"), ("seconds", "upper", "lower", "step")),
    "kernels": _Columns(("iteration", "machine"), ("seconds", "upper", "lower", "violation")),
    "cuts": _Columns(("iteration", "cuts"), ("seconds", "objective", "value", "violation"), ("upper", "lower")),
}
_MARKS: dict[str, Kind] = {"of_kernels": "kernels", "of_cuts": "cuts"}


def history_to_arrays(history: History) -> tuple[Arrays, Document]:
    """Return the columns of `history`, and what is needed besides to put it together again."""
    runs, nested = _runs(history)
    steps = [step for run in runs for step in run]
    kind = _kind(steps)
    columns = _COLUMNS[kind]
    phases = sorted({name for step in steps for name in step.phases})
    arrays: Arrays = {"history.lengths": np.array([len(run) for run in runs], dtype=np.int64)}
    for name in columns.integers:
        arrays[f"history.{name}"] = np.array([getattr(step, name) for step in steps], dtype=np.int64)
    for name in (*columns.floats, *columns.if_finite):
        values = np.array([getattr(step, name) for step in steps], dtype=np.float64)
        if name in columns.floats or np.isfinite(values).any():
            arrays[f"history.{name}"] = values
    for name in phases:
        # NaN where a step did not have that phase.
        arrays[_PHASE + name] = np.array([step.phases.get(name, np.nan) for step in steps], dtype=np.float64)
    return arrays, {"per_class": nested, "phases": phases, **{mark: kind == each for mark, each in _MARKS.items()}}


def history_from_arrays(described: Document, arrays: Arrays) -> History:
    """Return the history that `history_to_arrays` took apart; `ValueError` if the parts do not fit."""
    lengths = arrays["history.lengths"]
    kind: Kind = next((each for mark, each in _MARKS.items() if described.get(mark)), "planes")
    integers, floats, if_finite = _COLUMNS[kind]
    there = (*integers, *floats, *(name for name in if_finite if f"history.{name}" in arrays))
    columns = {name: arrays[f"history.{name}"] for name in there}
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
        _step(
            {name: column[i] for name, column in lists.items()},
            {name: column[i] for name, column in phase_lists.items() if not np.isnan(column[i])},
        )
        for i in range(total)
    ]
    if not described["per_class"]:
        return steps
    ends = np.cumsum(lengths).tolist()
    return [steps[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


def _runs(history: History) -> tuple[Sequence[Sequence[Step]], bool]:
    """The history of each run, and whether there is one for each class."""
    runs = [run for run in history if isinstance(run, list)]
    return (runs, True) if runs else ([[step for step in history if isinstance(step, Step)]], False)


def _kind(steps: Sequence[Step]) -> Kind:
    """The kind of solver that took these steps."""
    if not steps or (steps[0].estimate is None and steps[0].machine is None):
        return "planes"
    return "kernels" if steps[0].estimate is None else "cuts"


def _step(values: Document, phases: dict[str, float]) -> Step:
    """A step of any kind from the values that a file keeps of it."""
    if "objective" not in values:
        return Step(**values, phases=phases)
    estimate = Estimate(values.pop("objective"), values.pop("value"))
    bounds = {"upper": np.inf, "lower": -np.inf, "planes": values.pop("cuts")}
    return Step(**(bounds | values), estimate=estimate, phases=phases)
