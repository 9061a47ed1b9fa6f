"""
Splice sites: does an exon begin after this AG?
===============================================

The DNA is made: true acceptor sites tend to have C and T before CAG, as real ones do, and further up one of two branch
points, CTAAC or TGCTG. Decoys have the same letters there, each as often, but not together: no single letter gives them
away, longer k-mers do. Features are k-mers at their positions, computed as they are needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from cutplane import StringSVC
from cutplane.plotting import plot_logo

LENGTH, SITE = 60, 40
BASES = np.array(list("ACGT"))


def sites(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Windows of DNA around an AG, and whether each is a true site."""
    rng = np.random.default_rng(seed)
    true = rng.random(n) < 0.2
    letters = BASES[rng.choice(4, (n, LENGTH), p=[0.32, 0.18, 0.18, 0.32])]
    rich = BASES[rng.choice(4, (n, 12), p=[0.24, 0.28, 0.16, 0.32])]
    letters[true, SITE - 15 : SITE - 3] = rich[true]
    points = np.array([list("CTAAC"), list("TGCTG")])
    together = np.repeat(rng.integers(0, 2, n)[:, None], 5, axis=1)
    apart = rng.integers(0, 2, (n, 5))
    letters[:, SITE - 25 : SITE - 20] = points[np.where(true[:, None], together, apart), np.arange(5)]
    letters[:, SITE], letters[:, SITE + 1] = "A", "G"
    letters[true & (rng.random(n) < 0.5), SITE - 1] = "C"
    letters[true & (rng.random(n) < 0.4), SITE + 2] = "G"
    return ["".join(row) for row in letters], np.where(true, "site", "decoy")


# %%
# Longer k-mers, better models: train with orders 1, 2 and 4.

strings, labels = sites(4_000, 0)
test_strings, test_labels = sites(2_000, 1)
for order in (1, 2, 4):
    model = StringSVC(order=order, C=1.0).fit(strings, labels)
    area = roc_auc_score(test_labels == "site", model.decision_function(test_strings))
    print(f"k-mers up to {order}: {model.n_features_in_:,} features, ROC area {area:.3f}, proven gap {model.gap_:.1e}")

# %%
# What the last one looks at, as a sequence logo.

fig, ax = plt.subplots(figsize=(10, 3), layout="constrained")
plot_logo(model, ax=ax)
plt.show()
