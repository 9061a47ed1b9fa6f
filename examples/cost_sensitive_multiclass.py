"""
Mistakes that do not cost the same
==================================

Digits that must not be overlooked: missing an 8 costs five times as much as any other mistake. A model that is told so
misses fewer of them, for more false alarms: its mistakes are cheaper, if not fewer.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split

from cutplane import LinearSVC

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, test_size=0.5, random_state=0)
costs = 1.0 - np.eye(10)
costs[8] *= 5.0  # row: the true class, column: what is said

# %%
# One problem for all classes together, with and without the costs.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, name, matrix in zip(axes, ("all mistakes alike", "missing an 8 costs 5"), (None, costs), strict=True):
    model = LinearSVC(multi_class="crammer_singer", cost_matrix=matrix, C=1.0).fit(X_train, y_train)
    predicted = model.predict(X_test)
    missed = np.sum((y_test == 8) & (predicted != 8))
    wrong, cost = np.sum(predicted != y_test), costs[y_test, predicted].sum()
    print(
        f"{name:21} {wrong} of {len(y_test)} wrong, {missed} eights missed, cost {cost:.0f}   "
        f"proven gap {model.gap_:.1e}"
    )
    ConfusionMatrixDisplay.from_predictions(y_test, predicted, ax=ax, colorbar=False, cmap="Blues")
    ax.set_title(f"{name}: cost {cost:.0f}")
plt.show()
