"""What the commands that divide examples need to know of a task: how to read, to divide and to judge its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Labels, Params
from cutplane.cli.data import Examples, Sentences, read_data

Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


class Reading(Protocol):
    """What the options say of DATA."""

    @property
    def data(self) -> Path:
        """The file."""

    @property
    def zero_based(self) -> bool | None:
        """Whether its features are numbered from 0."""

    @property
    def threads(self) -> int | None:
        """How many may read it."""

    @property
    def n_features(self) -> int | None:
        """Features, if more than it mentions."""

    @property
    def target(self) -> str | None:
        """The column to learn of a table."""

    @property
    def alphabet(self) -> str:
        """The letters of strings."""

    @property
    def template(self) -> Path | None:
        """What the features of tokens are."""

    @property
    def quiet(self) -> bool:
        """Whether to show no progress."""


class Read(NamedTuple):
    """The examples of a file, and what a model file keeps of it, for other files to be read alike."""

    examples: Examples | Sentences
    notes: dict[str, object]


class Measured(NamedTuple):
    """Figures on examples that were left out, greater is better; and the labels that classifiers say of them."""

    figures: dict[str, float]
    labels: Labels | None = None


@dataclass(frozen=True, slots=True)
class Divided:
    """A task whose examples can be divided.

    Attributes
    ----------
    read : callable
        Of what the options say: examples and notes.
    split : callable
        Of examples, a number of folds and a seed: the positions trained on and those left out, fold after fold.
    measure : callable
        Of a model and examples: the figures of the task. The first decides between models unless another is asked for.
    metadata : callable
        Of examples: what `fit` takes beside X and y.
    chooser : str or None
        The name of the estimator that chooses C itself, of linear models that share their planes.
    """

    read: Callable[[Reading], Read]
    split: Callable[[Any, int, int], Iterator[Split]]
    measure: Callable[[Any, Any], Measured]
    metadata: Callable[[Any], Params] = lambda examples: {}
    chooser: str | None = None

    def folds(self, reading: Reading, examples: Examples | Sentences, count: int, seed: int) -> Iterator[Split]:
        """The same splits; one sentence where there are too few examples for them."""
        try:
            yield from self.split(examples, count, seed)
        except ValueError as error:
            raise ValueError(f"{reading.data} cannot be divided: {str(error).rstrip('.')}.") from None


def read_numbers(reading: Reading) -> Examples:
    """The examples of an svmlight file or of a table."""
    return read_data(
        reading.data,
        zero_based=reading.zero_based,
        threads=reading.threads,
        n_features=reading.n_features,
        target=reading.target,
        quiet=reading.quiet,
    )


def number_notes(reading: Reading, examples: Examples) -> dict[str, object]:
    """What a model file keeps of such a file."""
    notes: dict[str, object] = {"zero_based": examples.zero_based}
    return notes if examples.names is None else notes | {"columns": examples.names, "target": reading.target}


def stratified(examples: Examples, count: int, seed: int) -> Iterator[Split]:
    """Folds with the same shares of the classes."""
    from sklearn.model_selection import StratifiedKFold

    least = int(np.unique(examples.y, return_counts=True)[1].min())
    if least < count:
        raise ValueError(f"a class has {least} examples only, fewer than --folds {count}")
    yield from StratifiedKFold(count, shuffle=True, random_state=seed).split(np.zeros(len(examples.y)), examples.y)


def shuffled(examples: Examples | Sentences, count: int, seed: int) -> Iterator[Split]:
    """Folds drawn at random."""
    from sklearn.model_selection import KFold

    if len(examples.y) < count:
        raise ValueError(f"it has {len(examples.y)} examples only, fewer than --folds {count}")
    yield from KFold(count, shuffle=True, random_state=seed).split(np.zeros(len(examples.y)))


def by_query(examples: Examples, count: int, seed: int) -> Iterator[Split]:
    """Folds of whole queries, as equal in size as can be; nothing is drawn."""
    from sklearn.model_selection import GroupKFold

    if examples.qid is None:
        raise ValueError("the examples have no qid, by which rankings are divided")
    queries = len(np.unique(examples.qid))
    if queries < count:
        raise ValueError(f"it has {queries} {'query' if queries == 1 else 'queries'} only, fewer than --folds {count}")
    yield from GroupKFold(count).split(np.zeros(len(examples.y)), groups=examples.qid)
