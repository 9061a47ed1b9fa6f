"""Data as users bring it to `as_called.py`: the sets of `datasets.py`, and messages as TF-IDF, as it comes.

`load(name)` returns ``(X, y, targets)``: labels of -1 and +1, and targets for regression.
"""

from __future__ import annotations

import bz2
import pickle
import tarfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from benchmarks import datasets, multiclass_data

# Of the vectoriser: the words, and the words with their pairs of half of the messages.
TEXTS = {"text": {"min_df": 2}, "text-pairs": {"min_df": 3, "ngram_range": (1, 2)}}


def messages(data: Path) -> tuple[list[str], np.ndarray]:
    """The training messages of 20 newsgroups, and the number of the group of each."""
    texts, groups = [], []
    with tarfile.open(data / "20news" / "20news-bydate.tar.gz") as archive:
        for member in archive:
            if member.isfile() and "train" in member.name:
                texts.append(archive.extractfile(member).read().decode("latin1"))
                groups.append(member.name.split("/")[-2])
    return texts, np.unique(groups, return_inverse=True)[1]


def text(name: str, data: str | None, cache: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """TF-IDF as scikit-learn hands it over: float64, indices in no order."""
    file = Path(cache) / f"{name}.pickle"
    if not file.exists():
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts, groups = messages(datasets.data_folder(data))
        if name != "text":
            texts, groups = texts[::2], groups[::2]
        X = TfidfVectorizer(**TEXTS[name]).fit_transform(texts)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pickle.dumps((X, groups)))
    X, groups = pickle.loads(file.read_bytes())
    # As it came: a copy that earlier fits have sorted would not be.
    return X.copy(), groups


def load(name: str, data: str | None = None, cache: str = datasets.DEFAULT_CACHE):
    """Examples, labels, targets."""
    if name in TEXTS:
        X, groups = text(name, data, cache)
        return X, np.where(groups < 10, 1.0, -1.0), groups.astype(float)
    if name == "news20-raw":
        X, groups = load_classes(name, data, cache)
        return X, np.where(groups == 1, 1.0, -1.0), groups
    X, y = datasets.load(name, data, cache)
    generator = np.random.default_rng(0)
    w = generator.normal(size=X.shape[1]) / np.sqrt(max(1.0, X.multiply(X).sum() / X.shape[0]))
    return X, y, X @ w + 0.3 * generator.normal(size=X.shape[0])


def load_classes(name: str, data: str | None = None, cache: str = datasets.DEFAULT_CACHE):
    """Examples and their classes."""
    if name in TEXTS:
        return text(name, data, cache)
    if name == "news20-raw":
        file = Path(cache) / f"{name}.pickle"
        if not file.exists():
            with bz2.open(datasets.data_folder(data) / "news20" / "news20.bz2") as opened:
                file.write_bytes(pickle.dumps(load_svmlight_file(opened, n_features=62061, dtype=np.float32)))
        X, y = pickle.loads(file.read_bytes())
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn takes no others
        return X, y
    X, y, _, _ = multiclass_data.load(name, data, cache)
    return X, y
