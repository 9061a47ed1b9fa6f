"""Data sets for the benchmarks, read from the files as published and cached ready to train.

`load(name)` returns ``(X, y)``: X is CSR float32 with int32 indices, or a C-ordered float32 array for the
``-dense`` names, y is float64 in {-1, +1}. The folder of published files comes from ``--data`` or
``$CUTPLANE_DATA``. Parsed sets are kept under `cache` as plain .npy files, so that later runs
load them at once.

Run ``python benchmarks/datasets.py --data DIR`` to fill the cache and print what is in it.
"""

import argparse
import bz2
import gzip
import lzma
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

DEFAULT_CACHE = Path(tempfile.gettempdir()) / "cutplane-bench"

Matrix = np.ndarray | sp.csr_matrix
Examples = tuple[Matrix, np.ndarray]


def data_folder(given: str | os.PathLike | None = None) -> Path:
    """The folder of published files: what was given, else ``$CUTPLANE_DATA``; an error names both."""
    folder = given or os.environ.get("CUTPLANE_DATA")
    if not folder:
        raise SystemExit("No data folder: pass --data DIR or set $CUTPLANE_DATA.")
    if not Path(folder).is_dir():
        raise SystemExit(f"--data {folder} is not a folder.")
    return Path(folder)


def _signs(positive: np.ndarray) -> np.ndarray:
    return np.where(positive, 1.0, -1.0)


def _csr(X) -> sp.csr_matrix:
    X = sp.csr_matrix(X, dtype=np.float32)
    X.sum_duplicates()
    X.indices = X.indices.astype(np.int32, copy=False)
    X.indptr = X.indptr.astype(np.int32, copy=False)
    return X


