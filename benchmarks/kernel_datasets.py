"""Data sets for the kernel benchmarks, as the OFS paper has them where they are to be had.

`load(name)` returns ``(X, y)``: X is CSR float32, y the class of each example as float64. Parsed sets are kept beside
those of `benchmarks.datasets`. w8a stands in for w7a; cod-rna is not to be had.
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

from benchmarks import datasets
from benchmarks.datasets import DEFAULT_CACHE, Examples, data_folder


def mushrooms(data: Path) -> Examples:
    """Edible or poisonous, as 112 binary features."""
    X, y = load_svmlight_file(str(data / "mushrooms" / "mushrooms.gz"), n_features=112, dtype=np.float32)
    return datasets._csr(X), np.where(y == y.max(), 1.0, -1.0)


def ijcnn1(data: Path) -> Examples:
    """IJCNN 2001 challenge, training part."""
    with bz2.open(data / "ijcnn1" / "ijcnn1.trn.bz2") as file:
        X, y = load_svmlight_file(file, n_features=22, dtype=np.float32)
    return datasets._csr(X), np.where(y > 0, 1.0, -1.0)


def ijcnn1_test(data: Path) -> Examples:
    """The test part of IJCNN 2001."""
    with bz2.open(data / "ijcnn1" / "ijcnn1.tst.bz2") as file:
        X, y = load_svmlight_file(file, n_features=22, dtype=np.float32)
    return datasets._csr(X), np.where(y > 0, 1.0, -1.0)


def skin(data: Path) -> Examples:
    """Skin or not by colour, columns scaled to [0, 1], in random order (the file is sorted by class)."""
    with lzma.open(data / "skin" / "Skin_NonSkin.txt.xz", "rt") as file:
        table = np.loadtxt(file, dtype=np.float32)
    table = table[np.random.default_rng(0).permutation(len(table))]
    return datasets._csr(datasets._unit_columns(table[:, :-1])), np.where(table[:, -1] == 1, 1.0, -1.0)


def kddcup99(data: Path) -> Examples:
    """Network connections, normal against attack; symbols by their number, columns scaled to [0, 1], random order."""
    with gzip.open(data / "kddcup99" / "kddcup.data_10_percent.gz", "rt") as file:
        rows = [line.rstrip(".\n").split(",") for line in file]
    columns = [
        np.unique(column, return_inverse=True)[1] if index in (1, 2, 3) else np.array(column, np.float32)
        for index, column in enumerate(zip(*[row[:-1] for row in rows], strict=True))
    ]
    table = np.column_stack(columns).astype(np.float32)
    order = np.random.default_rng(0).permutation(len(table))
    normal = np.array([row[-1] == "normal" for row in rows])
    return datasets._csr(datasets._unit_columns(table[order])), np.where(normal[order], 1.0, -1.0)


def svmguide3(data: Path) -> Examples:
    """Hsu's third example of the guide to LIBSVM."""
    with gzip.open(data / "svmguide3" / "svmguide3.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return datasets._csr(table[:, 1:]), np.where(table[:, 0] > 0, 1.0, -1.0)


def covtype(data: Path) -> Examples:
    """Forest cover type, class 2 against the rest, columns scaled to [0, 1], in random order."""
    with lzma.open(data / "covtype" / "covtype.csv.xz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32, skiprows=1)
    table = table[np.random.default_rng(0).permutation(len(table))]
    return datasets._csr(datasets._unit_columns(table[:, :-1])), np.where(table[:, -1] == 2, 1.0, -1.0)


def mnist(data: Path) -> Examples:
    """Digits, ten classes, pixels divided by 255."""
    images = datasets._idx(data / "mnist" / "train-images-idx3-ubyte.gz")
    labels = datasets._idx(data / "mnist" / "train-labels-idx1-ubyte.gz")
    X = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
    return datasets._csr(X), labels.astype(np.float64)


def a9a(data: Path) -> Examples:
    """Adult, as binary features."""
    return datasets.a9a(data)


def a9a_test(data: Path) -> Examples:
    """The test part of Adult."""
    with gzip.open(data / "a9a" / "a9a.t.gz") as file:
        X, y = load_svmlight_file(file, n_features=123, dtype=np.float32)
    return datasets._csr(X), np.where(y > 0, 1.0, -1.0)


def w8a(data: Path) -> Examples:
    """Web pages, 3 % positive."""
    return datasets.w8a(data)


LOADERS: dict[str, Callable[[Path], Examples]] = {
    loader.__name__: loader
    for loader in (mushrooms, ijcnn1, ijcnn1_test, covtype, skin, kddcup99, svmguide3, mnist, w8a, a9a, a9a_test)
}


def load(name: str, data: str | os.PathLike | None = None, cache: str | os.PathLike = DEFAULT_CACHE) -> Examples:
    """The named data set; `data` is only asked for when the cache does not hold it."""
    files = datasets._cache_files(Path(cache) / f"kernel-{name}", dense=False)
    if not all(file.exists() for file in files):
        X, y = LOADERS[name](data_folder(data))
        datasets._store(files[0].parent, [X.data, X.indices, X.indptr, np.array(X.shape), y], files)
    values, indices, rows, shape, y = [np.load(file) for file in files]
    X = sp.csr_matrix((values, indices, rows), shape=tuple(shape), copy=False)
    X.has_sorted_indices = X.has_canonical_format = True
    return X, y
