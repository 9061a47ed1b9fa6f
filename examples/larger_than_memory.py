"""
Rows that stay on the disk
==========================

A memory map or a file of rows is read pass by pass: what remains in memory is a few numbers for each example. A map
gives the model that rows in memory give; blocks may take other steps, to a gap that is as small as you ask for.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cutplane import LinearSVC
from cutplane.sources import MappedSource, open_rows

rng = np.random.default_rng(0)
rows = rng.standard_normal((100_000, 30), dtype=np.float32)
labels = rows[:, 0] + 0.3 * rows[:, 1] > 0.5 * rng.standard_normal(len(rows))
file = Path(tempfile.mkdtemp()) / "rows.npy"
np.save(file, rows)
print(f"{file.name}: {file.stat().st_size / 1e6:.0f} MB")

# %%
# Three ways to hand over the same rows: in memory, mapped, and read in blocks whatever the memory.

steps = []
ways = {"in memory": rows, "memory map": np.load(file, mmap_mode="r"), "blocks": MappedSource(open_rows(file))}
for name, X in ways.items():
    model = LinearSVC(C=1e-3, on_step=steps.append if name == "blocks" else None).fit(X, labels)
    print(f"{name:11} gap {model.gap_:.1e}   weights of the first two features {model.coef_[0, :2].round(4)}")

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.semilogy([step.iteration for step in steps], [step.gap for step in steps], marker="o")
ax.set(xlabel="step", ylabel="proven gap", title="reading blocks")
plt.show()