def _unit_columns(X: np.ndarray) -> np.ndarray:
    """Each column scaled to [0, 1]; a constant column becomes zero."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


def covtype(data: Path) -> Examples:
    """Forest cover type, class 1 against the rest, columns scaled to [0, 1] (the papers' Cov1)."""
    with lzma.open(data / "covtype" / "covtype.csv.xz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32, skiprows=1)  # names
    return _csr(_unit_columns(table[:, :-1])), _signs(table[:, -1] == 1)


def _idx(path: Path) -> np.ndarray:
    """An array in the idx format of MNIST's files: magic number, dimensions, bytes."""
    with gzip.open(path) as file:
        content = file.read()
    dimensions = content[3]
    shape = np.frombuffer(content, ">i4", dimensions, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist(data: Path) -> Examples:
    """MNIST training images, 8 against the rest, pixels divided by 255."""
    images = _idx(data / "mnist" / "train-images-idx3-ubyte.gz")
    labels = _idx(data / "mnist" / "train-labels-idx1-ubyte.gz")
    return _csr(images.reshape(len(images), -1).astype(np.float32) / np.float32(255)), _signs(labels == 8)


def a9a(data: Path) -> Examples:
    """Adult, as binary features."""
    X, y = load_svmlight_file(str(data / "a9a" / "a9a.gz"), n_features=123, dtype=np.float32)
    return _csr(X), _signs(y > 0)


def w8a(data: Path) -> Examples:
    """Web pages, 3 % positive."""
    X, y = load_svmlight_file(str(data / "w8a" / "w8a.gz"), n_features=300, dtype=np.float32)
    return _csr(X), _signs(y > 0)


def _news20(data: Path) -> tuple[sp.csr_matrix, np.ndarray]:
    with bz2.open(data / "news20" / "news20.bz2") as file:
        X, y = load_svmlight_file(file, n_features=62061, dtype=np.float32)
    return _csr(normalize(X)), y


def news20(data: Path) -> Examples:
    """Newsgroups with rows of length 1, classes 1-10 against 11-20."""
    X, y = _news20(data)
    return X, _signs(y <= 10)


def news20_one(data: Path) -> Examples:
    """Newsgroups with rows of length 1, class 1 against the rest (5 % positive)."""
    X, y = _news20(data)
    return X, _signs(y == 1)


def rcv1(data: Path) -> Examples:
    """The 1,000-document RCV1 sample in Vowpal Wabbit text: ``label |f index:value ...``.

    Columns are renumbered to those that occur, so that the width says how many features there are.
    """
    columns, values, sizes, labels = [], [], [], []
    with gzip.open(data / "rcv1_small" / "rcv1_small.dat.gz", "rt") as file:
        for line in file:
            label, features = line.split("|f")
            pairs = [token.partition(":") for token in features.split()]
            columns += [int(index) for index, _, _ in pairs]
            values += [float(value or 1) for _, _, value in pairs]
            sizes.append(len(pairs))
            labels.append(float(label))
    present, columns = np.unique(columns, return_inverse=True)
    rows = np.concatenate([[0], np.cumsum(sizes)])
    return _csr(sp.csr_matrix((values, columns, rows), (len(sizes), len(present)))), _signs(np.array(labels) > 0)


def _poker(data: Path) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(data / "poker" / "poker-hand-training-true.data.gz", delimiter=",", dtype=np.float32)
    hands = table[:, -1].astype(int)
    return table[:, :-1], _signs(hands == np.bincount(hands).argmax())


def poker(data: Path) -> Examples:
    """Poker hands, the commonest (0, nothing) against the rest, raw suits and ranks: OCA-T's stall."""
    X, y = _poker(data)
    return _csr(X), y


def poker_scaled(data: Path) -> Examples:
    """Poker hands with columns scaled to [0, 1]."""
    X, y = _poker(data)
    return _csr(_unit_columns(X)), y


LOADERS: dict[str, Callable[[Path], Examples]] = {
    "covtype": covtype,
    "mnist": mnist,
    "a9a": a9a,
    "w8a": w8a,
    "news20": news20,
    "news20-one": news20_one,
    "rcv1": rcv1,
    "poker": poker,
    "poker-scaled": poker_scaled,
}
DENSE = ("covtype", "mnist", "a9a", "poker", "poker-scaled")
NAMES = (*LOADERS, *(f"{name}-dense" for name in DENSE))


def _cache_files(folder: Path, dense: bool) -> list[Path]:
    parts = ("X",) if dense else ("data", "indices", "indptr", "shape")
    return [folder / f"{part}.npy" for part in (*parts, "y")]


def _store(folder: Path, arrays: list[np.ndarray], files: list[Path]) -> None:
    # Written aside and renamed, so that two benchmarks started together never see half a file.
    folder.mkdir(parents=True, exist_ok=True)
    for array, file in zip(arrays, files, strict=True):
        aside = file.with_suffix(f".{os.getpid()}.npy")
        np.save(aside, array)
        aside.replace(file)


def load(name: str, data: str | os.PathLike | None = None, cache: str | os.PathLike = DEFAULT_CACHE) -> Examples:
    """The named data set; `data` is only asked for when the cache does not hold it."""
    if name not in NAMES and name not in LOADERS:  # others may have added theirs
        raise SystemExit(f"Unknown data set {name!r}; known: {', '.join(NAMES)}.")
    dense = name.endswith("-dense")
    folder = Path(cache) / name
    files = _cache_files(folder, dense)
    if not all(file.exists() for file in files):
        if dense:
            X, y = load(name.removesuffix("-dense"), data, cache)
            arrays = [X.toarray(), y]
        else:
            X, y = LOADERS[name](data_folder(data))
            arrays = [X.data, X.indices, X.indptr, np.array(X.shape), y]
        _store(folder, arrays, files)
    arrays = [np.load(file) for file in files]
    if dense:
        return arrays[0], arrays[1]
    values, indices, rows, shape, y = arrays
    X = sp.csr_matrix((values, indices, rows), shape=tuple(shape), copy=False)
    X.has_sorted_indices = X.has_canonical_format = True  # _csr made it so; spares a scan
    return X, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the published files (default: $CUTPLANE_DATA)")
    parser.add_argument("--cache", default=DEFAULT_CACHE, help="folder of the parsed sets (%(default)s)")
    parser.add_argument("--sets", default=",".join(NAMES), help="comma-separated names")
    options = parser.parse_args()
    for name in options.sets.split(","):
        X, y = load(name, options.data, options.cache)
        stored = X.size if isinstance(X, np.ndarray) else X.nnz
        print(f"{name:18} {X.shape[0]:8} x {X.shape[1]:6}  stored {stored:10}  positive {np.mean(y > 0):.4f}")


if __name__ == "__main__":
    main()
