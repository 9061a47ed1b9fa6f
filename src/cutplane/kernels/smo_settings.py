"""Settings of SMO: their types and checks, and the constants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from cutplane.kernels.matrix import KernelMatrix, Rows
from cutplane.kernels.problems import DualProblem

Selection = Literal["mvp", "second-order", "hmg", "ofs1", "ofs2", "conjugate"]
Stopping = Literal["kkt", "gap", "pair"]

DEFAULT_SELECTION: Selection = "second-order"


@dataclass(frozen=True, slots=True)
class SMOTuning:
    """The constants of SMO, and what chose each."""

    # Variables worked on at a time: a sixteenth, between these limits. `benchmarks/smo.py --working-sets` on ijcnn1,
    # covtype, w8a, a9a, skin, kddcup99 and ten problems of each size from 1,000 to 8,000 examples. The largest set by
    # covtype of 30,000 and 60,000 examples: 0.7 and 0.8 times the seconds of 2048, where the others stay within 5 %.
    set_share: int = 16
    smallest_set: int = 256
    largest_set: int = 4096
    # Working sets are multiples of this: rows of a block then begin where cache lines do. By the size of a cache line.
    set_multiple: int = 16
    # Problems of so many variables at most are solved side by side, in one call of the core for many; their working set
    # is the smallest. By hand.
    small: int = 512
    # Kernel values that means may take, of pairs that there was no time for. By hand: a tenth of a second.
    values_for_means: int = 100_000_000
    # Machines without time become part of a model in so many times the seconds that posing them took. By hand.
    after: float = 2.0
    # The smallest working set where the cache is small. By hand.
    least_set: int = 64
    # Rows that should be in the cache where one pair is taken at a time. By hand.
    fewest_rows: int = 100
    # Seconds between two looks at the clock and the signals. By hand: Ctrl-C should seem to act at once.
    seconds_per_look: float = 0.05
    # Kernel values touched, and pair steps taken, between two looks at the bounds. By hand: a few looks a second.
    values_per_slice: int = 100_000_000
    most_steps_per_slice: int = 10_000
    # In sets of more than a pair, at least one for so many variables: a step takes microseconds there, and a look at
    # 100,000 variables three milliseconds of one thread (a sixth of a run on 16). covtype, 100,000 examples.
    variables_per_step: int = 2
    # Pair steps between looks at the gap, where that ends a run. In sets of more than a pair there is at least one step
    # for each variable: a step costs less there than a look at all variables. By hand.
    steps_per_gap: int = 100
    # After this many pair steps, or this many for each variable, and again after as many: look whether only the
    # rounding of kernel values is left. LIBSVM's numbers; it ends there in any case.
    patience: int = 10_000_000
    patience_each: int = 100
    # Steps, or steps for each variable, before the first look back. The next one is due when they have doubled. By
    # hand, on eleven runs of NuSVR that hardly moved: conjugate directions brought six of them to their end within as
    # many steps again.
    look_back: int = 100_000
    look_back_each: int = 10
    # A run hardly moves if the last half of its steps closed less of the gap than this share, and left more of the
    # violation than that one. By hand, on the same eleven runs.
    closed_share: float = 0.1
    violation_share: float = 0.5
    # A run that still hardly moves after so many times the steps of the first look back has stalled. By hand, the same.
    give_up_after: int = 10


TUNING = SMOTuning()


def working_set_for(n: int, stopping: Stopping, working_set: int | None = None) -> int:
    """Of n variables, how many are worked on at a time if the cache has room."""
    if working_set is not None:
        return working_set
    if stopping == "pair":
        return 2
    multiple = TUNING.set_multiple
    share = multiple * -(-n // (TUNING.set_share * multiple))
    return min(max(share, TUNING.smallest_set), TUNING.largest_set)


def rows_for(working_set: int) -> int:
    """How many kernel rows should be at hand: those worked on, and as many that were."""
    return max(2 * working_set, TUNING.fewest_rows)


def fitting(size: int, matrix: KernelMatrix) -> int:
    """The working set that the cache has room for. Rows in use may outgrow the cache, so they get half of it."""
    if size == 2 or matrix.whole:
        return size
    return min(size, max(TUNING.least_set, matrix.core.capacity // 2))


def steps_per_slice(stopping: Stopping, n: int, *, pairs: bool) -> int:
    """Pair steps between two looks at the bounds."""
    steps = max(1, min(TUNING.most_steps_per_slice, TUNING.values_per_slice // (4 * n)))
    if stopping != "gap":
        return steps if pairs else max(steps, n // TUNING.variables_per_step)
    return min(steps, TUNING.steps_per_gap if pairs else max(n, TUNING.steps_per_gap))


def check_settings(
    selection: str,
    stopping: str,
    eps: float,
    tol: float,
    working_set: int | None,
    max_iter: int | None,
    time_limit: float | None,
) -> None:
    """`ValueError` for a setting that means nothing."""
    for name, value, choices in (("selection", selection, Selection), ("stopping", stopping, Stopping)):
        if value not in get_args(choices):
            raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, get_args(choices)))}.")
    for name, number in (("eps", eps), ("tol", tol)):
        if not number > 0 or not math.isfinite(number):
            raise ValueError(f"{name}={number!r} must be a finite number greater than 0.")
    if working_set is not None and working_set < 2:
        raise ValueError(f"working_set={working_set!r} must be at least 2, or None.")
    if stopping == "pair" and working_set not in (None, 2):
        raise ValueError(f"stopping='pair' takes one pair at a time: working_set={working_set!r} must be 2 or None.")
    if max_iter is not None and max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be at least 1, or None.")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit={time_limit!r} must be greater than 0, or None.")


def check_rows(problem: DualProblem, matrix: KernelMatrix, rows: Rows | None) -> None:
    """`ValueError` where the rows are not those of the problem and of the matrix."""
    n = matrix.size if rows is None else len(rows)
    if n == 0 or len(problem.y) % n:
        raise ValueError(f"The problem has {len(problem.y)} variables: not a whole number for each of {n} rows.")
    if rows is not None and (np.min(rows) < 0 or np.max(rows) >= matrix.size):
        raise ValueError(f"rows must lie between 0 and {matrix.size - 1}, not {np.min(rows)} and {np.max(rows)}.")
