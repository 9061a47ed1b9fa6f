"""Several classes as one problem with a softmax: multinomial logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from cutplane._types import Array, Codes
from cutplane.objectives.factory import make_softmax
from cutplane.objectives.generic import Objective
from cutplane.proof.class_losses import ClassSoftmax
from cutplane.risks.base import Risk, Rows
from cutplane.risks.softmax import Softmax
from cutplane.solvers.result import Result
from cutplane.sources import Source


@dataclass(frozen=True)
class Multinomial:
    """The one problem of three classes or more.

    Attributes
    ----------
    n_classes : int
    """

    n_classes: int

    @property
    def key(self) -> tuple[object, ...]:
        """What a warm start must find equal."""
        return (self.n_classes,)

    @property
    def costs_there(self) -> Array | None:
        """None: scores of a softmax are the host's."""
        return None

    @property
    def loss(self) -> ClassSoftmax:
        """The loss of one example, for the prover."""
        return ClassSoftmax()

    def risk(self, codes: Codes, weights: Array | None, n_threads: int, rows: Rows | None = None) -> Softmax:
        """The risk of all classes together, on some rows or all."""
        if rows is not None:
            codes, weights = codes[rows], None if weights is None else weights[rows]
        return Softmax(codes, self.n_classes, sample_weight=weights, n_threads=n_threads)

    def objective(
        self, source: Source, risk: Risk, *, intercept: bool, origin: Array | None, relative_gap: float
    ) -> Objective:
        """The risk as a function of the weights."""
        return make_softmax(source, cast(Softmax, risk), intercept=intercept)

    def weights_of(self, result: Result, intercept_scaling: float | None) -> tuple[Array, Array]:
        """Weights by class, shape (n_classes, n_features), and intercepts."""
        by_class = result.w.reshape(-1, self.n_classes).T
        intercept = np.zeros(self.n_classes) + result.intercept
        if intercept_scaling is not None:
            intercept, by_class = intercept_scaling * by_class[:, -1], by_class[:, :-1]
        return np.ascontiguousarray(by_class), intercept

    def weights_from(self, coef: Array) -> Array:
        """The other way round: a column for each class."""
        return np.ascontiguousarray(coef.T)
