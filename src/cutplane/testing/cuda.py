"""``python -m cutplane.testing.cuda``: what CI, which has no GPU, runs on NumPy's twin, on a GPU.

The contract of sources over every type of rows, and random problems whose certificates are judged without rounding.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from cutplane._types import Params
from cutplane.device.arrays import cuda_kernels, device_matrix
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.text import ENTRIES
from cutplane.testing.random_problems.families import drawn
from cutplane.testing.random_problems.trial import Outcome, run_trial
from cutplane.testing.source_contract import check_source

FAMILIES = ("LinearSVC", "LinearSVR", "LinearSVC", "LinearSVC-joint")
#: Estimators that `device` sends there.
COPIED = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "StringSVC")
#: Pairs of different rank.
PAIR_FAMILIES = ("RankSVM", "OrdinalSVC")
#: How a problem's X becomes arrays on a GPU, dense and sparse.
PRELUDE = "import cupy\nfrom cupyx.scipy.sparse import csr_matrix\n"
STORAGES = ("cupy.asarray(np.ascontiguousarray(X))", "csr_matrix(sp.csr_matrix(X))")
# Rows and columns: one, few, narrow, wide, of odd numbers, and more than a block goes through.
_SHAPES = ((1, 1), (40, 3), (700, 54), (300, 301), (5000, 130))


def judged(number: int, prelude: str, storages: Sequence[str], families: tuple[str, ...] = FAMILIES) -> Outcome:
    """The random problem of a number, trained in its own ways on examples that are stored so by turns."""
    family, problem = drawn(families, 6, number)
    ways = tuple(replace(way, storage=storages[k % len(storages)]) for k, way in enumerate(problem.ways))
    problem = replace(problem, ways=ways, prelude=problem.prelude + prelude)
    return run_trial(problem, family.reader(problem))


def judged_with_device(number: int) -> Outcome:
    """The random problem of a number, of estimators that copy examples to a device, within a second for each fit."""
    family, problem = drawn(COPIED, 7, number)
    ways = tuple(replace(way, settings=_for_device(way.settings)) for way in problem.ways)
    problem = replace(problem, ways=ways)
    return run_trial(problem, family.reader(problem))


def _for_device(settings: Params) -> Params:
    """Without what is for the processor alone."""
    kept = {name: value for name, value in settings.items() if name not in ("selection", "stopping")}
    return {"time_limit": 1.0, **kept, "device": "cuda"}


def check_rows(put: Callable[[Any], DeviceMatrix | None]) -> int:
    """The contract of sources over dense rows of every type and sparse ones; how many were checked.

    Raises
    ------
    AssertionError
        Saying what is wrong.
    """
    checked = 0
    for shape in _SHAPES:
        X = 3.0 * np.random.default_rng(0).random(shape)
        dense = [X.astype(name) for name in ENTRIES if name != "bfloat16"]  # NumPy has none
        sparse = [sp.csr_matrix(np.where(X > 2.0, X, 0.0).astype(kind)) for kind in (np.float32, np.float64)]
        for rows in (*dense, *sparse):
            source = put(rows)
            assert source is not None
            whole = rows.toarray() if sp.issparse(rows) else rows
            check_source(source, whole.astype(np.float64))
            checked += 1
    return checked


def _searched(name: str, judge: Callable[[int], Outcome], seconds: float, failed: list[str]) -> dict[str, int]:
    """Problem after problem for so long; how many there were, and models."""
    fits, number, start = 0, 0, time.monotonic()
    while time.monotonic() - start < seconds:
        outcome = judge(number)
        failed += [f"{name}problem {number}: {failure}" for failure in outcome.failures]
        fits, number = fits + outcome.fits, number + 1
    return {f"{name}problems": number, f"{name}models": fits}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both and say what came of it; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of random problems of either kind (%(default)s)")
    parser.add_argument("--out", type=Path, help="JSON file")
    options = parser.parse_args(arguments)
    cupy = cuda_kernels().xp
    from cupyx.scipy.sparse import csr_matrix

    checked = check_rows(lambda X: device_matrix(csr_matrix(X) if sp.issparse(X) else cupy.asarray(X)))
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    found: dict[str, Any] = {"device": name, "cupy": cupy.__version__, "rows_checked": checked}
    failed = list[str]()
    found |= _searched("", lambda number: judged(number, PRELUDE, STORAGES), options.seconds, failed)
    found |= _searched("pair_", lambda n: judged(n, PRELUDE, STORAGES, PAIR_FAMILIES), options.seconds / 2, failed)
    found |= _searched("copied_", judged_with_device, options.seconds, failed)
    found["failures"] = failed
    text = json.dumps(found, indent=1)
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
