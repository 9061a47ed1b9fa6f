"""A user's model on its examples: every call checked, the examples searched in parallel."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Self, TypeVar

import numpy as np

from cutplane._types import Array
from cutplane.proof.rounding import Rounding
from cutplane.structured import vectors
from cutplane.structured.base import OracleError, StructuredModel, Sweep
from cutplane.structured.block_ascent import BlockAscent
from cutplane.structured.example_planes import ExamplePlane, sweep_of
from cutplane.structured.factored import Examples, ExampleT, LabelT
from cutplane.structured.tuning import ORACLE
from cutplane.structured.vectors import Vector

Found = TypeVar("Found")

RESCALINGS = ("margin", "slack")
BACKENDS = ("threads", "processes")


@dataclass(frozen=True)
class Oracle(Generic[ExampleT, LabelT]):
    """A model's searches with their results checked. Errors name the example.

    Parameters
    ----------
    model : StructuredModel
    rescaling : {"margin", "slack"}
        Whether a labelling's height is loss - <w, d> or loss·(1 - <w, d>), d the difference of features.
    dimension : int
        The length of every feature vector.
    """

    model: StructuredModel[ExampleT, LabelT]
    rescaling: str
    dimension: int

    def features(self, index: int, x: ExampleT, y: LabelT) -> Vector:
        """The joint features of an example."""
        found = self._call(index, "joint_feature", lambda: vectors.as_vector(self.model.joint_feature(x, y)))
        length = vectors.size(found)
        if length != self.dimension:
            raise OracleError(
                f"Example {index}: joint_feature has length {length}, but that of example 0 has {self.dimension}."
            )
        bad = vectors.first_nonfinite(found)
        if bad is not None:
            raise OracleError(
                f"Example {index}: joint_feature has the value {bad[1]} at feature {bad[0]}; all must be finite."
            )
        return found

    def loss(self, index: int, y: LabelT, y_hat: LabelT) -> float:
        """The loss of a labelling."""
        found = float(self._call(index, "loss", lambda: self.model.loss(y, y_hat)))
        if not (np.isfinite(found) and found >= 0.0):
            raise OracleError(f"Example {index}: loss is {found}; it must be a finite number, 0 or greater.")
        return found

    def search(self, index: int, x: ExampleT, y: LabelT, truth: Vector, w: Array) -> ExamplePlane:
        """The plane of the labelling that the loss-augmented search finds at w."""
        if self.rescaling == "margin":
            y_hat = self._call(index, "loss_augmented_argmax", lambda: self.model.loss_augmented_argmax(x, y, w))
        else:
            y_hat = self._call(index, "slack_augmented_argmax", lambda: self.model.slack_augmented_argmax(x, y, w))
        return self.plane(index, x, y, truth, y_hat, w)

    def audit(self, index: int, x: ExampleT, y: LabelT, truth: Vector, w: Array) -> None:
        """Try the labelling that is predicted at w: an exact loss-augmented search finds nothing lower."""
        found = self.search(index, x, y, truth, w).height(w)
        predicted = self._call(index, "argmax", lambda: self.model.argmax(x, w))
        rival = self.plane(index, x, y, truth, predicted, None).height(w)
        if found < rival - ORACLE.score_rounding * (1.0 + abs(found) + abs(rival)):
            raise OracleError(
                f"Example {index}: the {self.rescaling}-augmented search found a labelling of height {found:.6g}, but "
                f"the one that argmax predicts has {rival:.6g}; an exact oracle finds the highest."
            )

    def plane(self, index: int, x: ExampleT, y: LabelT, truth: Vector, y_hat: LabelT, w: Array | None) -> ExamplePlane:
        """The plane of a labelling; where it was found at w, that it is not below the truth's."""
        features, loss = self.features(index, x, y_hat), self.loss(index, y, y_hat)
        slope = vectors.combination(features, truth, loss if self.rescaling == "slack" else 1.0)
        plane = ExamplePlane(vectors.compact(slope), loss)
        if w is not None:
            self._check_height(index, plane, features, truth, w)
        return plane

    def _check_height(self, index: int, plane: ExamplePlane, features: Vector, truth: Vector, w: Array) -> None:
        """The truth is a labelling too, with height 0: an exact search finds nothing lower."""
        height = plane.height(w)
        scale = 1.0 + plane.offset * (1.0 + abs(vectors.dot(features, w)) + abs(vectors.dot(truth, w)))
        if not np.isfinite(height):
            raise OracleError(f"Example {index}: the labelling found has the height {height}; it must be finite.")
        if self.model.exact and height < -ORACLE.score_rounding * scale:
            raise OracleError(
                f"Example {index}: the labelling found by the {self.rescaling}-augmented search scores {-height:.6g} "
                "below the truth, loss included; an exact oracle finds the highest (exact = False admits it is none)."
            )

    @staticmethod
    def _call(index: int, name: str, function: Callable[[], Found]) -> Found:
        try:
            return function()
        except (OracleError, NotImplementedError):
            raise
        except Exception as error:
            raise OracleError(f"Example {index}: {name} failed ({type(error).__name__}: {error}).") from error


class Chunk(NamedTuple, Generic[ExampleT, LabelT]):
    """A run of examples, as a worker sees it."""

    begin: int
    X: Examples[ExampleT]
    y: Sequence[LabelT]
    truths: Sequence[Vector]


