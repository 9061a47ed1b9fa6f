"""Several classes as one problem, where examples lie on a device: an interior point there, and what it is worth."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cutplane._runtime.deadline import deadline
from cutplane._types import Array, Codes
from cutplane.device.class_sums import DeviceArray
from cutplane.device.joint_sums import JointExamples
from cutplane.device.source import DenseRows
from cutplane.proof.evaluation import OPERATIONS, Evaluation
from cutplane.proof.prover import InterceptBound, Plane, Prover
from cutplane.proof.rounding import UNIT, Rounding, gamma, leaning_mass
from cutplane.risks.intercept_bounds import ClassWeights
from cutplane.shards.joint import JointShard, is_factored, joint_rows
from cutplane.shards.joint_planes import JointProof, joint_plane
from cutplane.shards.lockstep import depth_of
from cutplane.solvers.bundle.planes import Bundle, plane_storage
from cutplane.solvers.newton.joint import JointInterior
from cutplane.solvers.result import Result, Step
from cutplane.solvers.run import Settings

# Fewer products of examples, features and classes are the host's.
_LEAST_WORK = 3e8
# Where rows are longer or shorter, single precision is out of its reach.
_LONGEST, _SHORTEST = 1e4, 1e-4
# Costs of mistakes, largest to smallest, that single precision is for.
_COSTS_APART = 1e3
# Factors of ten bits show the way to gaps down to the first; single precision down to the second.
_ROUGH, _LEAST_GAP = 1e-4, 1e-5
# Of the memory that is left, as much is used: weights, slacks, and three tables of scores.
_OF_MEMORY, _BYTES = 0.6, 20
# Second moments of so many features have eigenvectors.
_MOST_FEATURES = 8192
# Steps that a fit may take.
_FEWEST_ITERATIONS = 100


class JointClasses(NamedTuple):
    """Classes that are one problem: their examples' codes and weights (None: 1 each), and the costs of mistakes."""

    codes: Codes
    weights: Array | None
    cost: Array

    @property
    def total(self) -> float:
        """What all examples weigh: C per example is multiplied by it."""
        return float(len(self.codes)) if self.weights is None else float(self.weights.sum())


def is_for_joint_steps(classes: JointClasses | None, rows: DenseRows | None, settings: Settings) -> bool:
    """Whether the problem is solved on the device."""
    if classes is None or rows is None:
        return False
    (n, d), columns, most = rows.shape, len(classes.cost), settings.stopping.max_iter
    mistakes = classes.cost[~np.eye(columns, dtype=bool)]
    return (
        settings.method in ("auto", "newton")
        and (most is None or most >= _FEWEST_ITERATIONS)
        and float(n) * d * columns >= _LEAST_WORK
        and (is_factored(d + 1, columns) or d <= _MOST_FEATURES)
        and _BYTES * n * columns + 4 * n * (d + 8) <= _OF_MEMORY * rows.kernels.free_bytes
        and _SHORTEST <= rows.extent.reach <= _LONGEST
        and float(mistakes.max()) <= _COSTS_APART * float(mistakes.min())
    )


def by_joint_steps(classes: JointClasses, rows: DenseRows, settings: Settings, *, intercept: bool) -> Result:
    """What the steps led to; where the gap is not proven it has "stalled", or ran out of time."""
    settings = settings.for_risk(classes.total, None)
    kernels, stopping, C = rows.kernels, settings.stopping, settings.C
    sums, joint = kernels.class_sums(), kernels.joint_sums()
    weights = None if classes.weights is None else kernels.to_device(classes.weights / classes.weights.sum())
    codes = kernels.to_device(np.ascontiguousarray(classes.codes, np.int32))
    of = JointExamples(codes, weights, 1.0 / rows.shape[0], kernels.to_device(classes.cost))

    def allowed(upper: float) -> float:
        return max(stopping.allowed(upper, C), _LEAST_GAP * abs(upper))

    with deadline(stopping.after(time.perf_counter() - settings.began).time_limit):
        there = joint_rows(sums, rows, intercept=intercept)
        shard = JointShard(joint, there, of, classes.cost, C, rough=stopping.relative_gap >= _ROUGH)
        history = JointInterior(allowed, lambda: settings.overdue).run(shard)
        w, b = shard.weights
    p = shard.on_classes
    del shard, there
    return _Proof(classes, rows, settings, intercept=intercept).result(of, p, w[: rows.shape[1]], b, history)


