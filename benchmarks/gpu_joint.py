"""Several classes as one problem on a GPU: MNIST beside the processor, and a thousand classes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import measure, multiclass_data
from benchmarks.gpu_data import cupy, isotropic
from benchmarks.gpu_rows import fit_row
from benchmarks.measure import fit_seconds
from cutplane import LinearSVC

CS, MANY_CS = (0.01, 0.1, 1.0, 10.0), (0.001, 0.01)
#: Seconds that the host has for a fit.
HOST_SECONDS = 30.0


def _with_host(row: dict, model: LinearSVC, here: tuple[Any, Any], options) -> dict:
    """One fit on the host beside it, which may run out of time: then its gap says how far it came."""
    host = LinearSVC(**{**model.get_params(), "n_jobs": options.threads, "time_limit": HOST_SECONDS})
    row["seconds"]["host"] = measure.median([fit_seconds(host, *here)])
    row["host_gap"] = host.gap_
    print(row, flush=True)
    return row


def measure_joint(options) -> list[dict]:
    """Crammer and Singer's machine: with and without intercepts, from few weights to many."""
    xp, rows = cupy(), []
    X, y, *_ = multiclass_data.load("mnist", options.data, options.cache)
    part = slice(0, 10_000 if options.quick else len(y))
    here = X[part].toarray(), np.asarray(y[part], np.int32)
    there, name = tuple(map(xp.asarray, here)), f"MNIST, {len(here[1]):,} x 784, 10 classes"
    fitted = partial(fit_row, options=options, here=None)
    for C in CS:
        for intercept in (False, True):
            model = LinearSVC(C=C, multi_class="crammer_singer", fit_intercept=intercept)
            what = f"C = {C:g}" + ("" if intercept else ", no intercept")
            row = fitted(name, what, model, there)
            rows.append(row if intercept else _with_host(row, model, here, options))
    del there
    # One fit each, by kernels that the digits have compiled.
    n, classes = (50_000, 100) if options.quick else (1_280_000, 1000)
    embeddings = isotropic(n, 768, classes)
    for C in MANY_CS:
        for intercept in (False, True):
            model = LinearSVC(C=C, multi_class="crammer_singer", fit_intercept=intercept)
            what = f"C = {C:g}" + ("" if intercept else ", no intercept")
            rows.append(fitted(f"{n:,} x 768, {classes:,} classes", what, model, embeddings, budget=0.0))
    return rows
