"""
Ordered classes: one score and its thresholds
=============================================

Grades, stars, stages: a class too far away is a worse mistake than the next one. ``OrdinalSVC`` learns a score for all
of them, and the thresholds between.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from cutplane import OrdinalSVC

X, progression = load_diabetes(return_X_y=True)
names = np.array(["slow", "mild", "marked", "fast"])
grades = np.searchsorted(np.quantile(progression, [0.25, 0.5, 0.75]), progression)
X_train, X_test, y_train, y_test = train_test_split(scale(X), grades, test_size=0.5, random_state=0)

# %%
# The distance between the grade said and the true one, beside that of classes without an order.

model = OrdinalSVC(C=0.1).fit(X_train, y_train)
others = LogisticRegression().fit(X_train, y_train)
print(f"OrdinalSVC  mean distance {np.mean(abs(model.predict(X_test) - y_test)):.3f}   proven gap {model.gap_:.1e}")
print(f"classes     mean distance {np.mean(abs(others.predict(X_test) - y_test)):.3f}")

# %%
# Scores of unseen patients by their grade, and the thresholds.

scores = model.score_samples(X_test)
fig, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
ax.boxplot([scores[y_test == grade] for grade in range(4)], orientation="horizontal", tick_labels=names)
for threshold in model.thresholds_:
    ax.axvline(threshold, color="tab:orange", linestyle="--")
ax.set(xlabel="score, and thresholds")
plt.show()
