"""What several classes as one problem ask of a device: passes over tables with a row for each example.

An example has a weight p on each class, which add up to one, and a slack s: how far its line of that class lies below
the level of the example. Tables of these are matrices of the device in single precision, a column for each class. What
is proven is in double precision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from cutplane.device.class_sums import DeviceArray


class JointExamples(NamedTuple):
    """Examples of classes that are one problem.

    Attributes
    ----------
    codes : device array of int32
        The class of each example.
    weights : device array or None
        In double precision; they sum to one.
    each : float
        The weight of an example where `weights` is None.
    cost : device array of shape (n_classes, n_classes)
        What it costs to say a class (column) of an example of another (row), in double precision.
    """

    codes: DeviceArray
    weights: DeviceArray | None
    each: float
    cost: DeviceArray


class Interior(NamedTuple):
    """Weights on classes, all positive and of each example adding up to one, and slacks, all positive."""

    p: DeviceArray
    s: DeviceArray


class InteriorSums(NamedTuple):
    """Coefficients of a plane, its offset, the risk, and weights times slacks, added up."""

    coef: DeviceArray
    value: float
    offset: float
    product: float


class JointPlane(NamedTuple):
    """The risk of some examples and a plane below it, in double precision; sizes of coefficients add up to `mass`."""

    value: float
    offset: float
    mass: float


class JointSums(ABC):
    """What a device can do for classes that are one problem."""

    xp: Any

    @abstractmethod
    def plane(self, of: JointExamples, at: Interior) -> InteriorSums:
        """The plane of the weights, and where it stands."""

    @abstractmethod
    def aimed(self, of: JointExamples, at: Interior, target: float) -> DeviceArray:
        """Coefficients after a step that changes no score, towards weights times slacks of `target`."""

    @abstractmethod
    def bent(self, of: JointExamples, at: Interior, D: DeviceArray | None) -> DeviceArray:
        """How coefficients change with scores that change by D, which is used up; without D the diagonal of that."""

    @abstractmethod
    def shares(self, of: JointExamples, at: Interior) -> DeviceArray:
        """Numbers whose products, of two classes, are minus what `bent` has beside its diagonal."""

    @abstractmethod
    def move(self, of: JointExamples, at: Interior, D: DeviceArray, target: float, most: float) -> None:
        """Make the step whose scores change by D: every example as far as it goes, up to `most` of its way to zero."""

    @abstractmethod
    def proven(
        self, of: JointExamples, p: DeviceArray, S: DeviceArray, b: DeviceArray, kept: DeviceArray | None
    ) -> JointPlane:
        """What scores S + b in double precision are worth, and the weights p; S becomes the plane's coefficients.

        `kept` are the fractions of flows, from the class of an example to another, that the plane keeps.
        """

    @abstractmethod
    def factor(self, A: DeviceArray) -> DeviceArray:
        """The Cholesky factor of a matrix; not finite where there is none."""

    @abstractmethod
    def solved(self, factor: DeviceArray, b: DeviceArray) -> DeviceArray:
        """The solution of a system whose factor is known."""
