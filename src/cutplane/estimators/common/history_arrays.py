"""Steps of runs as a handful of arrays, and back: a thousand steps are no thousand JSON objects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cutplane._types import Arrays, Document
from cutplane.solvers.result import Estimate, Step

_COLUMN = "history."
_PHASE = "history.phase."
_INTEGERS = ("iteration", "planes", "problem")
_FLOATS = ("seconds", "upper", "lower", "step", "violation")
# Of runs that prove nothing on the way.
_ESTIMATE = ("objective", "value")


def history_to_arrays(steps: Sequence[Step]) -> tuple[Arrays, Document]:
    """Return a column for each field of the steps, and what is needed besides to put them together again."""
    phases = sorted({name for step in steps for name in step.phases})
    estimated = any(step.estimate is not None for step in steps)
    floats = (*_FLOATS, *_ESTIMATE) if estimated else _FLOATS
    arrays: Arrays = {
        _COLUMN + name: np.array([getattr(step, name) for step in steps], dtype=np.int64) for name in _INTEGERS
    }
    arrays |= {_COLUMN + name: np.array([getattr(step, name) for step in steps], dtype=np.float64) for name in floats}
    for name in phases:
        # NaN where a step did not have that phase.
        arrays[_PHASE + name] = np.array([step.phases.get(name, np.nan) for step in steps], dtype=np.float64)
    return arrays, {"phases": phases, "estimated": estimated}


def history_from_arrays(described: Document, arrays: Arrays) -> list[Step]:
    """Return the steps that `history_to_arrays` took apart; `ValueError` if the parts do not fit."""
    names = (*_INTEGERS, *_FLOATS, *(_ESTIMATE if described["estimated"] else ()))
    columns = {name: arrays[_COLUMN + name] for name in names}
    phases = {name: arrays[_PHASE + name] for name in described["phases"]}
    if len({column.shape for column in (*columns.values(), *phases.values())}) != 1 or columns["iteration"].ndim != 1:
        raise ValueError("the columns of the history are not of one length")
    if any(columns[name].dtype.kind != "i" for name in _INTEGERS):
        raise ValueError("the history counts in something other than whole numbers")
    # tolist gives Python numbers, as the solver does.
    lists = {name: column.tolist() for name, column in columns.items()}
    phase_lists = {name: column.tolist() for name, column in phases.items()}
    return [
        _step(
            {name: column[i] for name, column in lists.items()},
            {name: column[i] for name, column in phase_lists.items() if not np.isnan(column[i])},
        )
        for i in range(len(columns["iteration"]))
    ]


def _step(values: Document, phases: dict[str, float]) -> Step:
    """A step from the values that a file keeps of it."""
    estimate = Estimate(values.pop("objective"), values.pop("value")) if "objective" in values else None
    return Step(**values, estimate=estimate, phases=phases)
