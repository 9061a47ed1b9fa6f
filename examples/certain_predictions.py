"""
Predictions that are proven
===========================

Labels that no further training can change. A small gap puts the exact optimum into a small ball around the model, and
that says what the optimum would predict. Training can then stop when enough predictions are proven, instead of at a
guessed tolerance.
"""

import matplotlib.pyplot as plt

from cutplane import LinearSVC
from cutplane.datasets import load_adult

X, y = load_adult()
X_test, y_test = load_adult("test")

# %%
# Adult, at three tolerances.

gaps, shares, intervals = [], [], []
for tol in (1e-3, 1e-6, 1e-9):
    model = LinearSVC(C=0.1, tol=tol).fit(X, y).certify_intercept(X, y)
    certain = model.predict(X_test, return_certain=True)[1]
    low, high = model.score_bounds(X_test, y_test)["accuracy"]
    print(
        f"gap {model.gap_:.0e}: {certain.mean():7.2%} of the labels are certain; "
        f"the exact optimum is right on {low:.2%} to {high:.2%}"
    )
    gaps.append(model.gap_)
    shares.append(certain.mean())
    intervals.append((low, high))

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.vlines(gaps, *zip(*intervals, strict=True), linewidth=6, alpha=0.6, label="accuracy of the exact optimum")
ax.plot(gaps, shares, color="tab:orange", marker="o", label="labels that are certain")
ax.set(xscale="log", xlabel="proven gap", ylim=(0, 1.02))
ax.invert_xaxis()
ax.legend(loc="lower right")
plt.show()

# %%
# Training until enough labels are certain, and examples that provably do not matter.

model = LinearSVC(C=0.1, certain_on=(X_test, 0.999)).fit(X, y)
print(f"Trained until 99.9 % are certain: stopped for {model.stop_reason_!r} at a gap of {model.gap_:.0e}")

redundant, bound = model.redundant_examples(X, y), model.bound_examples(X, y)
print(f"{redundant.mean():.1%} of the examples are proven not to matter, {bound.mean():.1%} to be at their bound")
again = LinearSVC(C=0.1, tol=1e-9).fit(X[~redundant], y[~redundant])
away = abs(again.decision_function(X_test) - model.decision_function(X_test)).max()
print(f"Without the former, scores are the same to {away:.0e}")
