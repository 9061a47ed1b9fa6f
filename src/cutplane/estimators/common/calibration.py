"""Curves that make probabilities of decision values, fitted to the decisions of a machine and kept in files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Arrays
from cutplane.plain.probabilities import Curve

KINDS = ("sigmoid", "isotonic")
_NEWTON_STEPS = 100


def fit_curve(kind: str, decisions: Array, positive: NDArray[np.bool_], weights: Array) -> Curve:
    """The curve of this kind that fits decisions of examples a machine was not trained on."""
    if kind == "sigmoid":
        return Curve(kind, _sigmoid(decisions, positive, weights), np.zeros(0))
    from sklearn.isotonic import IsotonicRegression  # half a second, which models without need not wait for

    isotonic = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    isotonic.fit(decisions, positive.astype(np.float64), sample_weight=weights)
    at, values = (np.asarray(part, np.float64) for part in (isotonic.X_thresholds_, isotonic.y_thresholds_))
    return Curve(kind, at, values)


def _sigmoid(decisions: Array, positive: NDArray[np.bool_], weights: Array) -> Array:
    """Platt's sigmoid by Newton's method with halved steps (Lin, Lin and Weng 2007), slope 0 or greater."""
    from scipy.special import expit  # imported where it is needed: most models have no probabilities

    n_positive, n_negative = float(weights[positive].sum()), float(weights[~positive].sum())
    # Platt's targets: as if one more example of either side had been seen.
    target = np.where(positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))
    scale = float(np.abs(decisions).max()) or 1.0
    f = np.column_stack([decisions / scale, np.ones_like(decisions)])

    def loss(point: Array) -> float:
        z = f @ point
        return float(weights @ (np.logaddexp(0.0, z) - target * z))

    base = np.array([0.0, np.log((n_positive + 1.0) / (n_negative + 1.0))])
    point, value = base, loss(base)
    for _ in range(_NEWTON_STEPS):
        p = expit(f @ point)
        gradient = f.T @ (weights * (p - target))
        hessian = f.T @ (f * (weights * p * (1.0 - p))[:, None]) + 1e-12 * np.eye(2)
        if np.abs(gradient).max() <= 1e-9 * weights.sum():
            break
        direction = -np.linalg.solve(hessian, gradient)
        step = 1.0
        while step > 1e-10 and not loss(point + step * direction) < value + 1e-4 * step * float(gradient @ direction):
            step /= 2.0
        if step <= 1e-10:
            break
        point = point + step * direction
        value = loss(point)
    # Decisions that point the wrong way say nothing about the class; the share of the classes does.
    return np.array([point[0] / scale, point[1]]) if point[0] > 0.0 else base


def curves_to_arrays(curves: list[Curve]) -> Arrays:
    """The curves of all machines as three arrays."""
    return {
        "calibration.lengths": np.array([len(curve.at) for curve in curves], np.int64),
        "calibration.at": np.concatenate([curve.at for curve in curves]),
        "calibration.values": np.concatenate([curve.values for curve in curves]),
    }


def curves_from_arrays(kind: str, arrays: Arrays, machines: int) -> list[Curve]:
    """The curves that `curves_to_arrays` took apart; `ValueError` if the parts do not fit."""
    lengths, at, values = (arrays[f"calibration.{name}"] for name in ("lengths", "at", "values"))
    if kind not in KINDS or lengths.shape != (machines,) or np.any(lengths < (2 if kind == "sigmoid" else 1)):
        raise ValueError("there is not one calibration curve per machine")
    expected = 0 if kind == "sigmoid" else int(lengths.sum())
    if at.shape != (int(lengths.sum()),) or values.shape != (expected,) or not np.isfinite(at).all():
        raise ValueError("the calibration curves are not of the lengths stored")
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("a calibration curve has values other than probabilities")
    cuts = np.cumsum(lengths)[:-1]
    levels = np.split(values, cuts) if expected else [values] * machines
    return [Curve(kind, *parts) for parts in zip(np.split(at, cuts), levels, strict=True)]
