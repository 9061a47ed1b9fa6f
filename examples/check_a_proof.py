"""
A proof that anyone can check
=============================

A model file may carry the dual variables that prove its bound. ``verify`` checks them against the data and runs
no solver: it trusts neither the solver nor the file.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cutplane import LinearSVC, load, verify
from cutplane.datasets import load_adult

X, y = load_adult()
model = LinearSVC(C=0.1, tol=1e-6, keep_proof=True).fit(X, y)
file = Path(tempfile.mkdtemp()) / "adult.safetensors"
model.save(file)
received = load(file)

# %%
# The one who receives the file checks what it claims.

print(verify(received, X, y))

# %%
# Another label, another problem: the proof is not of these data, and verification says so.

altered = y.copy()
altered[0] = -altered[0]
try:
    verify(received, X, altered)
except ValueError as error:
    print(error)
else:
    raise SystemExit("A proof of other data must not pass.")

# %%
# How the bounds came together.

fig, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
seconds = np.array([step.seconds for step in model.history_])
ax.semilogy(1e3 * seconds, [step.gap for step in model.history_], marker=".")
ax.set(xlabel="milliseconds", ylabel="proven gap")
plt.show()
