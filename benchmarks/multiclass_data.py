"""Multi-class data sets for the benchmarks: training and test parts, cached ready to train.

`load(name)` returns ``(X, y, X_test, y_test)``: X is CSR float32 with int32 indices, y the class codes 0 to Y - 1.
Where a set is published without a test part, every fifth example is kept for testing.
"""

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import normalize

from benchmarks import datasets

Parts = tuple[sp.csr_matrix, np.ndarray, sp.csr_matrix, np.ndarray]


def _split(X: np.ndarray, y: np.ndarray) -> Parts:
    test = np.arange(len(y)) % 5 == 4
    return datasets._csr(X[~test]), y[~test], datasets._csr(X[test]), y[test]


def covtype(data: Path) -> Parts:
    """Forest cover type, columns scaled to [0, 1]; every fifth example for testing."""
    with lzma.open(data / "covtype" / "covtype.csv.xz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32, skiprows=1)
    return _split(datasets._unit_columns(table[:, :-1]), table[:, -1])


def mnist(data: Path) -> Parts:
    """MNIST, pixels divided by 255."""
    parts: list = []
    for part in ("train", "t10k"):
        images = datasets._idx(data / "mnist" / f"{part}-images-idx3-ubyte.gz")
        parts.append(datasets._csr(images.reshape(len(images), -1).astype(np.float32) / np.float32(255)))
        parts.append(datasets._idx(data / "mnist" / f"{part}-labels-idx1-ubyte.gz").astype(np.float64))
    return tuple(parts)


def _svmlight(files: list[Path], features: int, unit_rows: bool) -> Parts:
    opened = {".bz2": bz2.open, ".gz": gzip.open}
    parts: list = []
    for path in files:
        with opened[path.suffix](path) as file:
            X, y = load_svmlight_file(file, n_features=features, dtype=np.float32)
        parts += [datasets._csr(normalize(X) if unit_rows else X), y]
    return tuple(parts)


def news20(data: Path) -> Parts:
    """Newsgroups with rows of length 1."""
    return _svmlight([data / "news20" / name for name in ("news20.bz2", "news20.t.bz2")], 62061, True)


def sector(data: Path) -> Parts:
    """Company pages in 105 sectors, as published: rows of length 1."""
    return _svmlight([data / "sector" / name for name in ("sector.scale.bz2", "sector.t.scale.bz2")], 55197, False)


def letter(data: Path) -> Parts:
    """Letters by 16 measures, scaled to [-1, 1]."""
    return _svmlight([data / "letter" / name for name in ("letter.scale.gz", "letter.scale.t.gz")], 16, False)


def poker(data: Path) -> Parts:
    """Poker hands, suits and ranks scaled to [0, 1]."""
    table = np.loadtxt(data / "poker" / "poker-hand-training-true.data.gz", delimiter=",", dtype=np.float32)
    return _split(datasets._unit_columns(table[:, :-1]), table[:, -1])


def malware_shape(data: Path) -> Parts:
    """As large as the malware set of Franc and Sonnenburg's section 5.2, which is not to be had: 3,413 examples,
    3,413 dense features, 14 classes. Letters A to N, random cosine features of an RBF kernel."""
    X, y, X_test, y_test = letter(data)
    features = RBFSampler(gamma=0.5, n_components=3413, random_state=0)
    keep, keep_test = y < 15, y_test < 15
    Z = features.fit_transform(X[keep].toarray())[:3413]
    Z_test = features.transform(X_test[keep_test].toarray())
    return datasets._csr(Z), y[keep][:3413], datasets._csr(Z_test), y_test[keep_test]


LOADERS: dict[str, Callable[[Path], Parts]] = {
    "mnist": mnist,
    "news20": news20,
    "sector": sector,
    "covtype": covtype,
    "poker": poker,
    "letter": letter,
    "malware-shape": malware_shape,
}
PUBLISHED = tuple(name for name in LOADERS if name != "malware-shape")


def load(name: str, data: str | os.PathLike | None, cache: str | os.PathLike = datasets.DEFAULT_CACHE) -> Parts:
    """The named data set; `data` is only asked for when the cache does not hold it."""
    if name not in LOADERS:
        raise SystemExit(f"Unknown data set {name!r}; known: {', '.join(LOADERS)}.")
    file = Path(cache) / f"multiclass-{name}.npz"
    if not file.exists():
        X, y, X_test, y_test = LOADERS[name](datasets.data_folder(data))
        classes = np.unique(y)
        arrays = {"y": np.searchsorted(classes, y), "y_test": np.searchsorted(classes, y_test)}
        for part, matrix in (("train", X), ("test", X_test)):
            arrays |= {f"{part}_{key}": getattr(matrix, key) for key in ("data", "indices", "indptr", "shape")}
        file.parent.mkdir(parents=True, exist_ok=True)
        aside = file.with_suffix(f".{os.getpid()}.npz")
        np.savez(aside, **arrays)
        aside.replace(file)
    kept = np.load(file)

    def matrix(part: str) -> sp.csr_matrix:
        X = sp.csr_matrix(tuple(kept[f"{part}_{key}"] for key in ("data", "indices", "indptr")), kept[f"{part}_shape"])
        X.has_sorted_indices = X.has_canonical_format = True
        return X

    return matrix("train"), kept["y"], matrix("test"), kept["y_test"]
