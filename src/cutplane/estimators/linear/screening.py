"""Examples of which the optimum's slope of the loss is proven: those that do not matter, and those that always do.

Where every score that the optimum can have lies on the flat side of an example's loss, its term could be left out: the
optimum stays the same (gap-safe screening, Ndiaye et al. 2017, for examples). Where every such score has the steepest
slope, the example's dual variable is at its bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, MatrixLike
from cutplane.estimators.linear.certain_intercept import InterceptCertain
from cutplane.proof.losses import Terms


class Screened(NamedTuple):
    """Of each example, whether the optimum's slope is proven to be zero, and whether to be the steepest."""

    flat: NDArray[np.bool_]
    steepest: NDArray[np.bool_]


class ScreeningModel(InterceptCertain):
    """A linear model that knows which of its training examples cannot matter."""

    def redundant_examples(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.bool_]:
        """Which training examples are proven not to matter: without them the exact optimum is the same.

        Those beyond the margin or inside of the tube for every optimum that the certificate allows, in every problem.
        Smooth losses that are flat nowhere, such as the logistic one, have none.

        Parameters
        ----------
        X, y, sample_weight
            What the model was trained on.

        Returns
        -------
        array of bool of shape (n,)
        """
        return np.asarray(self._screened(X, y, sample_weight).flat.all(axis=1))

    def bound_examples(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Which training examples are proven to be at the steepest slope of their loss: hard, or mislabelled.

        Parameters
        ----------
        X, y, sample_weight
            What the model was trained on.

        Returns
        -------
        array of bool of shape (n,) or (n, problems)
        """
        found = self._screened(X, y, sample_weight).steepest
        return found[:, 0] if found.shape[1] == 1 else found

    def _screened(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Screened:
        check_is_fitted(self)
        pattern, prepared = self._prepared_again(X, y, sample_weight)
        terms = self._terms(prepared)
        ends = self._found_ends(pattern, prepared) if self._intercept_is_free else super()._free_ends()
        low, high = self._intervals_of(prepared.X, ends).with_intercepts()
        found = [screened(each, low[:, k], high[:, k]) for k, each in enumerate(terms)]
        return Screened(*(np.stack(masks, axis=1) for masks in zip(*found, strict=True)))


def screened(terms: Terms, low: Array, high: Array) -> Screened:
    """What is proven of the slopes of losses at scores between two ends: they rise with the score."""
    y, loss = np.asarray(terms.y, np.float64), terms.loss
    off = max(loss.own_rounding(low, y), loss.own_rounding(high, y))
    least, greatest = loss.tangents(low - off, y)[0], loss.tangents(high + off, y)[1]
    lowest, highest = loss.slopes(y)
    flat = (least == 0.0) & (greatest == 0.0)
    if terms.weights is not None:
        flat |= terms.weights == 0.0
    steepest = ((greatest == lowest) & (lowest != 0.0)) | ((least == highest) & (highest != 0.0))
    return Screened(flat, steepest & ~flat)
