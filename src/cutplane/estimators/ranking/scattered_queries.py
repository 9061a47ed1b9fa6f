"""Rankings on collections of Dask: whole queries in each partition, checked and posed as a problem."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from cutplane.cluster.collections import is_collection
from cutplane.cluster.examples import on_workers
from cutplane.device.arrays import on_host
from cutplane.estimators.common.validation.examples import keep_names
from cutplane.estimators.common.validation.partitions import device_of_each, placed_partition
from cutplane.estimators.ranking.ranking_data import check_named_queries, warn_of_ignored
from cutplane.shards.base import answers
from cutplane.shards.part_queries import PartQueries
from cutplane.shards.scattered import ScatteredSource
from cutplane.shards.scattered_pairs import PairSurvey, RemoteQueries, ScatteredPairs
from cutplane.solvers.base import though_shards_are_lost


class ScatteredRanking(NamedTuple):
    """Examples of a ranking on the workers that hold them, and what their pairs cost."""

    source: ScatteredSource
    risk: ScatteredPairs
    marks: Any


def scattered_ranking(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, qid: Any, *, equal_groups: bool
) -> ScatteredRanking | None:
    """The queries of a Dask collection; None where X is none."""
    if not is_collection(X):
        return None
    if qid is None:
        raise ValueError("Rankings on a Dask collection need qid: pairs are within queries, each whole in a partition.")
    placed = on_workers(
        RemoteQueries, partial(_made, device_of_each(estimator)), X, y=y, sample_weight=sample_weight, qid=qid
    )
    surveys: list[PairSurvey] = though_shards_are_lost(
        lambda: answers(part.pair_survey(equal_groups=equal_groups) for part in placed.parts)
    )
    _check_whole(surveys)
    counted = sum(each.counted for each in surveys)
    useful = [(part, each) for part, each in zip(placed.parts, surveys, strict=True) if each.pairs]
    if not useful:
        raise ValueError("There is no pair to compare: in every query, y has one target only.")
    warn_of_ignored(counted - sum(each.groups for _, each in useful), counted)
    features = {each.shape[1] for _, each in useful}
    if len(features) > 1:
        raise ValueError(f"Partitions of X have {min(features)} to {max(features)} features.")
    parts, known = zip(*useful, strict=True)
    source = ScatteredSource(parts, tuple(each.shape[0] for each in known), features.pop())
    keep_names(estimator, source.features, placed.names)
    return ScatteredRanking(source, ScatteredPairs(known, equal_groups=equal_groups), placed.marks)


def _check_whole(surveys: Sequence[PairSurvey]) -> None:
    """No query may lie in two partitions: its pairs across these would be left out."""
    every = np.concatenate([each.queries for each in surveys])
    found, counts = np.unique(every, return_counts=True)
    if np.any(counts > 1):
        query = found[np.argmax(counts > 1)]
        places = [str(number) for number, each in enumerate(surveys) if query in each.queries]
        raise ValueError(
            f"Query {query} lies in the partitions {' and '.join(places[:2])}; each must be whole in one, as by "
            "sorting and repartitioning by queries."
        )


def _made(device: str | None, number: int, X: Any, y: Any, sample_weight: Any, qid: Any) -> PartQueries:
    rows, targets, weights = placed_partition(device, number, X, y, sample_weight, labels=False)
    return PartQueries(rows, targets, weights, check_named_queries(on_host(qid), len(targets)))
