"""
Probabilities that keep their word
==================================

``LogisticRegression`` has probabilities by its loss; ``LinearSVC(calibration="sigmoid")`` learns them from decision
values of examples that were left out. Neither ever contradicts ``predict``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import brier_score_loss

from cutplane import LinearSVC, LogisticRegression
from cutplane.datasets import load_adult

X, y = load_adult()
X_test, y_test = load_adult("test")

# %%
# Of those who are given 70 %, seven in ten should be positive.

fig, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
models = {
    "LogisticRegression": LogisticRegression(C=1.0),
    "LinearSVC, sigmoid": LinearSVC(C=0.1, calibration="sigmoid"),
    "LinearSVC, isotonic": LinearSVC(C=0.1, calibration="isotonic"),
}
for name, model in models.items():
    p = model.fit(X, y).predict_proba(X_test)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X_test)).all()
    print(f"{name:20} Brier score {brier_score_loss(y_test, p[:, 1]):.4f}   proven gap {model.gap_:.1e}")
    CalibrationDisplay.from_predictions(y_test, p[:, 1], n_bins=10, ax=ax, name=name)
plt.show()

# %%
# With a tiny gap, probabilities of the exact optimum are known to many digits.

exact = LogisticRegression(C=1.0, tol=1e-10).fit(X, y)
away = np.abs(exact.predict_proba(X_test) - models["LogisticRegression"].predict_proba(X_test)).max()
print(f"gap {exact.gap_:.0e}; probabilities at a gap of 1e-3 were {away:.3f} away at most")
