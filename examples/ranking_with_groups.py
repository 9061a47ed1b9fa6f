"""
Ranking the results of queries
==============================

Only the order within a query counts. Some queries are easy and have good results throughout, others have none: a
regression on relevance learns mostly which query is which, a ranker learns what makes one result better than another of
the same query.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from cutplane import RankSVM
from cutplane.metrics import ndcg

QUERIES, RESULTS, FEATURES = 300, 20, 12


def queries(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Results of queries: features, relevance from 0 to 4, and the query of each."""
    rng = np.random.default_rng(seed)
    quality = np.random.default_rng(7).normal(size=FEATURES)
    qid = np.repeat(np.arange(QUERIES), RESULTS)
    easiness = rng.normal(size=QUERIES)[qid]
    X = rng.normal(size=(QUERIES * RESULTS, FEATURES))
    # Two features tell how easy the query is, and nothing about its results.
    X[:, :2] = easiness[:, None] + 0.3 * rng.normal(size=(len(X), 2))
    relevance = 0.5 * X[:, 2:] @ quality[2:] + 2.0 * easiness + 0.7 * rng.normal(size=len(X))
    return X, np.clip(np.round(relevance + 1.5), 0, 4), qid


# %%
# Train on some queries, ask for others.

X, y, qid = queries(0)
X_test, y_test, qid_test = queries(1)
model = RankSVM(C=0.1).fit(X, y, qid=qid)
print(f"{len(y):,} results of {QUERIES} queries, {model.n_pairs_:,} pairs; proven gap {model.gap_:.1e}")

at = (1, 3, 5, 10)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, scores in (("Ridge", Ridge().fit(X, y).predict(X_test)), ("RankSVM", model.predict(X_test))):
    found = [ndcg(y_test, scores, k=k, qid=qid_test) for k in at]
    print(f"{name:8}", "   ".join(f"NDCG@{k} {each:.3f}" for k, each in zip(at, found, strict=True)))
    ax.plot(at, found, marker="o", label=name)
ax.set(xlabel="k", ylabel="NDCG@k, other queries", xticks=at)
ax.legend()
plt.show()

# %%
# The report has the same figures, and more.

report = Path(tempfile.mkdtemp()) / "ranking.html"
model.report(report, X_test, y_test, qid_test=qid_test, X_train=X, y_train=y, qid_train=qid)
print(f"{report.name}: {report.stat().st_size // 1024} KB")
