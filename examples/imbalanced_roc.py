"""
Few positives: the area under the ROC curve itself
==================================================

Adult with all but 1 % of its positives left out. The hinge counts mistakes, and saying "no" to everybody makes few of
them; the ROC area counts pairs of a positive and a negative in the wrong order, whatever the balance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import RocCurveDisplay, average_precision_score, roc_auc_score

from cutplane import LinearSVC
from cutplane.datasets import load_adult

X, y = load_adult()
rng = np.random.default_rng(0)
kept = np.sort(np.append(np.flatnonzero(y < 0), rng.choice(np.flatnonzero(y > 0), 80, replace=False)))
X, y = X[kept], y[kept]
X_test, y_test = load_adult("test")
print(f"{np.sum(y > 0)} positives among {len(y):,} examples")

# %%
# Train for both, at several C; the curves are those of each loss's best.

fig, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
for loss, Cs in (("hinge", (0.01, 0.1, 1.0)), ("roc_area", (0.001, 0.01, 0.1))):
    best = 0.0, np.zeros(len(y_test))
    for C in Cs:
        model = LinearSVC(loss=loss, C=C).fit(X, y)
        scores = model.decision_function(X_test)
        area, precision = roc_auc_score(y_test, scores), average_precision_score(y_test, scores)
        found = f"ROC area {area:.3f}   average precision {precision:.3f}   proven gap {model.gap_:.1e}"
        print(f"{loss:9} C = {C:<6g} {found}")
        best = max(best, (area, scores), key=lambda each: each[0])
    RocCurveDisplay.from_predictions(y_test, best[1], ax=ax, name=loss)
plt.show()
