"""`RankSVM`: linear ranking with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from cutplane._types import Arrays, Device, Document, Matrix, MatrixLike, RandomState
from cutplane.cluster.collections import is_collection
from cutplane.cluster.examples import for_one_fit
from cutplane.device.arrays import on_host
from cutplane.device.pair_risk import DevicePairRisk
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.lazy import also_lazily
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.scattered_score import gathered
from cutplane.estimators.linear.descriptions import LINEAR
from cutplane.estimators.linear.problems import Prepared
from cutplane.estimators.ranking.pair_model import PairModel
from cutplane.estimators.ranking.ranking_data import check_one_device, check_queries
from cutplane.estimators.ranking.ranking_risks import made_ranking
from cutplane.estimators.ranking.scattered_queries import scattered_ranking
from cutplane.metrics import pair_accuracy
from cutplane.plain.decisions import Value
from cutplane.plain.form import PlainForm
from cutplane.risks.ranking import RankingRisk
from cutplane.shards.scattered_pairs import ScatteredPairs
from cutplane.solvers.result import Step
from cutplane.solvers.run import Settings
from cutplane.sources import Source

WEIGHTINGS = ("queries", "pairs")


@documented(LINEAR)
class RankSVM(PairModel):
    """Linear ranking within queries, proven optimal up to `tol`.

    Minimises ½|w|² + C·Q·R, where Q is the number of queries and R the mean, over queries or over pairs, of
    max(0, 1 - ⟨w, xᵢ - xⱼ⟩) for all pairs of the same query with yᵢ > yⱼ. All pairs count, in O(n log n) time.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the margin, per query.
    weighting : {"queries", "pairs"}, default="queries"
        Whether every query weighs the same, or every pair.
    tol, absolute_tol, risk_tol, method, line_search, max_iter, time_limit, n_jobs, device, warm_start,
    random_state, on_step, checkpoint, checkpoint_every

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Weights.
    certificates_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_
    n_queries_ : int
        The queries that have a pair, Q.
    n_pairs_ : int
        The pairs compared.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import RankSVM
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [5.0, 0.0], [4.0, 1.0]]
    >>> model = RankSVM().fit(X, [0, 1, 2, 1, 0], qid=[1, 1, 1, 2, 2])
    >>> model.predict(X).argsort()
    array([0, 1, 2, 4, 3])
    >>> model.score(X, [0, 1, 2, 1, 0], qid=[1, 1, 1, 2, 2])
    1.0
    """

    weighting: str
    # Asked for wherever scikit-learn routes metadata.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(
        self,
        C: float = 1.0,
        *,
        weighting: str = "queries",
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: Device = None,
        warm_start: bool = False,
        random_state: RandomState = None,
        on_step: Callable[[Step], object] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        keep_parameters(locals())

    @with_callbacks
    @for_one_fit()
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Self:
        """Train on X (dense, CSR, memory-mapped, DataFrame, Dask, on a GPU), targets y and the query of each example.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        y : array of shape (n,)
            Targets, higher is better; only their order within a query counts.
        sample_weight : array of shape (n,), optional
            A pair weighs the product of its examples' weights.
        qid : array of shape (n,), optional
            The query of each example, of any type and in any order; if None all are one query, and a warning says so.

        Returns
        -------
        self
        """
        check_one_device(self.device)
        training = self._training()
        validation.check_choice("weighting", self.weighting, WEIGHTINGS)
        equal = self.weighting == "queries"
        scattered = scattered_ranking(self, X, y, sample_weight, qid, equal_groups=equal)
        if scattered is not None:
            return self._fit_problem(training, scattered.source, None, scattered.risk, (scattered.marks, equal))
        rows, given = validation.check_examples(self, X, y)
        ranks = validation.check_targets(given, validation.check_threads(self.n_jobs))
        queries = check_queries(qid, len(ranks))
        weights = validation.check_weights(sample_weight, rows, None, None, ranks)
        rows = self._placed(rows)
        risk = made_ranking(rows, ranks, queries, weights, equal_groups=equal, n_threads=training.n_threads)
        return self._fit_problem(training, rows, ranks, risk, (ranks, queries, equal), weights)

    def _fit_problem(
        self,
        training: Settings,
        rows: Matrix | Source,
        ranks: NDArray[np.float64] | None,
        risk: RankingRisk | DevicePairRisk | ScatteredPairs,
        key: tuple[object, ...],
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        self._train(training, Prepared(rows, ranks, weights, [lambda part: risk], key))
        self.n_queries_, self.n_pairs_ = risk.n_groups, risk.n_pairs
        return self

    @also_lazily
    def predict(self, X: MatrixLike) -> NDArray[np.float64]:
        """The score of each example: within a query, higher is better."""
        return self._scores(X)

    def score(self, X: MatrixLike, y: ArrayLike, qid: ArrayLike | None = None) -> float:
        """The share of pairs in the right order, averaged over the queries: `cutplane.metrics.pair_accuracy`."""
        if is_collection(X):
            scores, ranks, queries = gathered(self, X, y=y, qid=qid)
            return pair_accuracy(ranks, scores, qid=queries)
        return pair_accuracy(on_host(y), on_host(self.predict(X)), qid=on_host(qid))

    def _plain_model(self) -> PlainForm:
        return PlainForm(type(self).__name__, "pairs", self._plain_scores(), Value())

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, stored = super()._to_file()
        return arrays, {**stored, "n_queries": self.n_queries_, "n_pairs": self.n_pairs_}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        self.n_queries_, self.n_pairs_ = int(stored["n_queries"]), int(stored["n_pairs"])

    def __sklearn_tags__(self) -> Tags:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