class _AllClasses:
    """The risk, as far as the prover asks for what does not depend on scores."""

    lower_bound = 0.0

    def __init__(self, classes: JointClasses) -> None:
        weights = np.bincount(classes.codes, classes.weights, len(classes.cost)) / classes.total
        self._bound = ClassWeights(weights, 1.0, float(classes.cost.max()))

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation:
        """Not asked for: the device evaluates."""
        raise NotImplementedError

    def intercept_bound(self) -> InterceptBound:
        """How far apart the best intercepts are at most."""
        return self._bound


class _Proof:
    """What is proven of weights and of weights on classes, from these and the examples alone."""

    def __init__(self, classes: JointClasses, rows: DenseRows, settings: Settings, *, intercept: bool) -> None:
        (n, d), extent, columns = rows.shape, rows.extent, len(classes.cost)
        depth = depth_of(n, d) + columns + 64
        self._rounding = Rounding(extent.reach, d + 2, depth, extent.columns, scale=float(classes.cost.max()))
        self._rows, self._settings, self._intercept = rows, settings, intercept
        self._prover = Prover(_AllClasses(classes), settings.C, self._rounding, intercept=intercept)

    def result(self, of: JointExamples, p: DeviceArray, w: Array, b: Array, history: list[Step]) -> Result:
        """What they are worth."""
        if not (np.isfinite(w).all() and np.isfinite(b).all()):  # single precision has been left: begin anew
            w, b = np.zeros_like(w), np.zeros_like(b)
        if len(b) == 2:  # models keep the difference, which is rounded
            signs = np.array([-0.5, 0.5])
            w, b = np.outer(w[:, 1] - w[:, 0], signs), (b[1] - b[0]) * signs
        kernels = self._rows.kernels
        sums, joint = kernels.class_sums(), kernels.joint_sums()
        found = joint_plane(sums, joint, self._rows, of, p, w, b, free=self._intercept)
        return self._judged(found, w.ravel(), b if self._intercept else 0.0, history)

    def _judged(self, found: JointProof, w: Array, intercept: float | Array, history: list[Step]) -> Result:
        settings, rounding, prover = self._settings, self._rounding, self._prover
        off = prover.score_error(w, intercept)
        upper = prover.upper_of(w, Evaluation(found.value, self._error(found.value, w, intercept, off)))
        lean = found.lean + gamma(rounding.sum_depth) * found.mass
        mass = leaning_mass(found.mass, lean) if self._intercept else found.mass
        offset = found.offset - rounding.offset(found.offset, found.mass, found.value)
        plane = Plane(found.slope.ravel(), offset, rounding.slope(found.mass), mass)
        lower = prover.lower(plane, w, upper)
        ball = prover.radius(plane, w, upper, lower)
        bundle = Bundle(len(w), n_threads=settings.n_threads, **plane_storage(len(w), settings.stopping.relative_gap))
        bundle.add(plane.slope, plane.offset, error=plane.error)
        last = replace(history[-1], upper=upper, lower=lower, planes=1, estimate=None)
        reason = settings.why(granted=settings.stopping.proven(upper, lower, settings.C))
        return Result(w, intercept, upper, lower, [*history[:-1], last], reason, bundle, None, ball)

    def _error(self, value: float, w: Array, intercept: float | Array, off: float) -> float:
        """How far the risk can be off: every line is a difference of two scores, beside a cost."""
        rounding = self._rounding
        size = rounding.scale + 2.0 * (rounding.spread(w) + float(np.max(np.abs(intercept), initial=0.0)))
        return (2.0 * off + gamma(rounding.sum_depth) * value + OPERATIONS * UNIT * size) * (1.0 + 1e-9)