def search_chunk(oracle: Oracle[ExampleT, LabelT], chunk: Chunk[ExampleT, LabelT], w: Array) -> list[ExamplePlane]:
    """The planes found for a run of examples."""
    rows = zip(chunk.X, chunk.y, chunk.truths, strict=True)
    return [oracle.search(chunk.begin + k, x, y, truth, w) for k, (x, y, truth) in enumerate(rows)]


@dataclass
class OracleSample(Generic[ExampleT, LabelT]):
    """A model bound to a sample, searched by calling its methods.

    Parameters
    ----------
    model : StructuredModel
    X, y : sequences
        Examples and their labellings.
    rescaling : {"margin", "slack"}
    workers : int
        Searches side by side.
    backend : {"threads", "processes"}
        Processes serve models written in Python, threads those that release the interpreter's lock.
    on_planes : callable, optional
        Handed the planes of every sweep: how a cache of planes is filled.
    factors : array, optional
        What the planes of each example are multiplied by, its weight; of mean 1.
    """

    model: StructuredModel[ExampleT, LabelT]
    X: Examples[ExampleT]
    y: Sequence[LabelT]
    rescaling: str = "margin"
    workers: int = 1
    backend: str = "threads"
    on_planes: Callable[[list[ExamplePlane], Array], None] | None = None
    factors: Array | None = None
    dimension: int = field(init=False, default=0)
    oracle: Oracle[ExampleT, LabelT] = field(init=False)
    truths: list[Vector] = field(init=False)
    steepest: float = field(init=False, default=0.0)  # the longest slope seen
    dearest: float = field(init=False, default=1.0)  # the largest loss seen, or 1
    longest: float = field(init=False, default=0.0)  # the length of the longest features of a true labelling

    def __post_init__(self) -> None:
        first = Oracle._call(0, "joint_feature", lambda: self.model.joint_feature(self.X[0], self.y[0]))
        self.dimension = vectors.size(Oracle._call(0, "joint_feature", lambda: vectors.as_vector(first)))
        self.oracle = Oracle(self.model, self.rescaling, self.dimension)
        self.truths = []
        for index, (x, y) in enumerate(zip(self.X, self.y, strict=True)):
            self.truths.append(self.oracle.features(index, x, y))
            self.longest = max(self.longest, vectors.length(self.truths[-1]))
            own = self.oracle.loss(index, y, y)
            if own != 0.0:
                raise OracleError(f"Example {index}: loss(y, y) is {own:g}; the truth must cost nothing.")

    @property
    def exact(self) -> bool:
        """Whether the searches find the best labelling."""
        return self.model.exact

    @property
    def examples(self) -> int:
        """The number of examples."""
        return len(self.truths)

    @property
    def rounding(self) -> Rounding:
        """By the features of the true labellings and the planes seen so far: see `cutplane.structured.proof`."""
        factor = self.dearest if self.rescaling == "slack" else 1.0
        reach = (self.steepest + 2.0 * factor * self.longest) * (1.0 + 1e-9)
        depth = self.dimension + ORACLE.search_terms
        # Factors have a mean of 1, so errors that are the same for all examples are on average what they were.
        return Rounding(max(reach, ORACLE.least_reach), depth, self.examples + 16, scale=self.dearest)

    def _measure(self, planes: Sequence[ExamplePlane]) -> None:
        for plane in planes:
            self.steepest = max(self.steepest, vectors.length(plane.slope))
            self.dearest = max(self.dearest, plane.offset)

    def weighted(self, factors: Array) -> Self:
        """The same examples, every plane times the factor of its example."""
        twin = copy.copy(self)
        twin.factors = factors
        return twin

    def search(self, index: int, w: Array) -> ExamplePlane:
        """The plane found for one example."""
        plane = self.oracle.search(index, self.X[index], self.y[index], self.truths[index], w)
        self._measure([plane])
        return plane if self.factors is None else plane.times(float(self.factors[index]))

    def planes(self, w: Array) -> list[ExamplePlane]:
        """The planes found for all examples."""
        chunks = self._chunks()
        if self.workers == 1 or len(chunks) == 1:
            found = [search_chunk(self.oracle, chunk, w) for chunk in chunks]
        else:
            from joblib import Parallel, delayed

            parallel = Parallel(n_jobs=self.workers, backend="threading" if self.backend == "threads" else "loky")
            found = parallel(delayed(search_chunk)(self.oracle, chunk, w) for chunk in chunks)
        planes = [plane for part in found for plane in part]
        self._measure(planes)
        if self.factors is None:
            return planes
        return [plane.times(factor) for plane, factor in zip(planes, self.factors.tolist(), strict=True)]

    def sweep(self, w: Array) -> Sweep:
        """Search every example at w."""
        planes = self.planes(w)
        if self.on_planes is not None:
            self.on_planes(planes, w)
        return sweep_of(planes, w, self.dimension)

    def audit(self, w: Array) -> None:
        """Compare the searches at w with the predictions there: a second opinion before anything is certified."""
        for index, (x, y, truth) in enumerate(zip(self.X, self.y, self.truths, strict=True)):
            self.oracle.audit(index, x, y, truth, w)

    def ascent(self, C: float, seed: int) -> BlockAscent:
        """Block-coordinate ascent, one example at a time."""
        return BlockAscent(self, C, seed)

    def _chunks(self) -> list[Chunk[ExampleT, LabelT]]:
        count = min(ORACLE.most_chunks, self.examples)
        ends = [self.examples * (k + 1) // count for k in range(count)]
        return [
            Chunk(begin, self.X[begin:end], self.y[begin:end], self.truths[begin:end])
            for begin, end in zip([0, *ends[:-1]], ends, strict=True)
        ]
