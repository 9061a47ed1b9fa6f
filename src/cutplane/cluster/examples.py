"""The examples of a fit on a cluster, or on several GPUs: placed, surveyed, and posed as a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutplane.cluster.collections import columns_of, placed, the_client
from cutplane.cluster.local import LocalPost
from cutplane.shards.base import answers
from cutplane.shards.rounds import Line
from cutplane.shards.scattered import RemoteExamples, ScatteredSource, Whole
from cutplane.solvers.base import though_shards_are_lost

if TYPE_CHECKING:
    from cutplane.cluster.post import Post

R = TypeVar("R", bound=RemoteExamples)

# What has been placed on workers for the fit under way.
_placed: ContextVar[list[Any] | None] = ContextVar("placed", default=None)


@contextmanager
def for_one_fit() -> Iterator[None]:
    """Examples that are placed on workers inside are let go of at the end, however it comes.

    References would do the same, but only when the garbage collector next looks at cycles, or an error is forgotten.
    """
    posts: list[Any] = []
    outer = _placed.set(posts)
    try:
        yield
    finally:
        _placed.reset(outer)
        for post in posts:
            post.close()


class OnWorkers(NamedTuple, Generic[R]):
    """The parts of a collection on the workers that hold them, the names of features, and a checksum of each part."""

    parts: list[R]
    names: list[str] | None
    marks: NDArray[np.int64]


def on_workers(kind: type[R], make: Callable[..., Any], X: Any, **beside: Any) -> OnWorkers[R]:
    """make(number, X, *beside) of each partition, called where that lies, as objects of some kind."""
    from cutplane.cluster.post import Post

    return _answering(kind, Post(the_client(), placed(the_client(), make, X, **beside)), columns_of(X))


def in_threads(
    makes: Sequence[Callable[[], Any]], n_threads: int, names: list[str] | None
) -> OnWorkers[RemoteExamples]:
    """What each call makes, in a thread of this process, as the examples of a part."""
    return _answering(RemoteExamples, LocalPost(makes, n_threads), names)


def _answering(kind: type[R], post: Post | LocalPost, names: list[str] | None) -> OnWorkers[R]:
    posts = _placed.get()
    if posts is not None:
        posts.append(post)
    line = Line(post)
    return OnWorkers([kind.first(line, number) for number in range(len(post))], names, post.marks)


class ScatteredExamples:
    """The examples of a Dask collection, or of several GPUs, where they lie until the fit ends, or `source` is gone.

    Parameters
    ----------
    parts : sequence of RemoteExamples
    names : list of str or None
        Of the features.
    marks : array
        A checksum of each part.
    labels : bool
        Whether targets are classes.

    Attributes
    ----------
    source : ScatteredSource
        Of the parts that have examples.
    whole : Whole
        Labels and weights of all parts.
    """

    def __init__(self, parts: Sequence[RemoteExamples], names: list[str] | None, marks: Any, *, labels: bool) -> None:
        self.names, self.marks, self.labels = names, marks, labels
        surveys = though_shards_are_lost(lambda: answers(part.survey(labels=labels) for part in parts))
        known = [each for each in surveys if each.shape[0]]
        if not known:
            raise ValueError("No partition of X has a row.")
        features = known[0].shape[1]
        for number, each in enumerate(surveys):
            if each.shape[0] and each.shape[1] != features:
                raise ValueError(f"Partition {number} of X has {each.shape[1]} features, and others {features}.")
        full = [part for part, each in zip(parts, surveys, strict=True) if each.shape[0]]
        self.source = ScatteredSource(tuple(full), tuple(each.shape[0] for each in known), features)
        self.whole = Whole.of(known)
        if self.whole.weight <= 0.0:
            raise ValueError("sample_weight is zero for every example; at least one must be greater than 0.")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features."""
        return self.source.shape

    @classmethod
    def of_collections(
        cls, make: Callable[..., Any], X: Any, y: Any, sample_weight: Any, *, labels: bool
    ) -> ScatteredExamples:
        """Those of collections that are partitioned alike.

        make(number, X, y, sample_weight) gives the `PartExamples` of a partition: called where that lies.
        """
        return cls(*on_workers(RemoteExamples, make, X, y=y, sample_weight=sample_weight), labels=labels)

    def fold(self, number: int, folds: int, *, inside: bool) -> ScatteredExamples:
        """The examples of one of several folds, or all but these, of every part its share; none is copied."""
        labels = self.labels
        parts = [
            part.fold(number, folds, turn, inside=inside, labels=labels) for turn, part in enumerate(self.source.parts)
        ]
        return ScatteredExamples(parts, self.names, self.marks, labels=labels)

    def targets(self) -> NDArray[Any]:
        """Labels or targets of all parts: they come here."""
        parts = self.source.parts
        return np.concatenate(though_shards_are_lost(lambda: answers(part.targets() for part in parts)))

    def weights(self) -> NDArray[np.float64]:
        """What the examples of all parts weigh: it comes here."""
        parts = self.source.parts
        return np.concatenate(though_shards_are_lost(lambda: answers(part.weights() for part in parts)))
