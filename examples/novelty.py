"""
Novelties: what is unlike the others
====================================

A one-class SVM learns from examples alone, without labels, and tells what is unlike them. ``nu`` is the share of the
training examples that may be outside.
"""

import matplotlib.pyplot as plt
import numpy as np

from cutplane import LinearOneClassSVM, OneClassSVM

rng = np.random.default_rng(0)
turn = rng.uniform(0.0, 2.0 * np.pi, 400)
ring = np.stack([np.cos(turn), np.sin(turn)], axis=1) + 0.1 * rng.normal(size=(400, 2))
strangers = rng.uniform(-1.8, 1.8, size=(60, 2))

# %%
# With a kernel, the region may have any shape: here a ring, with a hole in it.

model = OneClassSVM(nu=0.05, gamma=4.0, stopping="gap", tol=1e-4).fit(ring)
print(f"{np.mean(model.predict(ring) < 0):.1%} of the training examples are outside, proven gap {model.gap_:.1e}")
print(f"{np.mean(model.predict(strangers) < 0):.1%} of the strangers are")

grid = np.stack(np.meshgrid(*[np.linspace(-2.0, 2.0, 120)] * 2), axis=-1)
scores = model.decision_function(grid.reshape(-1, 2)).reshape(120, 120)
fig, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.contourf(grid[..., 0], grid[..., 1], scores >= 0.0, levels=[0.5, 1.5], colors=["lightsteelblue"])
ax.scatter(*ring.T, s=8, label="training examples")
ax.scatter(*strangers.T, s=16, marker="x", c="tab:red", label="strangers")
ax.set_aspect("equal")
ax.legend(loc="upper right")
plt.show()

# %%
# Many features, many rows: the linear one keeps what lies far from the origin in a common direction.

counts = rng.poisson(3.0, size=(50_000, 40)).astype(float)
linear = LinearOneClassSVM(nu=0.01).fit(counts)
quiet = rng.poisson(1.0, size=(1_000, 40)).astype(float)
print(f"linear: {np.mean(linear.predict(quiet) < 0):.1%} of the quiet ones are told, proven gap {linear.gap_:.1e}")
