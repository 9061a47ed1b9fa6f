"""When dual ascent visits examples in batches, on several threads, instead of one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from cutplane import _core


@dataclass(frozen=True, slots=True)
class BatchTuning:
    """Where batches pay: see docs/decisions.md, "Dual ascent on many threads"."""

    #: With fewer threads, what batches gain goes into waiting for one another. Each needs a core of its own: eight
    #: threads on two cores take three times as long as one.
    threads: int = 8
    #: Threads have little of a shorter row each, and as much to do besides.
    row_entries: int = 100
    #: With fewer entries, a fit is over before their order has paid.
    entries: int = 1_500_000
    #: Batches keep a copy of the matrix, in the order of their threads: of no more entries than these.
    most_entries: int = 2**28


TUNING = BatchTuning()


def batches_pay(matrix: _core.Matrix, n_threads: int) -> bool:
    """Whether batches on so many threads, 0 for those of OpenMP, are the faster way over a sparse matrix."""
    entries = matrix.entries
    long_rows = entries >= TUNING.row_entries * matrix.shape[0]
    sizeable = TUNING.entries <= entries <= TUNING.most_entries
    return sizeable and long_rows and min(_core.thread_count(n_threads), _cores()) >= TUNING.threads


def _cores() -> int:
    """Those that this process may use, by its affinity and by the limits of its container."""
    from joblib import cpu_count  # slow to load where scikit-learn has not, and rarely asked for

    return int(cpu_count())
