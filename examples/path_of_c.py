"""
A C to choose: the whole path
=============================

Planes do not depend on C. So a grid of C costs little more than its dearest fit, every model has its own certificate,
and cross-validation shares one X among the folds.
"""

import matplotlib.pyplot as plt
import numpy as np

from cutplane import LinearSVC, LinearSVCCV
from cutplane.datasets import load_adult

X, y = load_adult()
X_test, y_test = load_adult("test")

# %%
# Thirteen models, each proven.

Cs = np.logspace(-4, 2, 13)
models = LinearSVC().path(X, y, Cs)
print(f"the worst gap of {len(models)} models: {max(model.gap_ for model in models):.1e}")

# %%
# The same C by cross-validation.

chosen = LinearSVCCV(Cs, cv=3).fit(X, y)
print(f"chosen: C = {chosen.C_:g}, accuracy on the test data {chosen.score(X_test, y_test):.4f}")

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.semilogx(Cs, [model.score(X, y) for model in models], marker="o", label="training data")
ax.semilogx(Cs, chosen.scores_.mean(axis=1), marker="o", label="cross-validation")
ax.semilogx(Cs, [model.score(X_test, y_test) for model in models], marker="o", label="test data")
ax.axvline(chosen.C_, color="grey", linestyle=":")
ax.set(xlabel="C", ylabel="accuracy")
ax.legend()
plt.show()
