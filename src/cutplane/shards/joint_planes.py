"""What weights of classes that are one problem are worth, and weights of examples on classes: in double precision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutplane.device.class_sums import Array, ClassSums, DeviceArray
from cutplane.device.joint_sums import JointExamples, JointSums
from cutplane.device.source import DenseRows, rows_at_once
from cutplane.risks.multiclass import balancing_flows


class JointProof(NamedTuple):
    """A risk and a plane below it, as sums in double precision have them.

    Attributes
    ----------
    value : float
    slope : array of shape (n_features, n_classes)
    offset, mass : float
        Of the plane; sizes of coefficients added up.
    lean : float
        What coefficients of each class add up to, in size and all together.
    """

    value: float
    slope: Array
    offset: float
    mass: float
    lean: float


def joint_plane(
    sums: ClassSums,
    joint: JointSums,
    rows: DenseRows,
    of: JointExamples,
    p: DeviceArray,
    w: Array,
    intercept: Array,
    *,
    free: bool,
) -> JointProof:
    """The risk of weights and the plane of weights on classes, from these and the examples alone.

    Parameters
    ----------
    sums : ClassSums
    joint : JointSums
    rows : DenseRows
    of : JointExamples
    p : device array of shape (n, n_classes)
        Weights of examples on classes; those that add up to more than one are scaled down.
    w : array of shape (n_features, n_classes)
    intercept : array of shape (n_classes,)
    free : bool
        Whether intercepts are free: the plane is balanced.
    """
    (n, d), columns, xp = rows.shape, w.shape[1], joint.xp
    size = rows_at_once(max(d, columns))
    parts = [(begin, _part(of, begin, begin + size)) for begin in range(0, n, size)]
    b, zero = xp.asarray(np.ascontiguousarray(intercept)), xp.zeros(columns)
    flows, kept = np.zeros((columns, columns)), None
    if free:
        for begin, part in parts:
            S = xp.zeros((len(part.codes), columns))
            joint.proven(part, p[begin : begin + size], S, zero, None)
            flows += _flows(sums, joint, part, S)
        factors = balancing_flows(flows)
        flows, kept = flows * factors, xp.asarray(factors)
    there, slope, found = xp.asarray(np.ascontiguousarray(w)), xp.zeros((d, columns)), np.zeros(3)
    for begin, part in parts:
        block = rows.block(begin, begin + size, np.float64)
        S = block @ there
        found += joint.proven(part, p[begin : begin + size], S, b, kept)
        slope += block.T @ S
    lean = float(np.abs(flows.sum(axis=0) - flows.sum(axis=1)).sum())
    value, offset, mass = (float(each) for each in found)
    return JointProof(value, sums.to_host(slope), offset, mass * (1.0 + 1e-9), lean)


def _part(of: JointExamples, begin: int, end: int) -> JointExamples:
    weights = None if of.weights is None else of.weights[begin:end]
    return of._replace(codes=of.codes[begin:end], weights=weights)


def _flows(sums: ClassSums, joint: JointSums, of: JointExamples, coef: DeviceArray) -> Array:
    """By class and other class, what the coefficients move from the first to the second; zero on the diagonal."""
    columns = coef.shape[1]
    each = (of.codes[:, None] == joint.xp.arange(columns)[None, :]).astype(np.float64)
    found = sums.to_host(each.T @ coef)
    np.fill_diagonal(found, 0.0)
    return np.maximum(found, 0.0)
