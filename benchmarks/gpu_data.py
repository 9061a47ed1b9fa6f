"""Examples that are made on a GPU, for `benchmarks/gpu.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import datasets, kernel_datasets

COPIES = 35


def cupy() -> Any:
    """The library, which only this benchmark needs."""
    import cupy as found

    return found


def covtype(options) -> tuple[Any, Any]:
    """All of covtype so many times, all but the first with noise: on the device."""
    xp = cupy()
    X, y = datasets.load("covtype-dense", options.data, options.cache)
    base, rng = xp.asarray(X), xp.random.RandomState(0)
    copies = 2 if options.quick else COPIES
    rows = xp.empty((copies * len(X), X.shape[1]), np.float32)
    for k in range(copies):
        noise = 0.0 if k == 0 else np.float32(0.01) * rng.standard_normal(base.shape, dtype=np.float32)
        rows[k * len(X) : (k + 1) * len(X)] = base + noise
    return rows, xp.asarray(np.tile(y.astype(np.int8), copies))


def words(n: int, d: int, each: int) -> tuple[Any, Any]:
    """Rows of so many entries at most among d features, as frequent as words are, and two classes of them."""
    from cupyx.scipy.sparse import csr_matrix

    xp = cupy()
    rng = xp.random.RandomState(0)
    often = 1.0 / np.arange(10, d + 10) ** 0.9
    upto, columns = xp.asarray(np.cumsum(often) / often.sum()), xp.empty((n, each), np.int32)
    for begin in range(0, n, n // 10):
        drawn = rng.random_sample((n // 10, each))
        columns[begin : begin + n // 10] = xp.sort(xp.searchsorted(upto, drawn).clip(0, d - 1), axis=1)
    starts = xp.arange(0, n * each + 1, each, dtype=np.int32)
    X = csr_matrix((xp.full(n * each, each**-0.5, np.float32), columns.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    scores = X @ rng.standard_normal(d).astype(np.float32) + 0.3 * rng.standard_normal(n)
    return X, xp.where(scores > 0, 1, -1).astype(np.int8)


def isotropic(n: int, d: int, classes: int) -> tuple[Any, Any]:
    """Embeddings: a random point for each class, noise around it, rows of length one."""
    xp = cupy()
    rng = xp.random.RandomState(0)
    middles, y = rng.standard_normal((classes, d), dtype=np.float32), rng.randint(0, classes, n).astype(np.int32)
    X = xp.empty((n, d), np.float32)
    for begin in range(0, n, 1 << 17):
        part = slice(begin, begin + (1 << 17))
        X[part] = middles[y[part]]
        X[part] += rng.standard_normal(X[part].shape, dtype=np.float32)
        X[part] /= xp.sqrt((X[part] ** 2).sum(axis=1, keepdims=True))
    return X, y


def fourier(options, features: int = 1024) -> tuple[Any, Any]:
    """MNIST ten times with noise, through random Fourier features."""
    xp = cupy()
    images, digits = kernel_datasets.mnist(datasets.data_folder(options.data))
    rng = xp.random.RandomState(0)
    base = xp.asarray((images[:2000] if options.quick else images).toarray())
    y = np.asarray(digits[:2000] if options.quick else digits, np.int32)
    directions = np.float32(0.2) * rng.standard_normal((base.shape[1], features), dtype=np.float32)
    phases = np.float32(2.0 * np.pi) * rng.random_sample(features, dtype=np.float32)
    X = xp.empty((10 * len(base), features), np.float32)
    for k in range(10):
        noisy = base + np.float32(0.02) * rng.standard_normal(base.shape, dtype=np.float32)
        X[k * len(base) : (k + 1) * len(base)] = np.float32((2.0 / features) ** 0.5) * xp.cos(
            noisy @ directions + phases
        )
    return X, xp.asarray(np.tile(y, 10))
