"""
A kernel SVM and its certificate
================================

Digits with a radial basis function: scikit-learn's parameters, and what is proven of each model.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from cutplane import SVC, LinearSVC

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, test_size=0.5, random_state=0)
linear = LinearSVC(C=0.1).fit(X_train, y_train)
print(f"linear             accuracy {linear.score(X_test, y_test):.4f}")

# %%
# One machine for each pair of digits; ``gap_`` is that of the worst.

gammas = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
found = []
for gamma in gammas:
    model = SVC(kernel="rbf", gamma=gamma, C=10.0, stopping="gap").fit(X_train, y_train)
    found.append(model.score(X_test, y_test))
    n = len(model.support_)
    print(f"RBF, gamma = {gamma:<5g} accuracy {found[-1]:.4f}   {n} support vectors   proven gap {model.gap_:.1e}")

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.semilogx(gammas, found, marker="o", label="RBF")
ax.axhline(linear.score(X_test, y_test), color="tab:orange", label="linear")
ax.set(xlabel="gamma", ylabel="accuracy")
ax.legend()
plt.show()
