"""The examples of a fit on a cluster: placed, surveyed, and posed as a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutplane.cluster.collections import columns_of, placed, the_client
from cutplane.shards.base import answers
from cutplane.shards.rounds import Line
from cutplane.shards.scattered import RemoteExamples, ScatteredSource, Whole
from cutplane.solvers.base import though_shards_are_lost


class ScatteredExamples:
    """The examples of a Dask collection, on its workers as long as `source` lives.

    Parameters
    ----------
    make : callable
        make(number, X, y, sample_weight) gives the `PartExamples` of a partition: called where that lies.
    X, y, sample_weight : collections
        Partitioned alike.
    labels : bool
        Whether y holds classes.

    Attributes
    ----------
    source : ScatteredSource
    whole : Whole
        Labels and weights of all parts.
    names : list of str or None
        Of the features.
    marks : array
        A checksum of each part.
    """

    def __init__(self, make: Callable[..., Any], X: Any, y: Any, sample_weight: Any, *, labels: bool) -> None:
        from cutplane.cluster.post import Post

        post = Post(the_client(), placed(the_client(), make, X, y, sample_weight))
        line = Line(post)
        parts = [RemoteExamples.first(line, number) for number in range(len(post))]
        surveys = though_shards_are_lost(lambda: answers(part.survey(labels=labels) for part in parts))
        known = [each for each in surveys if each.shape[0]]
        if not known:
            raise ValueError("No partition of X has a row.")
        features = known[0].shape[1]
        for number, each in enumerate(surveys):
            if each.shape[0] and each.shape[1] != features:
                raise ValueError(f"Partition {number} of X has {each.shape[1]} features, and others {features}.")
        full = [part for part, each in zip(parts, surveys, strict=True) if each.shape[0]]
        sizes, entries = tuple(each.shape[0] for each in known), sum(each.entries for each in known)
        self.source = ScatteredSource(tuple(full), sizes, features, entries)
        self.whole = Whole.of(known)
        self.names = columns_of(X)
        self.marks = post.marks
        if self.whole.weight <= 0.0:
            raise ValueError("sample_weight is zero for every example; at least one must be greater than 0.")
