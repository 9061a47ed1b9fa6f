"""Models on a GPU: arrays that lie there, beside the processor's cores and L-BFGS in PyTorch.

    python benchmarks/gpu.py --data DIR [--quick] [--parts passes,fits,...] [--repeats 5] [--threads 16] [--out FILE]

Passes: X @ w and X' @ coef, and how near they come to the rate of a copy on the device, read and written. Fits: covtype
35 times with noise (20 million rows), to a proven gap of 1e-3, from arrays on the device; beside them the same fits
from host memory with --threads threads (`host`). Copies: the same with `device="cuda"`, from arrays of the host, the
copy included, beside that copy alone and CuPy's own. Path: 13 values of C. Wide: half precision, 1,024 features.
Sparse: rows like those of rcv1. Text: five million features. Classes: a thousand against the rest, in lockstep; on the
host four of them, the others reckoned from these. Joint: several classes as one problem; the host has 30 s. Rankings:
ROC area, queries and ordered classes of covtype. Kernels: SVC, from arrays of the host, which are copied. Scores:
kernel values of ten million rows with 20,000 support vectors, beside a product of matrices and its exponential alone.
Folds: kernel machines of ten folds and fifty values of C, side by side. Cuts: SampledCutSVC from arrays of the host,
CholeskyFeatures of arrays on the device. Strings: splice sites, from packed bytes in host memory. Scans: a genome, from
a FASTA file to a BED file. Peers: L-BFGS of PyTorch on the device, until its objective, in its own precision, is within
1e-3 of our lower bound; what it found is not proven, and it must be told where to stop. Start: the first fit of a
process.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import harness, measure
from benchmarks.gpu_data import covtype, cupy, fourier, isotropic, words
from benchmarks.gpu_folds import measure_folds
from benchmarks.gpu_joint import measure_joint
from benchmarks.gpu_kernels import measure_cuts, measure_kernels, measure_scores
from benchmarks.gpu_rankings import measure_rankings
from benchmarks.gpu_rows import fit_row, waited
from benchmarks.gpu_strings import measure_scans, measure_strings
from benchmarks.measure import fit_seconds
from benchmarks.tables.gpu import figures, tables
from cutplane import LinearSVC, LinearSVR

CS = (0.0003, 0.03, 0.3)
#: Classes that the host trains, where they are many.
HOST_CLASSES = 4
PATH = tuple(float(C) for C in np.geomspace(3e-4, 0.3, 13))
SHAPES = (("float32", 54), ("float32", 768), ("float16", 1024), ("float64", 100), ("uint8", 784))


def measure_passes(options) -> list[dict]:
    """Both passes beside a copy."""
    from cutplane.device.cuda import CudaKernels
    from cutplane.device.source import DenseRows

    xp, rows = cupy(), []
    for dtype, width in SHAPES:
        n = int((4e8 if options.quick else 8e9) / width / np.dtype(dtype).itemsize)
        X, rng = xp.empty((n, width), dtype), xp.random.RandomState(0)
        for begin in range(0, n, 1 << 20):
            X[begin : begin + (1 << 20)] = 9.0 * rng.random_sample(X[begin : begin + (1 << 20)].shape, dtype=np.float32)
        source, target = DenseRows(CudaKernels(), X), xp.empty_like(X)
        w, coef = np.random.default_rng(0).standard_normal(width), xp.random.RandomState(1).standard_normal(n)
        calls = {
            "copy": partial(waited, partial(xp.copyto, target, X)),
            "scores": partial(waited, partial(source.scores, w)),
            "combine": partial(waited, partial(source.combine, coef)),
        }
        seconds = {k: measure.median(v[1:]) for k, v in measure.alternate(calls, 2 * options.repeats + 1).items()}
        rates = {k: (2 if k == "copy" else 1) * X.nbytes / s / 1e9 for k, s in seconds.items()}
        rows.append({"data": f"{n:,} x {width} {dtype}", "seconds": seconds, "gigabytes_a_second": rates})
        print(rows[-1], flush=True)
        del X, source, target, coef
    return rows


def measure_fits(options) -> list[dict]:
    """Every loss, with and without an intercept."""
    X, y = covtype(options)
    here = cupy().asnumpy(X), cupy().asnumpy(y)
    name = f"covtype, {len(y):,} rows"
    models = {f"hinge, C = {C:g}": LinearSVC(C=C, fit_intercept=False) for C in CS}
    models |= {"hinge, C = 0.03, intercept": LinearSVC(C=0.03)}
    models |= {
        loss.replace("_", " "): LinearSVC(C=0.03, loss=loss, fit_intercept=False)
        for loss in ("squared_hinge", "logistic")
    }
    rows = [fit_row(name, what, model, (X, y), here, options) for what, model in models.items()]
    targets = y.astype(np.float32)
    svr = LinearSVR(C=0.03, fit_intercept=False)
    return [
        *rows,
        fit_row(name, "epsilon-insensitive", svr, (X, targets), (here[0], here[1].astype(np.float32)), options),
    ]


def _copied_row(name: str, what: str, model: Any, here: tuple, arrays: list, options) -> dict:
    """A fit of arrays of the host; and the copies of what they consist of."""
    from cutplane.device.arrays import cuda_kernels

    kernels = cuda_kernels()
    calls = {
        "device": partial(fit_seconds, model, *here),
        "copy": partial(waited, lambda: [kernels.to_device(each) for each in arrays]),
        "CuPy's copy": partial(waited, lambda: [cupy().asarray(each) for each in arrays]),
    }
    fit_seconds(model, *here)  # compiles
    seconds = {k: measure.median(v) for k, v in measure.alternate(calls, options.repeats, 40.0).items()}
    row = {"data": name, "what": what, "seconds": seconds, "gap": model.gap_}
    row["gigabytes"] = sum(each.nbytes for each in arrays) / 1e9
    print(row, flush=True)
    return row


def measure_copies(options) -> list[dict]:
    """Arrays of the host, copied within the fit: rows of 54 numbers, and sparse ones."""
    X, y = (cupy().asnumpy(each) for each in covtype(options))
    rows = []
    for what, settings in (("hinge, C = 0.03", {}), ("logistic", {"loss": "logistic"})):
        model = LinearSVC(C=0.03, fit_intercept=False, device="cuda", **settings)
        rows.append(_copied_row(f"covtype, {len(y):,} rows", what, model, (X, y), [X], options))
    there, y = words(100_000 if options.quick else 8_000_000, 47_000, 75)
    X, y = there.get(), cupy().asnumpy(y)
    del there
    cupy().get_default_memory_pool().free_all_blocks()
    name = f"{X.shape[0]:,} x 47,000, {X.nnz / 1e6:,.0f} million entries"
    model = LinearSVC(C=0.1, fit_intercept=False, device="cuda")
    return [*rows, _copied_row(name, "hinge, C = 0.1", model, (X, y), [X.data, X.indices, X.indptr], options)]


def measure_path(options) -> list[dict]:
    """Thirteen values of C."""
    X, y = covtype(options)
    model = LinearSVC(fit_intercept=False)
    model.path(X, y, PATH)
    seconds = [waited(lambda: model.path(X, y, PATH)) for _ in range(options.repeats)]
    worst = max(each.gap_ for each in model.path(X, y, PATH))
    row = {"data": f"covtype, {len(y):,} rows", "what": "13 values of C", "gap": worst}
    row |= {"seconds": {"device": measure.median(seconds)}, "spread": {"device": [min(seconds), max(seconds)]}}
    print(row, flush=True)
    return [row]


def measure_wide(options) -> list[dict]:
    """Embeddings of half precision, two classes."""
    xp, n = cupy(), 100_000 if options.quick else 10_000_000
    rng = xp.random.RandomState(0)
    X = xp.empty((n, 1024), xp.float16)
    for begin in range(0, n, n // 10):
        X[begin : begin + n // 10] = rng.standard_normal((n // 10, 1024), dtype=np.float32)
    w = (rng.standard_normal(1024) / 32).astype(xp.float16)
    y = xp.where(X @ w + 0.5 * rng.standard_normal(n).astype(xp.float16) > 0, 1, -1).astype(np.int8)
    rows = [("no intercept", LinearSVC(C=1e-5, fit_intercept=False)), ("intercept", LinearSVC(C=1e-5))]
    return [fit_row(f"{n:,} x 1024 float16", what, model, (X, y), None, options) for what, model in rows]


def _sparse_rows(options, n: int, d: int, each: int, C: float) -> list[dict]:
    X, y = words(n, d, each)
    here, name = (X.get(), cupy().asnumpy(y)), f"{n:,} x {d:,}, {X.nnz / 1e6:,.0f} million entries"
    models = {
        f"hinge, C = {C:g}": LinearSVC(C=C, fit_intercept=False, time_limit=30.0),
        f"logistic, C = {C:g}": LinearSVC(C=C, loss="logistic", fit_intercept=False, time_limit=30.0),
    }
    return [fit_row(name, what, model, (X, y), here, options) for what, model in models.items()]


def measure_sparse(options) -> list[dict]:
    """Rows of 75 entries among 47,000 features."""
    return _sparse_rows(options, 100_000 if options.quick else 8_000_000, 47_000, 75, 0.1)


def measure_text(options) -> list[dict]:
    """Rows of 100 entries among five million features."""
    n, d = (50_000, 100_000) if options.quick else (5_000_000, 5_000_000)
    return _sparse_rows(options, n, d, 100, 0.1)


def _several_row(name: str, what: str, model: Any, there: tuple, here: tuple | None, options) -> dict:
    """Many classes on the device; on the host some of them, one after the other, the rest reckoned from these."""
    xp = cupy()
    fit_seconds(model, *there)  # compiles
    seconds = [fit_seconds(model, *there) for _ in range(options.repeats)]
    row = {"data": name, "what": what, "seconds": {"device": measure.median(seconds)}, "gap": model.gap_}
    row |= {"spread": {"device": [min(seconds), max(seconds)]}, "iterations": int(np.max(model.n_iter_))}
    if here is not None:
        X, codes = here
        host = type(model)(**{**model.get_params(), "n_jobs": options.threads})
        classes = np.linspace(0, len(model.classes_) - 1, HOST_CLASSES).astype(int)
        each = [fit_seconds(host, X, np.where(codes == k, 1, -1).astype(np.int8)) for k in classes]
        row["host_each"] = each
        row["seconds"]["host"] = float(np.mean(each)) * len(model.classes_)
    print(row, flush=True)
    xp.get_default_memory_pool().free_all_blocks()
    return row


def measure_classes(options) -> list[dict]:
    """Every class against the rest, all of them in lockstep."""
    xp = cupy()
    n, classes = (50_000, 100) if options.quick else (1_280_000, 1000)
    X, y = isotropic(n, 768, classes)
    here, name = (xp.asnumpy(X), xp.asnumpy(y)), f"{n:,} x 768, {classes:,} classes"
    models = {
        "hinge, C = 1": LinearSVC(),
        "hinge, C = 1, no intercept": LinearSVC(fit_intercept=False),
        "hinge, C = 0.1": LinearSVC(C=0.1),
        "hinge, C = 0.01": LinearSVC(C=0.01),
        "hinge, C = 0.001": LinearSVC(C=0.001),
        "hinge, C = 0.01, no intercept": LinearSVC(C=0.01, fit_intercept=False),
        "squared hinge, C = 0.01": LinearSVC(C=0.01, loss="squared_hinge"),
        "logistic, C = 0.01": LinearSVC(C=0.01, loss="logistic"),
    }
    rows = []
    for what, model in models.items():
        beside = here if what in ("hinge, C = 1", "hinge, C = 0.01") else None
        rows.append(_several_row(name, what, model, (X, y), beside, options))
    del X, y, here
    X, y = fourier(options)
    here, name = (xp.asnumpy(X), xp.asnumpy(y)), f"MNIST's Fourier features, {len(X):,} x 1024, 10 classes"
    fourier_rows = (_several_row(name, f"hinge, C = {C:g}", LinearSVC(C=C), (X, y), here, options) for C in (0.01, 1.0))
    return [*rows, *fourier_rows]


def lbfgs_seconds(X: Any, y: Any, C: float, loss: str, target: float) -> float:
    """Of L-BFGS in PyTorch, single precision, until its objective is as low as `target`; infinite after 300 steps."""
    import torch

    signs = y.to(torch.float32)
    w = torch.zeros(X.shape[1], device=X.device, requires_grad=True)
    optimiser = torch.optim.LBFGS([w], max_iter=5, history_size=10, line_search_fn="strong_wolfe")
    best = float("inf")

    def objective() -> Any:
        nonlocal best
        optimiser.zero_grad()
        margins = signs * (X @ w)
        each = torch.nn.functional.softplus(-margins) if loss == "logistic" else torch.clamp(1 - margins, min=0) ** 2
        # A mean and a scaled penalty: sums over 20 million rows are beyond single precision.
        value = each.mean(dtype=torch.float64) + 0.5 / (C * len(signs)) * (w.double() @ w.double())
        value.backward()
        best = min(best, float(value) * C * len(signs))
        return value

    torch.cuda.synchronize()
    start = perf_counter()
    for _ in range(60):
        optimiser.step(objective)
        if best <= target:
            return perf_counter() - start
    return float("inf")


def measure_peers(options) -> list[dict]:
    """Smooth losses, where L-BFGS is at home."""
    import torch

    X, y = covtype(options)
    Xt, yt, rows = torch.from_dlpack(X), torch.from_dlpack(y), []
    for loss in ("squared_hinge", "logistic"):
        for C in CS:
            model = LinearSVC(C=C, loss=loss, fit_intercept=False)
            fit_seconds(model, X, y)
            target = model.lower_bound_ * (1.0 + 1e-3)
            calls = {
                "device": partial(fit_seconds, model, X, y),
                "L-BFGS": partial(lbfgs_seconds, Xt, yt, C, loss, target),
            }
            found = {k: measure.median(v) for k, v in measure.alternate(calls, options.repeats, 30.0).items()}
            rows.append(
                {
                    "data": f"covtype, {len(y):,} rows",
                    "what": f"{loss.replace('_', ' ')}, C = {C:g}",
                    "seconds": found,
                    "gap": model.gap_,
                }
            )
            print(rows[-1], flush=True)
    return rows


_FIRST = """
import time
import cupy, numpy as np
from cutplane import LinearSVC
X = cupy.random.RandomState(0).standard_normal((100000, 50), dtype=np.float32)
y = cupy.sign(X[:, 0] + 0.1).astype(np.int8)
cupy.cuda.Device().synchronize()
seconds = []
for _ in range(3):
    start = time.perf_counter()
    LinearSVC().fit(X, y)
    seconds.append(time.perf_counter() - start)
