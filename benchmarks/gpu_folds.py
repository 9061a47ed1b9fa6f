"""Cross-validation of kernel machines on a GPU, for `benchmarks/gpu.py`: folds and values of C side by side."""

from __future__ import annotations

import numpy as np

from benchmarks import measure
from benchmarks.gpu_rows import waited

#: As in TorchKM's own table: examples, features, folds, values of C.
SHAPE, QUICK_SHAPE = (10_000, 1000, 10, 50), (400, 20, 2, 3)
TOL = 1e-3


def examples(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal clouds that overlap: one in seven is nearer to the other one's middle."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    X = rng.standard_normal((n, p), dtype=np.float32)
    X[:, 0] += 1.07 * y
    return X, y


def measure_folds(options) -> list[dict]:
    """Every fold and value of C: a machine each, proven, and the error on the examples that it did not see."""
    from cutplane.device.arrays import cuda_kernels
    from cutplane.kernels import DualProblem, Kernel
    from cutplane.kernels.device_matrix import device_kernel_matrix
    from cutplane.kernels.device_smo import DeviceRun, solve_on_device

    n, p, folds, count = QUICK_SHAPE if options.quick else SHAPE
    X, y = examples(n, p)
    fold, Cs = np.arange(n) % folds, np.geomspace(1e-2, 1e3, count)
    # Who is left out has an upper bound of zero: the machine's own gradient then has the score.
    problems = [DualProblem.classification(y, np.where(fold == k, 0.0, C)) for C in Cs for k in range(folds)]
    kept: list = []

    def call() -> None:
        matrix = device_kernel_matrix(cuda_kernels(), X, Kernel("rbf", gamma=1.0 / p))
        kept[:] = solve_on_device(problems, [np.arange(n)] * len(problems), matrix, DeviceRun(TOL))

    waited(call)  # compiles
    seconds = [waited(call) for _ in range(min(3, options.repeats))]
    wrong = np.zeros(count)
    for number, found in enumerate(kept):
        out = fold == number % folds
        scores = y * (found.gradient + 1.0) - found.rho[0]
        wrong[number // folds] += np.count_nonzero(scores[out] * y[out] <= 0.0)
    gaps = [(found.primal - found.dual) / abs(found.primal) for found in kept]
    best = int(wrong.argmin())
    row = {
        "data": f"{n:,} x {p:,}",
        "what": f"{folds} folds, {count} values of C",
        "seconds": {"device": measure.median(seconds)},
        "spread": {"device": [min(seconds), max(seconds)]},
        "gap": float(max(gaps)),
        "iterations": int(sum(found.n_iter for found in kept)),
        "best": {"C": float(Cs[best]), "error": float(wrong[best] / n)},
        "ended": sorted({found.stop_reason for found in kept}),
    }
    print(row, flush=True)
    return [row]
