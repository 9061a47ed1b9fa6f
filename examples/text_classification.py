"""
Text in ten lines, and what decides
===================================

Which library is a docstring from, NumPy or SciPy? The texts are the docstrings of the two libraries, which are
installed with Cutplane: real English, more than a thousand of them.
"""

import importlib
import inspect
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from cutplane import LinearSVC
from cutplane.plotting import plot_features

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


# %%
# Words become sparse features.

texts, labels = docstrings()
train_texts, test_texts, y_train, y_test = train_test_split(texts, labels, test_size=0.3, random_state=0)
words = TfidfVectorizer(sublinear_tf=True, min_df=2)
X_train, X_test = words.fit_transform(train_texts), words.transform(test_texts)
X_train.sort_indices()  # as CSR should be; else a sorted copy is made, with a warning
print(f"{X_train.shape[0]:,} texts to learn from, {X_train.shape[1]:,} words")

# %%
# A path of C costs little more than its dearest fit, and every model has its own certificate.

models = LinearSVC().path(X_train, y_train, [0.01, 0.1, 1.0, 10.0])
for model in models:
    print(f"C = {model.C:<5g} accuracy {model.score(X_test, y_test):.3f}   proven gap {model.gap_:.1e}")
best = max(models, key=lambda model: model.score(X_test, y_test))

# %%
# The words that decide, and a report for the rest: one HTML file that needs no network.

names = list(words.get_feature_names_out())
fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
plot_features(best, names, ax=ax)
plt.show()

report = Path(tempfile.mkdtemp()) / "docstrings.html"
best.report(report, X_test, y_test, X_train=X_train, y_train=y_train, feature_names=names, models=models)
print(f"{report.name}: {report.stat().st_size // 1024} KB")
