"""A fit of every family of estimators, large enough for several threads, and the bits of what it leaves.

Run as a program, it trains in children of fork: see test_forks.py.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import cutplane
from cutplane.structured.classes import MulticlassModel

_rng = np.random.default_rng(0)
X = _rng.standard_normal((3000, 40))
SCORES = X[:, 0] + _rng.standard_normal(3000)
SIGNS = np.where(SCORES > 0.0, 1, -1)
GRADES = np.digitize(SCORES, [-1.0, 0.0, 1.0])
QUERIES = np.repeat(np.arange(150), 20)
SPARSE = sparse.random(4000, 3000, density=0.01, format="csr", random_state=0)
SPARSE_SIGNS = np.where(_rng.random(4000) < 0.5, 1, -1)
STRINGS = ["".join(letters) for letters in np.array(list("ACGT"))[_rng.integers(4, size=(1000, 40))]]
STRING_SIGNS = [1 if s.count("A") > 10 else 0 for s in STRINGS]
SENTENCES = [[[f"w{w}"] for w in words] for words in _rng.integers(50, size=(300, 12))]
TAGS = [[int(token[0][1:]) % 5 for token in sentence] for sentence in SENTENCES]

FITS: dict[str, Callable[[int], Any]] = {
    "LinearSVC": lambda n_jobs: cutplane.LinearSVC(n_jobs=n_jobs).fit(X, SIGNS),
    "LinearSVC on sparse rows": lambda n_jobs: cutplane.LinearSVC(n_jobs=n_jobs).fit(SPARSE, SPARSE_SIGNS),
    "LinearSVC of four classes": lambda n_jobs: cutplane.LinearSVC(n_jobs=n_jobs).fit(X, GRADES),
    "LinearSVC of Crammer and Singer": lambda n_jobs: cutplane.LinearSVC(
        multi_class="crammer_singer", n_jobs=n_jobs
    ).fit(X, GRADES),
    "LinearSVC of the ROC area": lambda n_jobs: cutplane.LinearSVC(loss="roc_area", n_jobs=n_jobs).fit(X, SIGNS),
    "LinearSVR": lambda n_jobs: cutplane.LinearSVR(n_jobs=n_jobs).fit(X, SCORES),
    "LinearOneClassSVM": lambda n_jobs: cutplane.LinearOneClassSVM(n_jobs=n_jobs).fit(X + 1.0),
    "LogisticRegression": lambda n_jobs: cutplane.LogisticRegression(n_jobs=n_jobs).fit(X, GRADES),
    "LogisticRegression on sparse rows": lambda n_jobs: cutplane.LogisticRegression(n_jobs=n_jobs).fit(
        SPARSE, np.arange(4000) % 3
    ),
    "OrdinalSVC": lambda n_jobs: cutplane.OrdinalSVC(n_jobs=n_jobs).fit(X, GRADES),
    "RankSVM": lambda n_jobs: cutplane.RankSVM(n_jobs=n_jobs).fit(X, SCORES, qid=QUERIES),
    "SVC": lambda n_jobs: cutplane.SVC(n_jobs=n_jobs).fit(X[:1200], GRADES[:1200]),
    "SVR": lambda n_jobs: cutplane.SVR(n_jobs=n_jobs).fit(X[:1200], SCORES[:1200]),
    "OneClassSVM": lambda n_jobs: cutplane.OneClassSVM(n_jobs=n_jobs).fit(X[:1200]),
    "SampledCutSVC": lambda n_jobs: cutplane.SampledCutSVC(
        random_state=0, n_samples_cut=50, risk_tol=0.05, n_jobs=n_jobs
    ).fit(X[:600], SIGNS[:600]),
    "SequenceSVM": lambda n_jobs: cutplane.SequenceSVM(n_jobs=n_jobs).fit(SENTENCES, TAGS),
    "StringSVC": lambda n_jobs: cutplane.StringSVC(order=4, tol=0.01, n_jobs=n_jobs).fit(STRINGS, STRING_SIGNS),
    "StructuralSVM": lambda n_jobs: cutplane.StructuralSVM(MulticlassModel(range(4)), n_jobs=n_jobs).fit(
        X[:200], GRADES[:200]
    ),
}


def bits(model: Any) -> dict[str, bytes]:
    """All numbers that a fit has left, but for those of its history, which has times in it."""
    left = {}
    for name, value in vars(model).items():
        if name.endswith("_") and name != "history_":
            value = value.toarray() if sparse.issparse(value) else value
            if isinstance(value, (float, int)) or (isinstance(value, np.ndarray) and value.dtype != object):
                left[name] = np.asarray(value).tobytes()
    assert left
    return left


def of_fit(name: str, n_jobs: int = 2) -> dict[str, bytes]:
    """The bits of this fit."""
    return bits(FITS[name](n_jobs))


def in_child(name: str) -> bytes:
    """The bits that a child of fork leaves, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "wb") as answer:
            answer.write(repr(of_fit(name)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found


def main(names: list[str]) -> None:
    """Train in children: of a parent that has not trained, of one that has, and in a pool."""
    for name in cutplane.__all__:  # loaded once, and not in every child
        getattr(cutplane, name)
    before = [in_child(name) for name in names]
    ours = [of_fit(name) for name in names]
    afterwards = [in_child(name) for name in names]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pooled = pool.map(of_fit, names, chunksize=1)
    for name, one, *others in zip(names, ours, before, afterwards, strict=True):
        assert others == [repr(one).encode()] * 2, name
    assert pooled == ours


if __name__ == "__main__":
    main(sys.argv[1:])
