"""One problem for all classes together: costs, re-scaling and features of classes, checked and put to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from cutplane._types import Array, Codes, Labels
from cutplane.estimators.common import validation
from cutplane.objectives.factory import make_multiclass
from cutplane.objectives.generic import Objective
from cutplane.proof.class_losses import ClassMargin
from cutplane.risks.base import Risk, Rows
from cutplane.risks.multiclass import RESCALINGS, Multiclass, check_cost_matrix
from cutplane.solvers.result import Result
from cutplane.sources import Source

MULTI_CLASS = ("ovr", "crammer_singer")


@dataclass(frozen=True)
class CrammerSinger:
    """The joint problem of the classes in y.

    Attributes
    ----------
    cost_matrix : array of shape (n_classes, n_classes)
    rescaling : {"margin", "slack"}
    class_features : array of shape (n_classes, q) or None
        None: every class has weights of its own.
    """

    cost_matrix: Array
    rescaling: str
    class_features: Array | None

    @classmethod
    def checked(
        cls, classes: Labels, cost_matrix: ArrayLike | None, rescaling: str, class_features: ArrayLike | None
    ) -> CrammerSinger:
        """The settings, or an error that says what is wrong with them."""
        rows = _rows_of("cost_matrix", cost_matrix)
        if rows is not None and rows != len(classes):
            raise ValueError(_wrong_size("cost_matrix", rows, classes))
        return cls(
            check_cost_matrix(cost_matrix, len(classes)),
            validation.check_choice("rescaling", rescaling, RESCALINGS),
            _check_class_features(class_features, classes),
        )

    @property
    def key(self) -> tuple[object, ...]:
        """What a warm start must find equal."""
        return self.cost_matrix, self.rescaling, self.class_features

    @property
    def costs_there(self) -> Array | None:
        """The costs of mistakes, where a device can train all classes: margins of weights of their own."""
        return self.cost_matrix if self.rescaling == "margin" and self.class_features is None else None

    @property
    def loss(self) -> ClassMargin:
        """The loss of one example, for the prover."""
        cost = self.cost_matrix
        return ClassMargin(cost, cost if self.rescaling == "slack" else np.ones_like(cost))

    def risk(self, codes: Codes, weights: Array | None, n_threads: int, rows: Rows | None = None) -> Multiclass:
        """The risk of all classes together, on some rows or all."""
        if rows is not None:
            codes, weights = codes[rows], None if weights is None else weights[rows]
        return Multiclass(
            codes,
            len(self.cost_matrix),
            self.cost_matrix,
            rescaling=self.rescaling,
            sample_weight=weights,
            n_threads=n_threads,
        )

    def objective(
        self, source: Source, risk: Risk, *, intercept: bool, origin: Array | None, relative_gap: float
    ) -> Objective:
        """The risk as a function of the weights, made for the gap that is aimed at."""
        return make_multiclass(
            source,
            cast(Multiclass, risk),
            class_features=self.class_features,
            intercept=intercept,
            origin=origin,
            relative_gap=relative_gap,
        )

    def weights_of(self, result: Result, intercept_scaling: float | None) -> tuple[Array, Array]:
        """Weights by class, shape (n_classes, n_features), and intercepts; of two classes only the difference."""
        features = self.class_features
        by_class = result.w.reshape(-1, len(self.cost_matrix) if features is None else features.shape[1]).T
        if features is not None:
            by_class = features @ by_class
        intercept = np.zeros(len(by_class)) + result.intercept
        if intercept_scaling is not None:
            intercept, by_class = intercept_scaling * by_class[:, -1], by_class[:, :-1]
        if len(by_class) == 2:
            by_class, intercept = by_class[1:] - by_class[:1], intercept[1:] - intercept[:1]
        return np.array(by_class, order="C"), intercept

    def weights_from(self, coef: Array) -> Array:
        """The other way round, where classes have weights of their own: a column for each class.

        Of two classes, whose weights are opposite at the optimum, each has half of the difference.
        """
        return np.stack([-0.5 * coef[0], 0.5 * coef[0]], axis=1) if len(coef) == 1 else np.ascontiguousarray(coef.T)


def _rows_of(name: str, value: object) -> int | None:
    """How many rows a table has; an error where it is none."""
    if value is None:
        return None
    try:
        table = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a table of numbers, one row for each class.") from None
    if table.ndim != 2:
        raise ValueError(f"{name} has the shape {table.shape}; it must be a table with one row for each class.")
    return len(table)


def _wrong_size(name: str, rows: int, classes: Labels) -> str:
    shown = ", ".join(repr(label) for label in classes[:5].tolist()) + (", ..." if len(classes) > 5 else "")
    missing = " A class that y has no example of cannot be learned." if rows > len(classes) else ""
    return f"{name} has {rows} rows, but y has {len(classes)} classes ({shown}), in this order.{missing}"


def _check_class_features(class_features: ArrayLike | None, classes: Labels) -> Array | None:
    rows = _rows_of("class_features", class_features)
    if rows is None:
        return None
    features = np.ascontiguousarray(class_features, dtype=np.float64)
    if rows != len(classes):
        raise ValueError(_wrong_size("class_features", rows, classes))
    if not features.shape[1]:
        raise ValueError("class_features has no columns; classes need at least one feature.")
    if not np.isfinite(features).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(features))[0])
        raise ValueError(f"class_features[{row}, {column}] is {features[row, column]}; every value must be finite.")
    return features
