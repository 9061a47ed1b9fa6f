"""
A loss of your own, with a certificate
======================================

A hinge that rises twice as fast for gross errors is convex, and becomes a classifier in thirty lines. One that rises
half as fast is not convex: planes would not stay below it, nothing could be proven, and the contract check says so.
"""

import matplotlib.pyplot as plt
import numpy as np

from cutplane import LinearSVC
from cutplane.datasets import load_adult
from cutplane.risks.base import Risk, ScoreCut
from cutplane.testing import check_risk


class StrictHinge(Risk):
    """The mean over the examples of max(0, z, 2z - 1) with z = 1 - y·score: twice the slope for gross errors."""

    slopes = (0.0, 1.0, 2.0)
    offsets = (0.0, 0.0, -1.0)

    def __init__(self, y, sample_weight=None):
        self.y = np.asarray(y, dtype=float)
        weights = np.ones(len(self.y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self.weights = weights / weights.sum()

    def pieces(self, scores):
        """The three lines at each example: the loss is the highest."""
        z = 1.0 - self.y * scores
        return np.stack([slope * z + offset for slope, offset in zip(self.slopes, self.offsets, strict=True)])

    def value(self, scores):
        """The risk."""
        return float(self.weights @ self.pieces(scores).max(axis=0))

    def cut(self, scores):
        """The plane that touches it: at each example the line that is highest there."""
        highest = self.pieces(scores).argmax(axis=0)
        slope, offset = np.array(self.slopes)[highest], np.array(self.offsets)[highest]
        coef = -self.weights * self.y * slope
        return ScoreCut(coef, float(self.weights @ (slope + offset)), self.value(scores))


class ForgivingHinge(StrictHinge):
    """The same with half the slope for gross errors, min(z, (z + 1) / 2) where z > 0: not convex."""

    def value(self, scores):
        """The risk."""
        z = 1.0 - self.y * scores
        return float(self.weights @ np.maximum(0.0, np.minimum(z, 0.5 * (z + 1.0))))

    def cut(self, scores):
        """The tangent, which is no plane below a function that is not convex."""
        z = 1.0 - self.y * scores
        slope = np.where(z > 1.0, 0.5, np.where(z > 0.0, 1.0, 0.0))
        coef = -self.weights * self.y * slope
        return ScoreCut(coef, self.value(scores) - float(coef @ scores), self.value(scores))


# %%
# The contract check tells the two apart.

X, y = load_adult()
sample = y[:200]
check_risk(StrictHinge(sample), n_examples=len(sample))
print("StrictHinge: every plane lies below it and touches it")
try:
    check_risk(ForgivingHinge(sample), n_examples=len(sample))
except AssertionError as error:
    print("ForgivingHinge:", str(error).splitlines()[0])
else:
    raise SystemExit("ForgivingHinge is not convex and must not pass.")

scores = np.linspace(-3.0, 2.0, 200)
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for risk in (StrictHinge, ForgivingHinge):
    ax.plot(scores, [risk([1]).value(np.array([score])) for score in scores], label=risk.__name__)
ax.set(xlabel="score of a positive example", ylabel="loss")
ax.legend()
plt.show()

# %%
# Train with the one that holds, and compare it with the hinge.

X_test, y_test = load_adult("test")
for loss in ("hinge", StrictHinge):
    model = LinearSVC(loss=loss, C=0.01, tol=1e-2).fit(X, y)
    name = loss if isinstance(loss, str) else loss.__name__
    gross = np.mean(y_test * model.decision_function(X_test) < -1.0)
    accuracy = model.score(X_test, y_test)
    print(f"{name:12} accuracy {accuracy:.3f}   gross errors {gross:.2%}   proven gap {model.gap_:.1e}")
