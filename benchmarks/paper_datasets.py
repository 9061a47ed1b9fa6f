"""More data sets of the papers, or of the same kind where the papers' own are not to be had: see `STANDS_FOR`."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from benchmarks import datasets
from benchmarks.datasets import Examples, _csr, _signs

STANDS_FOR = {
    "covtype": "Cov1 / Covertype 1, the papers' own",
    "mnist": "MNIST, the papers' own images, 8 against the rest",
    "a9a": "Adult, the papers' own",
    "w8a": "Web, the papers' own",
    "poker": "POKER, the paper's own, commonest hand against the rest",
    "news20": "Reuters CCAT (balanced text): newsgroups 1-10 against 11-20, 15,935 documents instead of 804,414",
    "news20-one": "Reuters C11 (unbalanced text): newsgroup 1 against the rest",
    "moneyfx": "Arxiv astro-ph (text): Reuters-21578 money-fx, 11,069 documents instead of 62,369",
    "ijcnn1": "KDD04 Physics (dense, few features): 141,691 x 22 instead of 150,000 x 78",
    "worm": "Worm splice: 100,000 C. elegans acceptor sites, 201 bases one-hot (804 features as in the paper)",
    "human": "Human splice: 500,000 AG sites of chromosome 22, 141 bases one-hot (564 features as in the paper)",
    "artificial": "Artificial: made as the paper says, two Gaussians with diagonal covariances of many scales",
    "alpha": "Alpha: made to its description (Gaussians that a quadric separates), 50,000 x 500 not 500,000",
    "gamma": "Gamma: made to its description (as Alpha, scales from 1e-2 to 1e2), 50,000 x 500 not 500,000",
    "zeta": "Zeta: made to its description (linear, 400 of 2,000 dimensions matter), 20,000 not 500,000",
}

LETTERS = np.full(256, -1, dtype=np.int8)
LETTERS[np.frombuffer(b"ACGT", np.uint8)] = np.arange(4)
HUMAN_ROWS = 500_000
COMPLEMENT = np.arange(256, dtype=np.uint8)
COMPLEMENT[np.frombuffer(b"ACGT", np.uint8)] = np.frombuffer(b"TGCA", np.uint8)


def ijcnn1(data: Path) -> Examples:
    """The IJCNN 2001 challenge, training and test rows together."""
    parts = []
    for name in ("ijcnn1.trn.bz2", "ijcnn1.tst.bz2"):
        with bz2.open(data / "ijcnn1" / name) as file:
            parts.append(load_svmlight_file(file, n_features=22, dtype=np.float32))
    return _csr(sp.vstack([X for X, _ in parts])), _signs(np.concatenate([y for _, y in parts]) > 0)


def moneyfx(data: Path) -> Examples:
    """Reuters-21578, money-fx against the rest, training and test documents together, rows of length 1."""
    parts = []
    for name in ("reuters.trn.bz2", "reuters.tst.bz2"):
        with bz2.open(data / "reuters_moneyfx" / name) as file:
            parts.append(load_svmlight_file(file, n_features=8315, dtype=np.float32))
    X = sp.vstack([X for X, _ in parts])
    return _csr(normalize(X)), _signs(np.concatenate([y for _, y in parts]) > 0)


def one_hot(bases: np.ndarray) -> sp.csr_matrix:
    """Strings of A, C, G, T as an indicator for each base at each place; another letter is no base."""
    codes = LETTERS[bases]
    n, length = codes.shape
    known = codes >= 0
    columns = (4 * np.arange(length, dtype=np.int32) + codes)[known].astype(np.int32)
    rows = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    return sp.csr_matrix((np.ones(len(columns), np.float32), columns, rows), (n, 4 * length))


def worm(data: Path) -> Examples:
    """C. elegans acceptor sites: the 201 bases from 100 before the AG on; the label is in the header."""
    labels, lines = [], []
    with bz2.open(data / "celegans_acceptor" / "C_elegans_acc_100000.fasta.bz2", "rt") as file:
        for line in file:
            if line.startswith(">"):
                labels.append(line)
            else:
                lines.append(line.strip().upper())
    bases = np.frombuffer("".join(lines).encode(), np.uint8).reshape(len(labels), -1)
    positive = np.array([label.rstrip().endswith(("label=1", "label=+1")) for label in labels])
    return one_hot(bases[:, 97:298]), _signs(positive)


def human(data: Path) -> Examples:
    """Acceptor sites of human chromosome 22, 141 bases with the AG at 60-61, on its own strand; a fixed sample."""
    with gzip.open(data / "human_chr22" / "chr22.fasta.gz", "rt") as file:
        text = "".join(line.strip() for line in file if not line.startswith(">")).upper()
    chromosome = np.frombuffer(text.encode(), np.uint8)
    sites = np.load(data / "human_chr22" / "acceptor_sites.npz")
    chosen = np.sort(np.random.default_rng(0).choice(len(sites["pos"]), HUMAN_ROWS, replace=False))
    position, strand, label = (sites[name][chosen] for name in ("pos", "strand", "label"))
    # Forward, the site's A is base 60 of 141; on the other strand CT is where AG is read backwards.
    start = np.where(strand > 0, position - 59, position + 1 - 81)
    window = chromosome[start[:, None] + np.arange(141)]
    reverse = strand < 0
    window[reverse] = COMPLEMENT[window[reverse]][:, ::-1]
    return one_hot(window), _signs(label > 0)


def artificial(_: Path | None = None) -> Examples:
    """Two Gaussians in 500 dimensions with different diagonal covariances of multiple scale."""
    rng = np.random.default_rng(0)
    n, d = 50_000, 500
    y = _signs(rng.random(n) < 0.5)
    scales = 10.0 ** rng.uniform(-1.5, 0.5, (2, d))
    X = rng.standard_normal((n, d), dtype=np.float32) * np.where(y[:, None] > 0, scales[0], scales[1])
    shift = 0.1 * rng.standard_normal(d) * scales.mean(axis=0)
    return _csr(X + y[:, None] * shift), y


def alpha(_: Path | None = None) -> Examples:
    """Gaussians that a quadric separates and a plane only in part."""
    return _quadratic(scale=np.ones(500))


def gamma(_: Path | None = None) -> Examples:
    """As alpha, features on scales from 1e-2 to 1e2."""
    return _quadratic(scale=10.0 ** np.random.default_rng(1).uniform(-2, 2, 500))


def _quadratic(scale: np.ndarray) -> Examples:
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((50_000, 500), dtype=np.float32)
    w, q = rng.standard_normal(500), rng.standard_normal(500)
    decision = Z @ w / np.sqrt(500) + (Z**2 - 1) @ q / np.sqrt(2 * 500)
    return _csr((Z * scale).astype(np.float32)), _signs(decision > 0)


def zeta(_: Path | None = None) -> Examples:
    """A linear rule in 400 of 2,000 dimensions; rows of length about 1, as in the challenge."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 2_000), dtype=np.float32)
    w = np.append(rng.standard_normal(400), np.zeros(1600))
    noise = 0.2 * np.sqrt(400) * rng.standard_normal(len(X))
    return _csr(X / np.float32(np.sqrt(2_000))), _signs(X @ w + noise > 0)


datasets.LOADERS.update(
    {each.__name__: each for each in (ijcnn1, moneyfx, worm, human, artificial, alpha, gamma, zeta)}
)


def load(name: str, options) -> Examples:
    """A data set by name, from the cache if it is there."""
    return datasets.load(name, options.data, options.cache)


def sample(X, y: np.ndarray, n: int, seed: int = 0):
    """The first n rows of a fixed order: nested samples."""
    order = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[np.sort(order)], y[np.sort(order)]
