"""Data that `cores.py` makes: rows by the million, text, and sentences where CoNLL-2000 is not to be had."""

from __future__ import annotations

import argparse

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from benchmarks import called_data, datasets
from benchmarks.sequence_sets import WINDOW, conll2000

COPIES, QUICK_COPIES = 35, 1
LABELS, WORDS, SPEECH_PARTS = 22, 19_000, 44


def has_file(options: argparse.Namespace, name: str) -> bool:
    """Whether the folder of published data has a file."""
    return (datasets.data_folder(options.data) / name).exists()


def covtype_copies(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """All of covtype so many times in float32, all but the first with noise."""
    X, y = datasets.load("covtype-dense", options.data, options.cache)
    copies, rng = QUICK_COPIES if options.quick else COPIES, np.random.default_rng(0)
    if options.quick:
        X, y = X[::10], y[::10]
    rows = np.empty((copies * len(X), X.shape[1]), np.float32)
    for k in range(copies):
        part = rows[k * len(X) : (k + 1) * len(X)]
        if k:
            rng.standard_normal(out=part, dtype=np.float32)
            part *= np.float32(0.01)
            part += X
        else:
            part[:] = X
    return rows, np.tile(y.astype(np.int8), copies)


def text(n: int, features: int, each: int, classes: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows of at most `each` entries, features as frequent as words are, and classes by linear scores with noise."""
    rng = np.random.default_rng(0)
    often = 1.0 / np.arange(10, features + 10) ** 0.9
    columns = np.searchsorted(np.cumsum(often) / often.sum(), rng.random((n, each))).clip(0, features - 1)
    starts = np.arange(0, n * each + 1, each, dtype=np.int32)
    values = np.full(n * each, each**-0.5, np.float32)
    X = sp.csr_matrix((values, columns.astype(np.int32).ravel(), starts), shape=(n, features))
    X.sum_duplicates()
    scores = X @ rng.standard_normal((features, classes))
    scores += 0.3 * rng.standard_normal(scores.shape)
    return X, scores.argmax(axis=1)


def mixed_messages(options: argparse.Namespace, n: int = 40_000) -> tuple[sp.csr_matrix, np.ndarray]:
    """Messages of 20 newsgroups as words and pairs of words: half of one and half of another of the same class each."""
    X, y, _ = called_data.load("text-pairs", options.data, options.cache)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)

    def halves() -> sp.csr_matrix:
        rows = np.where(labels > 0, rng.choice(np.flatnonzero(y > 0), n), rng.choice(np.flatnonzero(y < 0), n))
        part = sp.csr_matrix(X[rows], dtype=np.float32)
        part.data *= rng.random(part.nnz) < 0.5
        part.eliminate_zeros()
        return part

    mixed = normalize(halves() + halves())
    mixed.sort_indices()
    return mixed, np.where(rng.random(n) < 0.03, -labels, labels)


def sentences(options: argparse.Namespace) -> tuple[str, list, list]:
    """The chunks of CoNLL-2000, or sentences of the same number, lengths and labels: their name, tokens and labels."""
    if has_file(options, "conll2000/train.txt.gz"):
        found = conll2000(datasets.data_folder(options.data))
        few = 1000 if options.quick else len(found.X)
        return "CoNLL-2000", found.X[:few], found.Y[:few]
    return "made sentences", *made_sentences(1000 if options.quick else 8936)


def made_sentences(n: int) -> tuple[list, list]:
    """Labels that follow each other, parts of speech by labels, words by parts of speech."""
    rng = np.random.default_rng(0)
    follows, speech, words = (
        np.cumsum(rng.dirichlet(np.full(size, 0.1), count), axis=1)
        for size, count in ((LABELS, LABELS), (SPEECH_PARTS, LABELS), (WORDS, SPEECH_PARTS))
    )

    def drawn(table: np.ndarray, given: int) -> int:
        return min(int(np.searchsorted(table[given], rng.random())), table.shape[1] - 1)

    X, Y = [], []
    for length in rng.poisson(23.7, n).clip(1):
        labels = [int(rng.integers(LABELS))]
        while len(labels) < length:
            labels.append(drawn(follows, labels[-1]))
        parts = [drawn(speech, label) for label in labels]
        X.append(WINDOW.apply([[f"w{drawn(words, part)}", f"p{part}"] for part in parts]))
        Y.append([f"B-{label}" for label in labels])
    return X, Y
