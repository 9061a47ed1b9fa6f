"""What a report is about: a fitted model, and what is known besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from cutplane._types import Array, Listed, MatrixLike
from cutplane.report.searched import Searched
from cutplane.solvers.certificates import ProblemCertificate
from cutplane.solvers.result import Step

T = TypeVar("T")


class Examples(NamedTuple):
    """Examples, what they should be, and of which query each is (for rankers)."""

    X: MatrixLike | Listed
    y: Listed
    qid: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class Trained:
    """A fitted model with the data it was trained and is tested on, where these are at hand.

    Parameters
    ----------
    model : estimator
    train, held_out : Examples, optional
    feature_names : sequence of str, optional
        By default those the model was fitted with, else numbers.
    first_feature : int
        The number of the first feature where there are no names: 1 in most svmlight files.
    data : str, optional
        What the training data are called.
    command : str, optional
        What trains this model again.
    files : sequence of paths
        What the command reads.
    loading : str, optional
        Python that binds X and y (and qid) to what the model was trained on.
    seconds : float, optional
        How long the whole of training took.
    path : sequence of estimators
        Models of the same kind over a range of C.
    searched : Searched, optional
        The grid that the model was chosen from.
    """

    model: BaseEstimator
    train: Examples | None = None
    held_out: Examples | None = None
    feature_names: Sequence[str] | None = None
    first_feature: int = 0
    data: str | None = None
    command: str | None = None
    files: Sequence[Path] = ()
    loading: str | None = None
    seconds: float | None = None
    path: Sequence[BaseEstimator] = ()
    searched: Searched | None = None
    _worked_out: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, make: Callable[[Trained], T]) -> T:
        """What `make` finds; several sections ask for the same, which is worked out once."""
        if make not in self._worked_out:
            self._worked_out[make] = make(self)
        found: T = self._worked_out[make]
        return found

    @property
    def runs(self) -> list[list[Step]]:
        """The history of each problem that was solved; those without steps are left out."""
        return [list(each.history) for each in self._shown]

    @property
    def labels_tokens(self) -> bool:
        """Whether examples are sequences, with a label for each token."""
        return hasattr(self.model, "transitions_")

    @property
    def classes(self) -> list[str]:
        """The labels in words; empty where the model is no classifier."""
        return [label(each) for each in getattr(self.model, "classes_", [])]

    @property
    def problems(self) -> list[str]:
        """The names of the runs."""
        return [problem_name(each.problem) for each in self._shown]

    @property
    def _shown(self) -> list[ProblemCertificate]:
        """The problems with steps that state bounds; cuts of kernel machines state estimates on the way."""
        certificates: list[ProblemCertificate] = getattr(self.model, "certificates_", [])
        return [each for each in certificates if each.history and each.history[0].estimate is None]

    def feature(self, index: int) -> str:
        """The name of a feature; a model whose features are not columns of X names them by `_feature_name`."""
        own = getattr(self.model, "_feature_name", None)
        if own is not None and self.feature_names is None:
            return str(own(index))
        names = self.feature_names if self.feature_names is not None else getattr(self.model, "feature_names_in_", None)
        return str(names[index]) if names is not None else f"feature {index + self.first_feature}"


def label(value: object) -> str:
    """A label in words; 1.0 is shown as 1."""
    plain = value.item() if isinstance(value, np.generic) else value
    return str(int(plain)) if isinstance(plain, float) and plain.is_integer() else str(plain)


def problem_name(problem: object) -> str:
    """What a problem is about, in words: see `ProblemCertificate.problem`."""
    if problem is None:
        return "the problem"
    return " against ".join(map(label, problem)) if isinstance(problem, tuple) else label(problem)


def dense_weights(model: BaseEstimator) -> Array | None:
    """`coef_` as rows of weights; None where there is none."""
    weights = getattr(model, "coef_", None)
    if weights is None:
        return None
    dense = weights.toarray() if hasattr(weights, "toarray") else weights
    return np.atleast_2d(np.asarray(dense, np.float64))
