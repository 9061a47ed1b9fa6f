"""
Classes in a tree: mistakes within a family cost less
=====================================================

Digits in families of alike shapes. A structural SVM knows the tree: classes share the weights of their family, and
taking a digit for one of another family costs more.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from cutplane import LinearSVC, StructuralSVM
from cutplane.structured.classes import HierarchyModel

FAMILIES = {"round": (0, 6, 8, 9), "open": (2, 3, 5), "straight": (1, 4, 7)}

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, test_size=0.8, random_state=0)
family = {digit: name for name, digits in FAMILIES.items() for digit in digits}
tree = {**family, **dict.fromkeys(FAMILIES, "digit")}

# %%
# The tree, and classes that know nothing of each other.

models = {
    "tree": StructuralSVM(HierarchyModel(tree), C=1.0, tol=1e-2).fit(X_train, list(y_train)),
    "flat": LinearSVC(C=1.0, multi_class="crammer_singer", tol=1e-2).fit(X_train, y_train),
}
for name, model in models.items():
    predicted = np.array(model.predict(X_test))
    strange = np.mean([family[a] != family[b] for a, b in zip(y_test, predicted, strict=True)])
    print(f"{name}: {np.mean(predicted != y_test):.2%} wrong, {strange:.2%} in another family, gap {model.gap_:.1e}")

# %%
# Mistakes of the tree, families side by side.

order = [digit for digits in FAMILIES.values() for digit in digits]
place = {digit: at for at, digit in enumerate(order)}
counts = np.zeros((10, 10))
np.add.at(counts, ([place[a] for a in y_test], [place[b] for b in models["tree"].predict(X_test)]), 1)
np.fill_diagonal(counts, 0)
fig, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
fig.colorbar(ax.imshow(counts, cmap="Blues"), label="mistakes")
ax.set(xticks=range(10), yticks=range(10), xticklabels=order, yticklabels=order, xlabel="read", ylabel="is")
for edge in np.cumsum([len(digits) for digits in FAMILIES.values()])[:-1] - 0.5:
    ax.axhline(edge, color="grey")
    ax.axvline(edge, color="grey")
plt.show()
