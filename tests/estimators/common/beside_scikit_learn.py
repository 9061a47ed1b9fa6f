"""Fits of ours and OpenMP loops of scikit-learn, each with a library of its own for them, in one process.

Run as a program, with two threads for each: see test_forks.py.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from family_cases import GRADES, X, in_child, of_fit
from sklearn.ensemble import HistGradientBoostingClassifier

NAMES = ["LinearSVC", "LinearSVC of four classes", "SVC"]
TASKS = Path("/proc/self/task")  # a thread each; Linux alone has it


def of_trees() -> bytes:
    """The bits that scikit-learn's trees predict."""
    trees = HistGradientBoostingClassifier(max_iter=10, random_state=0).fit(X, GRADES)
    return trees.predict_proba(X).tobytes()


def thread_count() -> int:
    """Threads of this process, idle ones too; 1 where they cannot be counted."""
    return len(list(TASKS.iterdir())) if TASKS.is_dir() else 1


def main() -> None:
    """By turns, at once, and in children of fork: the same bits, and no threads that pile up."""
    allowed = thread_count() + 2  # a helper for their loops, and one for ours
    theirs = of_trees()
    ours = {name: of_fit(name) for name in NAMES}
    for name in NAMES:
        assert of_trees() == theirs
        assert of_fit(name) == ours[name], name
    with ThreadPoolExecutor(2) as pool:
        trees, fits = pool.submit(of_trees), [pool.submit(of_fit, name) for name in NAMES]
        assert trees.result() == theirs
        assert [fit.result() for fit in fits] == list(ours.values())
    while thread_count() > allowed:  # those of a pool that has ended are a moment longer there
        time.sleep(0.01)
    for name in NAMES:
        assert in_child(name) == repr(ours[name]).encode(), name


if __name__ == "__main__":
    main()
