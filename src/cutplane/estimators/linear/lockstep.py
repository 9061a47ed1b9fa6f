"""All classes against the rest in lockstep, where examples lie on a device: one product of matrices serves them all."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cutplane._runtime.deadline import deadline
from cutplane._types import Array
from cutplane.device.class_sums import CLASS_LOSSES, ClassExamples, ClassSums, DeviceArray, every
from cutplane.device.source import DenseRows
from cutplane.estimators.linear.against_rest import AgainstRest
from cutplane.estimators.linear.working_sets import WorkingSets
from cutplane.proof.ball import radius
from cutplane.proof.evaluation import OPERATIONS, Evaluation
from cutplane.proof.prover import InterceptBound, Plane, Prover
from cutplane.proof.rounding import UNIT, Rounding, gamma, leaning_mass
from cutplane.risks.registry import Loss
from cutplane.shards.lockstep import LockstepShard, ProvenPlanes, depth_of, proven_planes
from cutplane.solvers.bundle.planes import Bundle, plane_storage
from cutplane.solvers.newton.lockstep import Lockstep, Reached
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings

# With fewer features, passes over the examples are cheap and class by class arrives as soon.
_FEWEST_FEATURES = 256
# Where rows are longer or shorter, single precision is out of its reach.
_LONGEST, _SHORTEST = 1e8, 1e-8
# Factors of ten bits show the way to gaps down to the first; single precision down to the second.
_ROUGH, _LEAST_GAP = 1e-4, 1e-5
# Of the memory that is left, as much is used: scores, directions and coefficients of all classes in single precision,
# or the first two of these in double precision.
_OF_MEMORY, _BYTES = 0.6, 16
# The first steps are made on a sample: one of so many examples, if these are as many, in all and for each feature.
_EVERY, _LEAST_SAMPLE, _LEAST_SAMPLE_PER_FEATURE = 8, 20_000, 20
# Losses that examples beyond the margin have none of.
_FLAT = ("hinge", "squared_hinge")
# Steps that a class may take.
_FEWEST_ITERATIONS = 100


class _TwoSides:
    """The risk of a class, as far as the prover asks for what does not depend on scores."""

    lower_bound = 0.0

    def __init__(self, loss: Loss, side: float) -> None:
        self._risk = loss(np.array([-1, 1], np.int8), np.array([1.0 - side, side]))

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation:
        """Not asked for: all classes are evaluated at once."""
        raise NotImplementedError

    def intercept_bound(self) -> InterceptBound:
        """Of all examples: they lean as two of these weights do."""
        return self._risk.intercept_bound(2)


def is_for_lockstep(against: AgainstRest | None, rows: DenseRows | None, settings: Settings) -> bool:
    """Whether all classes are trained together."""
    if against is None or rows is None or against.name not in CLASS_LOSSES:
        return False
    most, sides = settings.stopping.max_iter, against.sides
    return (
        settings.method in ("auto", "newton")
        and (most is None or most >= _FEWEST_ITERATIONS)
        and rows.shape[1] >= _FEWEST_FEATURES
        and _SHORTEST <= rows.extent.reach <= _LONGEST
        and bool((sides > 0.0).all())
    )


def in_lockstep(against: AgainstRest, rows: DenseRows, settings: Settings, *, intercept: bool) -> list[Result]:
    """The result of each class; those whose gap is not proven have "stalled", or ran out of time."""
    settings = settings.for_risk(against.total, None)
    sums = rows.kernels.class_sums()
    n = rows.shape[0]
    X = rows.block(0, n, np.float32)
    at_once = max(1, int(_OF_MEMORY * rows.kernels.free_bytes / (_BYTES * n)))
    weights = None if against.weights is None else rows.kernels.to_device(against.weights / against.weights.sum())
    codes = rows.kernels.to_device(np.ascontiguousarray(against.codes, np.int32))
    found: list[Result] = []
    for begin in range(0, against.n_classes, at_once):
        classes = np.arange(begin, min(begin + at_once, against.n_classes), dtype=np.int32)
        of = ClassExamples(str(against.name), codes, weights, 1.0 / n, classes)
        found += _Group(against, rows, settings, sums, X, of, intercept=intercept).results()
    return found


class _Group:
    """Classes that are trained together.

    First on a sample, then, from there, on all examples. Of the classes that come to a stand, those that few examples
    decide are trained on these.
    """

    def __init__(
        self,
        against: AgainstRest,
        rows: DenseRows,
        settings: Settings,
        sums: ClassSums,
        X: DeviceArray,
        of: ClassExamples,
        *,
        intercept: bool,
    ) -> None:
        self._settings, self._sums, self._X, self._of, self._intercept = settings, sums, X, of, intercept
        self._proof = _Proof(against, rows, settings, intercept=intercept)
        self._sets = WorkingSets(against, rows, settings, intercept=intercept)
        self._few = against.name in _FLAT and settings.stopping.relative_gap >= _LEAST_GAP
        self._found: dict[int, Result] = {}

    def results(self) -> list[Result]:
        """The result of each; they are as close as asked for, or "stalled", or out of time."""
        with self._in_time():
            start = self._on_sample()
            reached = self._steps(self._of).run(self._shard(self._X, self._of), start)
        self._prove(np.flatnonzero(~reached.gave_up), reached)
        left = self._left
        if self._few and len(left) and not self._settings.overdue:
            some, lower = self._sets.run(self._sums, self._X, self._part(left), reached.of(left))
            self._prove(left, some, lower)
        self._prove(np.array([k for k in self._left if k not in self._found], np.int64), reached)
        return [self._ended(self._found[k]) for k in range(len(self._of.classes))]

    def _ended(self, result: Result) -> Result:
        """Classes that came to a stand before the time was up could have gone on."""
        if result.stop_reason != "stalled":
            return result
        return replace(result, stop_reason=self._settings.why(granted=False))

    @property
    def _left(self) -> NDArray[np.int64]:
        """The classes that are not proven."""
        every = range(len(self._of.classes))
        return np.array([k for k in every if k not in self._found or self._found[k].stop_reason != "gap"], np.int64)

    def _prove(self, classes: NDArray[np.int64], reached: Reached, lower: Array | None = None) -> None:
        """What some classes have reached; the better model of each is kept."""
        if not len(classes):
            return
        part = reached if len(reached.h) == len(classes) else reached.of(classes)
        earlier = [self._found.get(int(k)) for k in classes]
        known = np.array([-np.inf if each is None else each.lower for each in earlier])
        known = known if lower is None else np.maximum(known, lower)
        results = self._proof.results(self._sums, self._part(classes), part, known)
        for k, before, now in zip(classes.tolist(), earlier, results, strict=True):
            if before is None or now.upper <= before.upper:
                self._found[k] = now

    def _part(self, classes: NDArray[np.int64]) -> ClassExamples:
        return self._of._replace(classes=np.ascontiguousarray(self._of.classes[classes]))

    def _in_time(self) -> AbstractContextManager[None]:
        settings = self._settings
        return deadline(settings.stopping.after(time.perf_counter() - settings.began).time_limit)

    def _shard(self, rows: DeviceArray, examples: ClassExamples) -> LockstepShard:
        rough = self._settings.stopping.relative_gap >= _ROUGH
        return LockstepShard(self._sums, rows, examples, self._settings.C, intercept=self._intercept, rough=rough)

    def _allowed(self, upper: Array) -> Array:
        stopping = self._settings.stopping
        asked = np.maximum(
            stopping.relative_gap * upper, max(stopping.absolute_gap, stopping.risk_gap * self._settings.C)
        )
        return np.maximum(asked, _LEAST_GAP * upper)

    def _steps(self, of: ClassExamples, tells: float = 0.0) -> Lockstep:
        def allowed(upper: Array) -> Array:
            return np.maximum(tells * upper, self._allowed(upper))

        return Lockstep(allowed, lambda: self._settings.overdue, of.classes)

    def _on_sample(self) -> Reached | None:
        """Where the first steps lead, on a sample of many examples; None of few."""
        n, d = self._X.shape
        drawn = -(-n // _EVERY)
        if drawn < _LEAST_SAMPLE or drawn < _LEAST_SAMPLE_PER_FEATURE * d:
            return None
        # A closer fit to a sample says nothing of the whole.
        tells = max(self._settings.stopping.relative_gap, d / drawn)
        sample = self._shard(self._X[::_EVERY].copy(), every(self._of, _EVERY))
        return self._steps(self._of, tells).run(sample)


class _Proof:
    """What is proven of classes, from their weights and the examples alone."""

    def __init__(self, against: AgainstRest, rows: DenseRows, settings: Settings, *, intercept: bool) -> None:
        n, d = rows.shape
        extent = rows.extent
        self._rounding = Rounding(extent.reach, d, depth_of(n, d), extent.columns)
        self._against, self._rows, self._settings, self._intercept = against, rows, settings, intercept
        self._sides = against.sides

    def _prover(self, k: int) -> Prover:
        risk = _TwoSides(self._against.loss, float(self._sides[k]))
        return Prover(risk, self._settings.C, self._rounding, intercept=self._intercept)

    def results(self, sums: ClassSums, of: ClassExamples, reached: Reached, lower: Array | None = None) -> list[Result]:
        """Of each class, of which `lower` may be proven already."""
        known = np.full(len(of.classes), -np.inf) if lower is None else lower
        provers = [self._prover(k) for k in of.classes.tolist()]
        weights = np.ascontiguousarray(reached.w.T)
        off = np.array([p.score_error(*each) for p, *each in zip(provers, weights, reached.intercept, strict=True)])
        planes = proven_planes(sums, self._rows, of, reached.w, reached.intercept, reached.h, off, free=self._intercept)
        slopes = np.ascontiguousarray(planes.slope.T)
        return [
            self._result(provers[place], weights[place], slopes[place], off[place], planes, reached, known, place)
            for place in range(len(provers))
        ]

    def _result(
        self,
        prover: Prover,
        w: Array,
        slope: Array,
        off: float,
        planes: ProvenPlanes,
        reached: Reached,
        known: Array,
        place: int,
    ) -> Result:
        settings, rounding = self._settings, self._rounding
        value, mass, lean = (float(each[place]) for each in (planes.value, planes.mass, planes.lean))
        relative = gamma(rounding.sum_depth) + OPERATIONS * UNIT
        error = relative * value + float(planes.steep[place]) * (1.0 + relative) * off * (1.0 + 1e-9)
        upper = prover.upper_of(w, Evaluation(value, error))
        # Coefficients of either side add up to what they do but for the rounding of these sums.
        lean += gamma(rounding.sum_depth) * mass
        offset = float(planes.offset[place])
        offset -= rounding.offset(offset, mass, value)
        plane = Plane(slope, offset, rounding.slope(mass), leaning_mass(mass, lean) if self._intercept else mass)
        own = prover.lower(plane, w, upper)
        lower = max(own, float(known[place]))
        ball = min(prover.radius(plane, w, upper, own), radius(upper, lower))
        bundle = Bundle(len(w), n_threads=settings.n_threads, **plane_storage(len(w), settings.stopping.relative_gap))
        bundle.add(plane.slope, plane.offset, error=plane.error)
        history = reached.history[place]
        last = replace(history[-1], upper=upper, lower=lower, planes=1, estimate=None)
        reason = settings.why(granted=settings.stopping.proven(upper, lower, settings.C))
        b = float(reached.intercept[place])
        return Result(w, b, upper, lower, [*history[:-1], last], reason, bundle, None, ball)
