"""Rows of tables about a GPU: seconds there, and on the host."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.gpu_data import cupy
from benchmarks.measure import fit_seconds


def waited(call: Any) -> float:
    """The seconds of a call, until the device is done."""
    start = perf_counter()
    call()
    cupy().cuda.Device().synchronize()
    return perf_counter() - start


def fit_row(name: str, what: str, model: Any, there: tuple, here: tuple | None, options, budget: float = 40.0) -> dict:
    """A model fitted to arrays there and, where these are given, here; as often as the budget of seconds allows.

    A budget of none is one fit, by kernels that have been compiled.
    """
    calls = {"device": partial(fit_seconds, model, *there)}
    if here is not None:
        host = type(model)(**{**model.get_params(), "n_jobs": options.threads, "device": None})
        calls["host"] = partial(fit_seconds, host, *here)
    if budget > 0.0:
        fit_seconds(model, *there)  # compiles
    found = measure.alternate(calls, options.repeats, budget)
    row = {"data": name, "what": what, "seconds": {k: measure.median(v) for k, v in found.items()}}
    row |= {
        "gap": model.gap_ if np.isfinite(model.gap_) else None,
        "iterations": int(np.max(model.n_iter_)),
        "spread": {k: [min(v), max(v)] for k, v in found.items()},
    }
    print(row, flush=True)
    return row
