"""What a structured model is: a joint feature map, a loss, and two searches over labellings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, Protocol

import numpy as np

from cutplane._types import Array, Document
from cutplane.proof.rounding import Rounding
from cutplane.solvers.base import Cut
from cutplane.structured.factored import Examples, ExampleT, Factors, LabelT
from cutplane.structured.vectors import VectorLike


class OracleError(ValueError):
    """A model broke its contract: the message names the example and what was expected."""


class StructuredModel(ABC, Generic[ExampleT, LabelT]):
    """Labels that are objects: sequences, trees, matchings.

    The prediction for x is the labelling y with the highest score <w, joint_feature(x, y)>. A new model implements the
    four abstract methods; `cutplane.testing.check_oracle` tries them out.

    A model may name the types of its examples and labellings, for type checkers:
    ``class Tree(StructuredModel[Sentence, Parse])``.

    Requires: `joint_feature` has the same length for every pair; ``loss(y, y)`` is 0 and no loss is negative. Ensures,
    while `exact` is True: no labelling beats the one that `argmax` and the loss-augmented search return. The truth
    itself is always one of the labellings searched.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane import StructuralSVM
    >>> from cutplane.structured import StructuredModel
    >>> class Nearest(StructuredModel):
    ...     "One of three numbers, the nearest to x; a mistake costs the distance."
    ...
    ...     def joint_feature(self, x, y):
    ...         return np.array([x * y, -0.5 * y * y])
    ...
    ...     def loss(self, y, y_hat):
    ...         return abs(y - y_hat)
    ...
    ...     def argmax(self, x, w):
    ...         return max((0, 1, 2), key=lambda y: w @ self.joint_feature(x, y))
    ...
    ...     def loss_augmented_argmax(self, x, y, w):
    ...         return max((0, 1, 2), key=lambda z: self.loss(y, z) + w @ self.joint_feature(x, z))
    >>> StructuralSVM(Nearest(), C=10.0).fit([0.1, 0.9, 2.2], [0, 1, 2]).predict([-1.0, 1.2, 3.0])
    [0, 1, 2]
    """

    #: Whether the searches find the best labelling. Planes of an inexact model hold, but nothing is certified with it.
    exact: bool = True
    #: How many axes an example has that is an array of numbers; None: examples are the model's own to look at.
    axes: int | None = None

    @abstractmethod
    def joint_feature(self, x: ExampleT, y: LabelT) -> VectorLike:
        """The features of a labelled example: a vector, or a sparse matrix of one row."""

    @abstractmethod
    def loss(self, y: LabelT, y_hat: LabelT) -> float:
        """What it costs to predict `y_hat` where y is true."""

    @abstractmethod
    def argmax(self, x: ExampleT, w: Array) -> LabelT:
        """The labelling of x with the highest score <w, joint_feature(x, y)>."""

    @abstractmethod
    def loss_augmented_argmax(self, x: ExampleT, y: LabelT, w: Array) -> LabelT:
        """The y_hat with the highest loss(y, y_hat) + <w, joint_feature(x, y_hat)>: margin re-scaling."""

    def slack_augmented_argmax(self, x: ExampleT, y: LabelT, w: Array) -> LabelT:
        """The y_hat with the highest loss(y, y_hat)·(1 - <w, joint_feature(x, y) - joint_feature(x, y_hat)>)."""
        raise NotImplementedError(
            f"{type(self).__name__} has no slack_augmented_argmax, which rescaling='slack' needs; "
            "use rescaling='margin'."
        )

    def features(self, w: Array | None) -> int | None:
        """How many features an example has (by the weights, where that takes some); None: nobody knows."""
        return None

    def check(self, x: ExampleT, y: LabelT) -> None:
        """Raise ValueError if (x, y) is no example for this model. The message says what is wrong."""

    def params(self) -> Document | None:
        """What the constructor needs to make this model again, as JSON can hold it; None for models that cannot."""
        return None

    def factors(self) -> Factors[ExampleT, LabelT] | None:
        """How the joint kernel factorises over rows of X; None if it does not. `KernelStructuralSVM` needs it."""
        return None

    def bind(self, X: Examples[ExampleT], y: Sequence[LabelT], *, rescaling: str, n_threads: int) -> Sample | None:
        """The model bound to a sample, searched in compiled or vectorised code; None leaves it to the methods above."""
        return None

    def predict(self, X: Examples[ExampleT], w: Array, *, n_threads: int = 0) -> Sequence[LabelT]:
        """The best labelling of each x."""
        return [self.argmax(x, w) for x in X]


class Sweep:
    """The risk at some weights: one search per example.

    Parameters
    ----------
    slope : callable
        Gives the slope of the plane; called when it is first asked for.
    offset : float
        The plane <slope, .> + offset, means over the examples, touches the risk if the searches were exact.
    heights : array of shape (n,)
        Of each example's own plane at the weights: its share of the risk.
    """

    def __init__(self, slope: Callable[[], Array], offset: float, heights: Array) -> None:
        self._take_slope = slope
        self.offset = offset
        self.heights = heights
        self.value = float(np.mean(heights))

    @cached_property
    def slope(self) -> Array:
        """The slope of the plane."""
        return self._take_slope()

    @property
    def plane(self) -> Cut:
        """Slope and offset as a plane below the risk; every example counts once."""
        return Cut(self.slope, self.offset, self.value, mass=1.0)


class Ascent(Protocol):
    """Dual ascent over the examples, one block of dual variables each: see `cutplane.structured.block_ascent`."""

    def epoch(self) -> None:
        """About one visit per example."""

    def renew(self, sweep: Sweep) -> None:
        """Take the examples' gaps from a sweep at the present weights."""

    @property
    def weights(self) -> Array:
        """The weights reached."""

    def blend(self, mean: Array, share: float) -> None:
        """Move a mean towards the weights, in place: mean += share·(weights - mean)."""

    @property
    def estimate(self) -> float:
        """The dual value by running sums: not proven."""

    @property
    def gap_estimate(self) -> float:
        """The gap as the visits saw it: not proven."""

    @property
    def most_planes(self) -> int:
        """The planes that carry weight of the example that has most of them."""

    def plane(self) -> tuple[Array, float]:
        """Slope and offset of the plane that the dual variables stand for, summed up afresh."""


class Sample(Protocol):
    """A model bound to its examples: all that an objective asks."""

    @property
    def dimension(self) -> int:
        """The number of weights."""

    @property
    def examples(self) -> int:
        """The number of examples."""

    @property
    def exact(self) -> bool:
        """Whether the searches find the best labelling."""

    @property
    def rounding(self) -> Rounding:
        """What rounding does to a sweep, as far as it is known by now; reach and scale are greater than 0.

        `reach`: the lengths of an example's features for the truth and for any labelling add up to no more, times the
        loss with slack re-scaling; where features are sums, the lengths of the terms. `row_depth`, `sum_depth`: no
        height, and no entry of a slope, is a sum of more terms. `scale`: no loss is greater.
        """

    def sweep(self, w: Array) -> Sweep:
        """Search every example at w."""

    def ascent(self, C: float, seed: int) -> Ascent:
        """Block-coordinate ascent for ½|w|² + C·Σ losses, C per example."""

    def weighted(self, factors: Array) -> Sample:
        """The same examples, every plane of one times its factor: all are greater than 0 and their mean is 1."""
