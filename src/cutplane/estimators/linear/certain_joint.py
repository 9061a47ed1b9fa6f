"""Classes that are trained together: how far each one's scores, and the differences of two, can be from the optimum's.

The ball is one of all weights W, of shape (d, q), and class k scores x'W f_k, with f_k its features (unit vectors where
there are none). So its score moves by |x| |f_k| times the radius at most, and a difference of two by |x| |f_j - f_k|.

Free intercepts are known from `cutplane.proof.class_intercepts`, for rows that are counted from a centre z. Moved all
alike they change nothing; meant are those that sum to zero. Then the mean of what scores at z change by is z times the
mean of what weights change by, which is 1/sqrt(k) of the radius long at most.
"""

from __future__ import annotations

import math

import numpy as np

from cutplane._types import Array
from cutplane.estimators.linear.certain_linear import Balls
from cutplane.proof.class_intercepts import ClassEnds
from cutplane.proof.rounding import UNIT, gamma, length, summed
from cutplane.solvers.certificates import ProblemCertificate

# For the few roundings in a length of features.
_OUTWARD = 1.0 + 1e-9


def joint_balls(certificate: ProblemCertificate, features: Array, prior: Array | None) -> Balls:
    """For each row of `coef_`: every class, or of two their difference."""
    rows = features[1:] - features[:1] if len(features) == 2 else features
    weights = math.sqrt(2.0 * max(0.0, certificate.objective)) + (0.0 if prior is None else length(prior))
    rounded = gamma(features.shape[1] + 8) * length(features) * weights * _OUTWARD
    factors = np.linalg.norm(rows, axis=1) * _OUTWARD
    radii = np.where(factors > 0.0, certificate.ball, 0.0) * np.where(factors > 0.0, factors, 1.0)
    return Balls(radii, np.full(len(rows), rounded))


def apart(features: Array) -> Array:
    """By how many radii the scores of two classes can come apart, per unit of length."""
    differences = features[:, None, :] - features[None, :, :]
    return np.asarray(np.linalg.norm(differences, axis=2) * _OUTWARD)


def gained(ends: ClassEnds) -> Array:
    """By how much the intercept of the second of two classes can gain on that of the first."""
    return np.asarray(ends.high[None, :] - ends.low[:, None])


def centred_ends(ends: ClassEnds, coef: Array, intercept: Array, radius: float) -> Array:
    """Between what a score of the optimum at the centre lies, for each row of `coef_`."""
    products = [summed(ends.centre * w) for w in coef]
    values, errors = (np.array(each) for each in zip(*products, strict=True))
    return _around(ends, values, errors, intercept, radius * math.sqrt(1.0 / len(ends.low)))


def own_ends(ends: ClassEnds, intercept: Array, radius: float) -> Array:
    """Between what the optimum's intercepts lie: what weights change at the centre is theirs no more."""
    k = len(ends.low)
    factor = math.sqrt(2.0 if k == 2 else 1.0 - 1.0 / k)
    low, high = _around(ends, np.zeros(len(intercept)), np.zeros(len(intercept)), intercept, 0.0).T
    far = radius * factor * length(ends.centre) * _OUTWARD if math.isfinite(radius) else math.inf
    return np.stack([np.nextafter(low - far, -np.inf), np.nextafter(high + far, np.inf)], axis=1)


def _around(ends: ClassEnds, values: Array, errors: Array, intercept: Array, radius: float) -> Array:
    """The ends around values that are `errors` off, intercepts included: of each class, or of two their difference."""
    if len(intercept) == 1:
        moves, shared, b = gained(ends), 0.0, intercept
        low, high = -moves[1:, 0], moves[:1, 1]
    else:
        low, high, b = ends.low, ends.high, intercept - intercept.mean()
        shared = radius * length(ends.centre) * _OUTWARD if math.isfinite(radius) else math.inf
    off = errors + shared + gamma(len(intercept) + 16) * (np.abs(values) + np.abs(intercept).max())
    return np.stack(
        [
            np.nextafter(values + b + low - off - 4.0 * UNIT * np.abs(low), -np.inf),
            np.nextafter(values + b + high + off + 4.0 * UNIT * np.abs(high), np.inf),
        ],
        axis=1,
    )
