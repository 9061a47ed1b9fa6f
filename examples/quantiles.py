"""
Quantiles, and errors that are not the same on both sides
=========================================================

``LinearSVR(loss="quantile")`` learns a line below which a given share of the targets lies. Three of them make a band,
each with its own certificate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import SplineTransformer

from cutplane import LinearSVR

rng = np.random.default_rng(0)
hours = np.sort(rng.uniform(0.0, 24.0, 3_000))
load = 3.0 + 2.0 * np.sin((hours - 6.0) * np.pi / 12.0)
load += (0.2 + 0.05 * hours) * rng.gamma(2.0, 1.0, size=len(hours))  # noise that is skewed, and grows

# %%
# A linear model of splines is a curve.

splines = SplineTransformer(n_knots=8).fit(hours[:, None])
X = splines.transform(hours[:, None])
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.scatter(hours, load, s=4, color="lightgrey")
for quantile in (0.1, 0.5, 0.9):
    model = LinearSVR(C=1.0, loss="quantile", loss_options={"quantile": quantile}).fit(X, load)
    fitted = model.predict(X)
    print(f"quantile {quantile}: {np.mean(load <= fitted):.3f} of the targets below, proven gap {model.gap_:.1e}")
    ax.plot(hours, fitted, label=f"{quantile:.0%} below")
ax.set(xlabel="hour", ylabel="load")
ax.legend()
plt.show()