print(seconds[0] - seconds[2])
"""


def measure_start(options) -> list[dict]:
    """What the first fit of a process takes more than the third: kernels compiled, or read from the disk."""
    import os
    import tempfile

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("cold", "warm", "warm", "warm"):
            out = subprocess.run(
                [sys.executable, "-c", _FIRST],
                env={**os.environ, "CUPY_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            rows.append(
                {"data": f"{cache} cache", "what": "first fit less third", "seconds": {"device": float(out.stdout)}}
            )
            print(rows[-1], flush=True)
    return rows


PARTS = {
    "passes": measure_passes,
    "fits": measure_fits,
    "copies": measure_copies,
    "path": measure_path,
    "wide": measure_wide,
    "sparse": measure_sparse,
    "text": measure_text,
    "classes": measure_classes,
    "joint": measure_joint,
    "rankings": measure_rankings,
    "kernels": measure_kernels,
    "scores": measure_scores,
    "folds": measure_folds,
    "cuts": measure_cuts,
    "strings": measure_strings,
    "scans": measure_scans,
    "peers": measure_peers,
    "start": measure_start,
}


def main() -> None:
    """Measure what is asked for."""
    parser = harness.parser(__doc__, "gpu", tuple(PARTS))
    parser.set_defaults(repeats=5, threads=16)
    harness.run(parser.parse_args(), PARTS, ("cupy-cuda12x", "cupy-cuda13x", "torch"), tables, figures)


if __name__ == "__main__":
    main()
