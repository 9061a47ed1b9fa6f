"""Classes that are trained together: how far each one's scores, and the differences of two, can be from the optimum's.

The ball is one of all weights W, of shape (d, q), and class k scores x'W f_k, with f_k its features (unit vectors where
there are none). So its score moves by |x| |f_k| times the radius at most, and a difference of two by |x| |f_j - f_k|.
"""

from __future__ import annotations

import math

import numpy as np

from cutplane._types import Array
from cutplane.estimators.linear.certain_linear import Balls
from cutplane.proof.rounding import gamma, length
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
