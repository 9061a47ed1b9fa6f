"""Text classification: which library is a docstring from, NumPy or SciPy?

The texts are the docstrings of the two libraries, which are installed with Cutplane: real English, some 2,000 of them.
"""

import importlib
import inspect
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from cutplane import LinearSVC

PACKAGES = {
    "numpy": ["numpy", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.random", "numpy.polynomial"],
    "scipy": ["scipy.optimize", "scipy.stats", "scipy.signal", "scipy.sparse", "scipy.special", "scipy.interpolate"],
}


def docstrings() -> tuple[list[str], list[str]]:
    """Docstrings of public functions and classes, each once, and the library each is from."""
    texts, labels, seen = [], [], set()
    for library, names in PACKAGES.items():
        for name in names:
            module = importlib.import_module(name)
            for attribute in dir(module):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # deprecated names
                    member = getattr(module, attribute, None)
                text = inspect.getdoc(member) if callable(member) and not attribute.startswith("_") else None
                if text and len(text) > 200 and text not in seen:
                    seen.add(text)
                    # Their own names would give them away.
                    texts.append(text.replace("numpy", "").replace("scipy", "").replace("np.", ""))
                    labels.append(library)
    return texts, labels


def main() -> None:
    """Choose C on held-out text, say what is proven, show the words that decide and write a report."""
    texts, labels = docstrings()
    train_texts, test_texts, y_train, y_test = train_test_split(texts, labels, test_size=0.3, random_state=0)
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    X_train, X_test = words.fit_transform(train_texts), words.transform(test_texts)
    X_train.sort_indices()  # as CSR should be; else a sorted copy is made, with a warning
    print(f"{X_train.shape[0]:,} texts to learn from, {X_train.shape[1]:,} words")

    models = [LinearSVC(C=C).fit(X_train, y_train) for C in (0.01, 0.1, 1.0, 10.0)]
    for model in models:
        print(f"C = {model.C:<5g} accuracy {model.score(X_test, y_test):.3f}   proven gap {model.gap_:.1e}")
    best = max(models, key=lambda model: model.score(X_test, y_test))

    names = words.get_feature_names_out()
    order = np.argsort(best.coef_[0])
    print(f"for {best.classes_[0]}:", ", ".join(names[order[:8]]))
    print(f"for {best.classes_[1]}:", ", ".join(names[order[-8:][::-1]]))

    report = Path(tempfile.mkdtemp()) / "docstrings.html"
    best.report(report, X_test, y_test, X_train=X_train, y_train=y_train, feature_names=list(names), models=models)
    print("report:", report)


if __name__ == "__main__":
    main()
