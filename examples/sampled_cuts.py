"""
Kernels on more rows than a kernel matrix can have
==================================================

A kernel matrix of 30,000 rows has 900 million entries. Cuts made of a few hundred sampled examples never build it; a
linear machine on features of the kernel is the other way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline

from cutplane import CholeskyFeatures, LinearSVC, SampledCutSVC

X, y = make_moons(30_000, noise=0.2, random_state=0)
X_test, y_test = make_moons(10_000, noise=0.2, random_state=1)

# %%
# What is proven of sampled cuts is a violation, and of features a gap within their subspace.

sampled = SampledCutSVC(gamma=5.0, method="constant", n_samples_cut=200, risk_tol=5e-3).fit(X, y)
print(f"sampled cuts: accuracy {sampled.score(X_test, y_test):.4f}, violation {sampled.violation_:.1e}")

subspace = make_pipeline(CholeskyFeatures(100, gamma=5.0), LinearSVC()).fit(X, y)
print(f"features:     accuracy {subspace.score(X_test, y_test):.4f}, proven gap {subspace[-1].gap_:.1e}")

# %%
# Their boundaries are much the same.

grid = np.stack(np.meshgrid(np.linspace(-1.8, 2.8, 120), np.linspace(-1.3, 1.8, 90)), axis=-1)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, name, model in zip(axes, ("sampled cuts", "features"), (sampled, subspace), strict=True):
    scores = model.decision_function(grid.reshape(-1, 2)).reshape(90, 120)
    ax.contourf(grid[..., 0], grid[..., 1], scores, levels=20, cmap="RdBu", alpha=0.6)
    ax.contour(grid[..., 0], grid[..., 1], scores, levels=[0.0], colors="black")
    ax.scatter(*X_test[:400].T, c=y_test[:400], cmap="RdBu", s=6)
    ax.set_title(name)
plt.show()
