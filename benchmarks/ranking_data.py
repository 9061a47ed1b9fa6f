"""The ranking and ordinal data sets of the benchmarks: files as published, features scaled to [0, 1]."""

import gzip
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file


@dataclass(frozen=True)
class Ranked:
    """A sample with its targets and, where there are any, its queries; and one to test on."""

    name: str
    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray | None
    X_test: np.ndarray
    y_test: np.ndarray
    qid_test: np.ndarray | None


def _svmlight(path: Path, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with gzip.open(path) as file:
        X, y, qid = load_svmlight_file(io.BytesIO(file.read()), n_features=width, query_id=True)
    return X.toarray().astype(np.float32), y, qid


def _scaled(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = train.min(axis=0), train.max(axis=0)
    width = np.where(high > low, high - low, 1)
    return ((train - low) / width).astype(np.float32), ((test - low) / width).astype(np.float32)


def mq2008(data: Path) -> Ranked:
    """LETOR's MQ2008, fold 1: S1 to S3 to train, S5 to test."""
    parts = [_svmlight(data / "mq2008" / f"S{k}.txt.gz", 46) for k in (1, 2, 3, 5)]
    X, y, qid = (np.concatenate(each) for each in zip(*parts[:3], strict=True))
    return Ranked("mq2008", X, y, qid, *parts[3])


def lightgbm_rank(data: Path) -> Ranked:
    """LightGBM's example: sizes of the queries in files of their own."""

    def part(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X, y, _ = _svmlight(data / "lightgbm_rank" / f"{name}.gz", 301)
        sizes = np.loadtxt(data / "lightgbm_rank" / f"{name}.query.gz", dtype=int)
        return X, y, np.repeat(np.arange(len(sizes)), sizes)

    (X, y, qid), (X_test, y_test, qid_test) = part("rank.train"), part("rank.test")
    return Ranked("lightgbm_rank", *_scaled(X, X_test)[:1], y, qid, _scaled(X, X_test)[1], y_test, qid_test)


def mslr(data: Path) -> Ranked:
    """The 5,000-row sample of MSLR-WEB, columns scaled to [0, 1]."""
    X, y, qid = _svmlight(data / "mslr_sample" / "msn1.fold1.train.5k.txt.gz", 137)
    X_test, y_test, qid_test = _svmlight(data / "mslr_sample" / "msn1.fold1.test.5k.txt.gz", 137)
    X, X_test = _scaled(X, X_test)
    return Ranked("mslr", X, y, qid, X_test, y_test, qid_test)


def _table(path: Path, delimiter: str, skip: int = 0) -> np.ndarray:
    with gzip.open(path, "rt") as file:
        lines = [line for line in file if line.strip() and not line.startswith(("@", "%"))][skip:]
    codes = {"M": "0", "F": "1", "I": "2"}
    rows = [[codes.get(cell, cell) for cell in line.strip().split(delimiter)] for line in lines]
    return np.array(rows, dtype=np.float64)


ORDINAL = {
    "abalone": ("abalone.data.txt.gz", ",", 0, -1),
    "casp": ("CASP.csv.gz", ",", 1, 0),
    "cal_housing": ("cal_housing.arff.gz", ",", 0, -1),
    "compactiv": ("compactiv.dat.gz", ",", 0, -1),
    "house_8L": ("house_8L.tsv.gz", "\t", 1, -1),
    "housing": ("housing.arff.gz", ",", 0, -1),
    "wine_red": ("winequality-red.csv.gz", ";", 1, -1),
    "wine_white": ("winequality-white.csv.gz", ";", 1, -1),
}


def ordinal(data: Path, name: str, bins: int = 5) -> Ranked:
    """A regression set with its target cut at quantiles; every fifth row is for testing."""
    file, delimiter, skip, target = ORDINAL[name]
    table = _table(data / "ordinal" / file, delimiter, skip)
    table = table[np.random.default_rng(0).permutation(len(table))]
    y = table[:, target]
    X = np.delete(table, target, axis=1)
    y = np.searchsorted(np.unique(np.quantile(y, np.linspace(0, 1, bins + 1)[1:-1])), y)
    test = np.arange(len(y)) % 5 == 0
    X_train, X_test = _scaled(X[~test], X[test])
    return Ranked(name, X_train, y[~test], None, X_test, y[test], None)


QUERIES = {"mq2008": mq2008, "lightgbm_rank": lightgbm_rank, "mslr": mslr}
