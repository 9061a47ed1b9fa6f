"""Kernels on a GPU: fits of machines, scores of new examples, sampled cuts and features."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import kernel_datasets, measure
from benchmarks.gpu_data import covtype, cupy
from benchmarks.gpu_rows import fit_row, waited
from cutplane import SVC, CholeskyFeatures, SampledCutSVC

#: Sets: so many rows (None: all), C, gamma, and whether the host trains on them, too.
KERNELS = (
    ("mnist", None, 10.0, 0.02, True),
    ("skin", None, 8.0, 256.0, True),
    ("covtype", 100_000, 64.0, 8.0, True),
    ("covtype", None, 64.0, 8.0, False),
)
#: New examples, and support vectors.
ROWS, VECTORS = 10_000_000, 20_000
#: Rows of covtype, examples of a sample and gamma for sampled cuts; features of the kernel for all rows.
CUT_ROWS, SAMPLE, CUT_GAMMA, FEATURES = 200_000, 400, 1 / 3.4, 2000


def measure_kernels(options) -> list[dict]:
    """Gaussian kernels, from arrays of the host, which are copied; of several classes each pair."""
    rows = []
    for name, n, C, gamma, both in KERNELS:
        X, y = kernel_datasets.load(name, options.data, options.cache)
        n = min(len(y), 5000) if options.quick else (n or len(y))
        examples = np.ascontiguousarray(X[:n].toarray()), y[:n].astype(np.int8)
        model = SVC(C=C, gamma=gamma, device="cuda", time_limit=100.0)
        what = f"C = {C:g}, gamma = {gamma:g}"
        rows.append(
            fit_row(f"{name}, {n:,} rows", what, model, examples, examples if both else None, options, 30.0 * both)
        )
    return rows


def measure_scores(options) -> list[dict]:
    """Gaussian kernel values with support vectors, times coefficients: rows on the device before the clock starts."""
    from cutplane.device.arrays import device_matrix
    from cutplane.kernels import Kernel
    from cutplane.kernels.device_scores import device_scores, rows_of_device

    xp, (n, count) = cupy(), (20_000, 2000) if options.quick else (ROWS, VECTORS)
    X = covtype(options)[0][:n]
    vectors, coef = xp.asnumpy(X[:count]), np.random.default_rng(0).normal(size=(count, 1))
    kernel, rows = Kernel("rbf", gamma=8.0), rows_of_device(device_matrix(X).rows)
    there, block = X[:count].T.copy(), max(1, (1 << 27) // count)
    room = xp.empty((block, count), np.float32)

    def floor(exponential: bool) -> None:
        for begin in range(0, n, block):
            some = X[begin : begin + block]
            found = xp.matmul(some, there, out=room[: len(some)])
            if exponential:
                xp.exp(found, out=found)

    calls = {
        "device": partial(waited, partial(device_scores, kernel, rows, vectors, coef, [count])),
        "product and exponential": partial(waited, partial(floor, True)),
        "product": partial(waited, partial(floor, False)),
    }
    for call in calls.values():
        call()  # compiles
    found = measure.alternate(calls, options.repeats, 40.0)
    row = {"data": f"{n:,} x {X.shape[1]}", "what": f"{count:,} support vectors"}
    row["seconds"] = {name: measure.median(seconds) for name, seconds in found.items()}
    print(row, flush=True)
    return [row]


def measure_cuts(options) -> list[dict]:
    """Sampled cuts, from arrays of the host, which are copied; features of rows that lie where they are computed."""
    X, y = kernel_datasets.load("covtype", options.data, options.cache)
    dense = np.ascontiguousarray(X[: 20_000 if options.quick else None].toarray())
    n = min(len(dense), 5000 if options.quick else CUT_ROWS)
    examples, rows = (dense[:n], y[:n].astype(np.int8)), []
    for method in ("linear", "constant"):
        model = SampledCutSVC(
            gamma=CUT_GAMMA, method=method, n_samples_cut=SAMPLE, device="cuda", time_limit=30.0, random_state=0
        )
        what = f"sampled cuts, {method}, C = 1"
        rows.append(fit_row(f"covtype, {n:,} rows", what, model, examples, examples, options, 60.0))
    return [*rows, _features_row(dense, options)]


def _features_row(here: np.ndarray, options) -> dict:
    xp, r = cupy(), 200 if options.quick else FEATURES
    device = CholeskyFeatures(r, gamma=CUT_GAMMA, device="cuda").fit(here)
    host = CholeskyFeatures(r, gamma=CUT_GAMMA, n_jobs=options.threads).fit(here)
    there = xp.asarray(here)
    calls = {
        "device": partial(waited, partial(device.transform, there)),
        "host": partial(waited, partial(host.transform, here)),
    }
    calls["device"]()  # compiles
    found = measure.alternate(calls, options.repeats, 40.0)
    row = {"data": f"covtype, {len(here):,} rows", "what": f"{r:,} features of the kernel"}
    row["seconds"] = {name: measure.median(seconds) for name, seconds in found.items()}
    some = slice(0, 1000)
    mine, other = (F @ F.T for F in (xp.asnumpy(device.transform(there[some])), host.transform(here[some])))
    row["products_apart"] = float(np.abs(mine - other).max())
    print(row, flush=True)
    return row
