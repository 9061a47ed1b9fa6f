"""Reports of every kind of model, to be looked at.

python tests/browser/pages.py FOLDER
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from cutplane import LinearSVC, RankSVM, SequenceSVM, StringSVC
from cutplane.datasets import adult_feature_names, load_adult


def make_reports(folder: Path) -> list[Path]:
    """Two classes with everything, ten classes, a run that ended early, rankings and label sequences."""
    X, y = load_adult()
    X_test, y_test = load_adult("test")
    names = adult_feature_names()
    models = [LinearSVC(C=C).fit(X, y) for C in (1e-3, 1e-2, 0.1, 1.0)]
    files = [folder / f"{name}.html" for name in ("adult", "digits", "early")]
    models[-1].report(files[0], X_test, y_test, X_train=X, y_train=y, feature_names=names, models=models)
    digits, labels = load_digits(return_X_y=True)
    LinearSVC(C=0.01).fit(digits[:1200], labels[:1200]).report(files[1], digits[1200:], labels[1200:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LinearSVC(method="oca", max_iter=5).fit(X, y).report(files[2])
    others = {"ranking": _ranking, "sequences": _sequences, "strings": _strings, "useless": _useless}
    return [*files, *(make(folder / f"{name}.html") for name, make in others.items())]


def _ranking(file: Path) -> Path:
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(600, 8)), np.repeat(np.arange(60), 10)
    grades = np.clip((X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=600)).round(), 0, 4)
    model = RankSVM().fit(X[:400], grades[:400], qid=qid[:400])
    model.report(file, X[400:], grades[400:], qid_test=qid[400:], X_train=X[:400], y_train=grades[:400])
    return file


def _sequences(file: Path) -> Path:
    """Made-up sentences of a grammar with many labels: a long table of confusions, names of features."""
    rng = np.random.default_rng(0)
    labels = [f"{prefix}-{kind}" for kind in ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT") for prefix in "BI"]
    Y = [[str(each) for each in rng.choice([*labels, "O"], size=rng.integers(3, 12))] for _ in range(120)]
    X = [[[f"word={label}{rng.integers(4)}", f"noise={rng.integers(9)}"] for label in y] for y in Y]
    X = [[token if rng.random() < 0.8 else token[1:] for token in x] for x in X]
    model = SequenceSVM(tol=0.05).fit(X[:80], Y[:80])
    model.report(file, X[80:], Y[80:], X_train=X[:80], y_train=Y[:80])
    return file


def _strings(file: Path) -> Path:
    """Windows of DNA with a motif in the middle of one class."""
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), size=(1500, 60))
    y = np.where(np.arange(1500) % 5 == 0, "site", "other")
    letters[:, 29:31] = list("AG")
    motif = np.where(rng.random((300, 6)) < 0.8, list("TTTCNN".replace("N", "C")), letters[y == "site", 23:29])
    letters[np.flatnonzero(y == "site")[:, None], np.arange(23, 29)] = motif
    X = ["".join(row) for row in letters]
    model = StringSVC(order=4, C=1.0, class_weight="balanced").fit(X[:1000], y[:1000])
    model.report(file, X[1000:], y[1000:], X_train=X[:1000], y_train=y[:1000])
    return file


def _useless(file: Path) -> Path:
    """A rare class that is never found, though the optimum is proven."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 5)), (np.arange(900) % 30 == 0).astype(int)
    X[y == 1, 0] += 0.8
    LinearSVC(C=0.01).fit(X[:600], y[:600]).report(file, X[600:], y[600:], X_train=X[:600], y_train=y[:600])
    return file


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    for report in make_reports(where):
        print(report)
