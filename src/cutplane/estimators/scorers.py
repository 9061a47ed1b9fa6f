"""Scorers of rankings for scikit-learn's searches: they ask for `qid` wherever it routes metadata."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from sklearn.utils._metadata_requests import _MetadataRequester

from cutplane.metrics import mean_average_precision, ndcg, pair_accuracy


class RankingScorer(_MetadataRequester):
    """A measure of scores, query by query, as GridSearchCV and cross_validate take one.

    Parameters
    ----------
    measure : callable
        Called as measure(y, scores, qid=qid); greater is better.

    Examples
    --------
    >>> import numpy as np, sklearn
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from cutplane import RankSVM
    >>> from cutplane.estimators.scorers import ndcg_scorer
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(12), 5)
    >>> y = (X[:, 0] > 0).astype(int)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     search = GridSearchCV(RankSVM(), {"C": [0.1, 1.0]}, scoring=ndcg_scorer(5), cv=GroupKFold(3))
    ...     search = search.fit(X, y, qid=qid, groups=qid)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(self, measure: Callable[..., float]) -> None:
        self._measure = measure

    def __call__(self, estimator: Any, X: Any, y: Any, qid: Any = None) -> float:
        """The measure of the estimator's scores for X."""
        scores = estimator.score_samples(X) if hasattr(estimator, "score_samples") else estimator.predict(X)
        return self._measure(y, scores, qid=qid)

    def score(self, estimator: Any, X: Any, y: Any, qid: Any = None) -> float:
        """As a call: what scikit-learn asks for the names of metadata."""
        return self(estimator, X, y, qid=qid)


def ndcg_scorer(k: int | None = 10) -> RankingScorer:
    """NDCG of the first k."""
    return RankingScorer(partial(ndcg, k=k))


def map_scorer(relevant: float = 1.0) -> RankingScorer:
    """Mean average precision; grades from `relevant` on are relevant."""
    return RankingScorer(partial(mean_average_precision, relevant=relevant))


def pair_accuracy_scorer() -> RankingScorer:
    """The share of pairs in the right order."""
    return RankingScorer(pair_accuracy)
