"""Reports of every kind of model, to be looked at.

python tests/browser/pages.py FOLDER
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from cutplane import SVC, LinearSVC, LinearSVR, RankSVM, SequenceSVM, StringSVC
from cutplane.cli.app import run
from cutplane.datasets import adult_feature_names, load_adult
from cutplane.io.svmlight import save_svmlight
from cutplane.report.comparison import run_of_model, write_comparison
from cutplane.report.live import SCRIPT, LiveRun


def make_reports(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """A page of every kind, or those of some names."""
    unknown = set(names) - set(PAGES)
    if unknown:
        raise SystemExit(f"There is no page {', '.join(sorted(unknown))}; there are {', '.join(PAGES)}.")
    return [PAGES[name](folder / f"{name}.html") for name in names or PAGES]


def _adult(file: Path) -> Path:
    """Two classes with everything."""
    X, y = load_adult()
    X_test, y_test = load_adult("test")
    models = [LinearSVC(C=C).fit(X, y) for C in (1e-3, 1e-2, 0.1, 1.0)]
    names = adult_feature_names()
    models[-1].report(file, X_test, y_test, X_train=X, y_train=y, feature_names=names, models=models)
    return file


def _digits(file: Path) -> Path:
    """Ten classes."""
    digits, labels = load_digits(return_X_y=True)
    LinearSVC(C=0.01).fit(digits[:1200], labels[:1200]).report(file, digits[1200:], labels[1200:])
    return file


def _early(file: Path) -> Path:
    """A run that ended early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LinearSVC(method="oca", max_iter=5).fit(*load_adult()).report(file)
    return file


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


def _curved() -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no plane divides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, (np.sum(X**2, axis=1) + 0.5 * rng.normal(size=400) > 2.5).astype(int)


def _regression(file: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = X @ np.array([3.0, -2.0, 1.0, 0.0, 0.0, 0.5]) + 0.3 * rng.normal(size=500)
    LinearSVR().fit(X[:300], y[:300]).report(file, X[300:], y[300:], X_train=X[:300], y_train=y[:300])
    return file


def _kernel(file: Path) -> Path:
    X, y = _curved()
    SVC().fit(X[:250], y[:250]).report(file, X[250:], y[250:], X_train=X[:250], y_train=y[:250])
    return file


def _path(file: Path) -> Path:
    """`cutplane path --report`: a range of C."""
    X, y = load_adult()
    save_svmlight(file.with_suffix(".svm"), X[:600], y[:600])
    assert run(["path", str(file.with_suffix(".svm")), "--folds", "3", "--report", str(file), "--quiet"]) == 0
    return file


def _grid(file: Path) -> Path:
    """`cutplane path --kernel --report`: C and gamma."""
    save_svmlight(file.with_suffix(".svm"), *_curved())
    words = ["--kernel", "rbf", "--gamma", "0.001:10:5", "--C", "0.01:100:9", "--folds", "3"]
    assert run(["path", str(file.with_suffix(".svm")), *words, "--report", str(file), "--quiet"]) == 0
    return file


def _compare(file: Path) -> Path:
    X, y = load_adult()
    models = {f"C = {C:g} of a rather long name": LinearSVC(C=C, method="oca").fit(X, y) for C in (0.001, 0.01, 0.1)}
    write_comparison([run_of_model(name, model) for name, model in models.items()], file)
    return file


def _watch(file: Path) -> Path:
    """A run of three classes that goes on, without the script that asks for the next page."""
    live = LiveRun("LinearSVC, training", 1e-3)
    digits, labels = load_digits(return_X_y=True)
    LinearSVC(C=0.01, method="oca", on_step=live).fit(digits[labels < 3], labels[labels < 3])
    file.write_text(live.page().replace(f"<script>{SCRIPT}</script>", ""), encoding="utf-8")
    return file


def _card(file: Path) -> Path:
    """The certificate in a notebook, of a run that was proven and of one that was not."""
    X, y = load_adult()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [LinearSVC(C=0.5).fit(X, y), LinearSVC(method="oca", max_iter=5).fit(X, y)]
    cards = "".join(model._repr_html_() for model in models)
    dark = "@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } }"
    style = f"body {{ font: 14px sans-serif; }} {dark}"
    head = f'<meta charset="utf-8"><title>Notebook</title><style>{style}</style>'
    body = f"<main><h1>Notebook</h1>{cards}</main>"
    file.write_text(f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>', encoding="utf-8")
    return file


PAGES = {
    "adult": _adult,
    "digits": _digits,
    "early": _early,
    "ranking": _ranking,
    "sequences": _sequences,
    "strings": _strings,
    "useless": _useless,
    "regression": _regression,
    "kernel": _kernel,
    "path": _path,
    "grid": _grid,
    "compare": _compare,
    "watch": _watch,
    "card": _card,
}

if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    for report in make_reports(where):
        print(report)
