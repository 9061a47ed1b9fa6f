"""
Four ways to the same certificate
=================================

``method`` chooses where planes are looked for: as in the papers ("cpa", "oca"), by Newton steps on rounded losses, or
as the data and the bounds suggest ("auto", the default). All of them prove the same gap.
"""

import matplotlib.pyplot as plt

from cutplane import LinearSVC
from cutplane.datasets import load_adult

X, y = load_adult()

fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for method in ("cpa", "oca", "newton", "auto"):
    model = LinearSVC(C=0.1, method=method, tol=1e-3).fit(X, y)
    print(f"{method:7} {model.n_iter_:4d} iterations   {model.lower_bound_:.2f} ≤ optimum ≤ {model.objective_:.2f}")
    ax.loglog([step.iteration for step in model.history_], [step.gap for step in model.history_], label=method)
ax.axhline(1e-3, color="grey", linestyle=":")
ax.set(xlabel="iteration", ylabel="proven gap", ylim=(1e-4, 2))
ax.legend()
plt.show()

# %%
# What a picture of iterations does not show is what one costs; ``history_`` has seconds, too, and
# ``cutplane.plotting.plot_convergence`` draws both bounds.
