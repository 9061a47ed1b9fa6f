"""Intervals of free intercepts: from the training rows, whose scores are known up to the ball of the optimum."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Arrays, Document, MatrixLike
from cutplane.estimators.common.training import total_weight
from cutplane.estimators.linear.certain_linear import LinearCertain, reach
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.problems import Prepared
from cutplane.proof.ball import Scored, interval
from cutplane.proof.evaluation import risk_at
from cutplane.proof.intercept_ends import intercept_ends
from cutplane.proof.losses import Terms
from cutplane.proof.rounding import UNIT, half_square
from cutplane.risks.base import Risk
from cutplane.solvers.certificates import ProblemCertificate

# Objectives of the same data agree to this, relative to their size.
_SAME = 1e-9


class InterceptCertain(LinearCertain):
    """A linear model whose intercept may be free."""

    #: Of shape (problems, 2), once `certify_intercept` was called.
    intercept_bounds_: Array

    def certify_intercept(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find between what the exact optimum's free intercepts lie, and keep that as `intercept_bounds_`.

        One pass over the data of the fit. Where the intercept is not free there is nothing to find.

        Parameters
        ----------
        X, y, sample_weight
            What the model was trained on.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if self._intercept_is_free:
            pattern, prepared = self._prepared_again(X, y, sample_weight)
            self._find_ends(pattern, prepared)
        return self

    def _prepared_again(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[BaseEstimator, Prepared]:
        """The problems of the fit, from its data; `ValueError` where these are clearly others."""
        pattern = self._proving().untrained()
        prepared: Prepared = pattern._prepare(pattern._training(), X, y, sample_weight)
        same = np.array_equal(getattr(pattern, "classes_", ()), getattr(self, "classes_", ()))
        if not same or len(prepared.problems) != len(self.certificates_):
            raise ValueError("The classes in y are not those that the model was trained on.")
        return pattern, prepared

    def _find_ends(self, pattern: BaseEstimator, prepared: Prepared) -> None:
        """Keep between what free intercepts lie, from the problems of the fit."""
        self.intercept_bounds_ = self._found_ends(pattern, prepared)

    def _found_ends(self, pattern: BaseEstimator, prepared: Prepared) -> Array:
        found = self._scored(prepared.X)
        low, high = interval(found.scores, found.errors, reach(found.lengths, self._balls().radii))
        ends = []
        for k, terms in enumerate(self._terms(prepared)):
            self._check_objective(pattern, prepared, prepared.problems[k](None), k, found)
            ends.append(intercept_ends(terms, low[:, k], high[:, k], float(self.intercept_[k])))
        return np.array(ends)

    def _terms(self, prepared: Prepared) -> list[Terms]:
        """What each problem is a sum of; `ValueError` where it is none."""
        terms = [make_risk(None).terms for make_risk in prepared.problems]
        if any(each is None for each in terms):
            raise ValueError(
                f"loss={self.loss!r} is no sum over examples that the prover knows, so that nothing is proven of a "
                "free intercept or of single examples; with fit_intercept=False scores have bounds."
            )
        return [each for each in terms if each is not None]

    def _check_objective(self, pattern: BaseEstimator, prepared: Prepared, risk: Risk, k: int, found: Scored) -> None:
        """`ValueError` where the model has another objective on these data than its certificate says."""
        coef = np.atleast_2d(dense(self.coef_))
        prior = pattern._prior_rows(len(coef), coef.shape[1])
        weighed = coef[k] if prior is None else coef[k] - prior[k]
        b = float(self.intercept_[k])
        delta = float((found.errors[:, k] + 4.0 * UNIT * (np.abs(found.scores[:, k]) + abs(b))).max(initial=0.0))
        value, error = risk_at(risk, found.scores[:, k] + b, delta)
        C = pattern.C * total_weight(risk, prepared.X.shape[0], prepared.weights)
        objective = half_square(weighed)[0] + C * value
        check_same(self.certificates_[k], objective, C * error)

    def _free_ends(self) -> Array:
        """As `certify_intercept` found them; `ValueError` where nobody has looked."""
        if not self._intercept_is_free:
            return super()._free_ends()
        if not hasattr(self, "intercept_bounds_"):
            raise ValueError(
                "The exact optimum's free intercept is known up to an interval that takes the training rows to find: "
                "call certify_intercept(X, y) with them first, or train with intercept_scaling=1.0 or "
                "fit_intercept=False."
            )
        return np.asarray(self.intercept_bounds_)

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, stored = super()._to_file()
        found = {"intercept_bounds": self.intercept_bounds_} if hasattr(self, "intercept_bounds_") else {}
        return {**arrays, **found}, stored

    def _weights_from_file(self, arrays: Arrays, shape: tuple[int, ...]) -> None:
        super()._weights_from_file(arrays, shape)
        ends = arrays.get("intercept_bounds")
        if ends is not None:
            if ends.shape != (len(self.intercept_), 2) or not (ends[:, 0] <= ends[:, 1]).all():
                raise ValueError("the bounds of the intercepts are not a low and a high one for each")
            self.intercept_bounds_ = ends


def check_same(certificate: ProblemCertificate, objective: float, error: float) -> None:
    """`ValueError` where an objective on given data, up to an error, is not what the certificate of a fit says."""
    slack = error + _SAME * abs(objective)
    if not certificate.lower_bound - slack <= objective <= certificate.objective + slack:
        raise ValueError(
            f"The model's objective on these data is {objective:.9g}, but its certificate says "
            f"{certificate.objective:.9g}: they are not the data of the fit."
        )
