"""Classes as labellings: flat ones, and the leaves of a tree."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Array, Document, Matrix, is_sparse
from cutplane.sources import as_source
from cutplane.structured.base import StructuredModel, Sweep
from cutplane.structured.costs import check_cost
from cutplane.structured.factored import ClassHinge, Examples, Factors
from cutplane.structured.oracle import OracleSample
from cutplane.structured.vectors import VectorLike, row_squares


class ClassModel(StructuredModel[VectorLike, Hashable]):
    """Classes that share the weights of their features.

    Class c has the features memberships[c] ⊗ x: one copy of x for each group it is in, so its score is the sum of its
    groups' scores.

    Parameters
    ----------
    labels : sequence
        The classes.
    memberships : array of shape (n_classes, n_groups)
    cost : array of shape (n_classes, n_classes)
        cost[true, predicted]: the loss.
    """

    axes = 1

    def __init__(self, labels: Sequence[Hashable], memberships: Array, cost: Array) -> None:
        self.labels = list(labels)
        self._codes = {label: code for code, label in enumerate(self.labels)}
        self.memberships = memberships
        self.cost = cost

    def joint_feature(self, x: VectorLike, y: Hashable) -> VectorLike:
        """One copy of x for each group of the class."""
        row = self.memberships[self._codes[y]]
        return sp.kron(row[None, :], x, format="csr") if is_sparse(x) else np.kron(row, np.asarray(x, np.float64))

    def loss(self, y: Hashable, y_hat: Hashable) -> float:
        """The cost of one class taken for another."""
        return float(self.cost[self._codes[y], self._codes[y_hat]])

    def argmax(self, x: VectorLike, w: Array) -> Hashable:
        """The class with the highest score."""
        return self.labels[int(np.argmax(self._scores(x, w)))]

    def loss_augmented_argmax(self, x: VectorLike, y: Hashable, w: Array) -> Hashable:
        """The class with the highest score plus loss."""
        return self.labels[int(np.argmax(self._scores(x, w) + self.cost[self._codes[y]]))]

    def slack_augmented_argmax(self, x: VectorLike, y: Hashable, w: Array) -> Hashable:
        """The class with the highest loss times violation."""
        code, scores = self._codes[y], self._scores(x, w)
        return self.labels[int(np.argmax(self.cost[code] * (1.0 + scores - scores[code])))]

    def features(self, w: Array | None) -> int | None:
        """As many as each group has weights."""
        return None if w is None else len(w) // self.memberships.shape[1]

    def check(self, x: VectorLike, y: Hashable) -> None:
        """The class must be known."""
        if not isinstance(y, Hashable) or y not in self._codes:
            raise ValueError(f"the class {y!r} is none of the model's {len(self.labels)} classes")

    def _scores(self, x: VectorLike, w: Array) -> Array:
        by_group = w.reshape(self.memberships.shape[1], -1)
        flat = np.ravel(x @ by_group.T if is_sparse(x) else by_group @ np.asarray(x, np.float64))
        return np.asarray(self.memberships @ flat)

    def factors(self) -> ClassFactors:
        """Scores of groups may be sums of kernel functions."""
        return ClassFactors(self)

    def codes(self, y: Sequence[Hashable]) -> NDArray[np.int64]:
        """The number of each class."""
        return np.array([self._codes[label] for label in y], dtype=np.int64)

    def bind(
        self, X: Examples[VectorLike], y: Sequence[Hashable], *, rescaling: str, n_threads: int
    ) -> ClassSample | None:
        """All examples at once, where X is a matrix."""
        if not (is_sparse(X) or isinstance(X, np.ndarray)) or X.ndim != 2:
            return None
        return ClassSample(self, X, y, self.codes(y), rescaling, n_threads)

    def predict(self, X: Examples[VectorLike], w: Array, *, n_threads: int = 0) -> list[Hashable]:
        """The class with the highest score for each row."""
        if not (is_sparse(X) or isinstance(X, np.ndarray)):
            return list(super().predict(X, w))
        by_group = w.reshape(self.memberships.shape[1], -1)
        scores = np.asarray(X @ by_group.T) @ self.memberships.T
        return [self.labels[code] for code in np.argmax(scores, axis=1)]


class MulticlassModel(ClassModel):
    """Classes with weights of their own (Crammer and Singer).

    Parameters
    ----------
    labels : sequence
        The classes.
    cost : array of shape (n_classes, n_classes), optional
        cost[true, predicted]; 1 for every mistake by default.

    Examples
    --------
    >>> from cutplane import StructuralSVM
    >>> from cutplane.structured.classes import MulticlassModel
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["up", "right", "both"]
    >>> svm = StructuralSVM(MulticlassModel(["up", "right", "both"]), C=100.0).fit(X, y)
    >>> svm.predict([[0.1, 1.0]])
    ['up']
    """

    def __init__(self, labels: Sequence[Hashable], cost: ArrayLike | None = None) -> None:
        count = len(labels)
        super().__init__(labels, np.eye(count), 1.0 - np.eye(count) if cost is None else check_cost(cost, count))

    def params(self) -> Document:
        """What the constructor needs."""
        return {"labels": self.labels, "cost": self.cost.tolist()}


class HierarchyModel(ClassModel):
    """Classes that are the leaves of a tree; the loss is half the number of edges between two leaves.

    Every node but the root has weights, and the score of a leaf is the sum of those on its path: classes that lie
    close together share what they have in common.

    Parameters
    ----------
    parents : mapping
        From each node to its parent; the root is no key.

    Examples
    --------
    >>> from cutplane.structured.classes import HierarchyModel
    >>> model = HierarchyModel({"cat": "mammal", "dog": "mammal", "mammal": "animal", "fish": "animal"})
    >>> model.labels, model.loss("cat", "dog"), model.loss("cat", "fish")
    (['cat', 'dog', 'fish'], 1.0, 1.5)
    """

    def __init__(self, parents: Mapping[Hashable, Hashable]) -> None:
        self.parents = dict(parents)
        inner = set(self.parents.values())
        roots = inner - set(self.parents)
        if len(roots) != 1:
            raise ValueError(f"parents has {len(roots)} roots (nodes without a parent); a tree has one.")
        nodes = list(self.parents)
        leaves = [node for node in nodes if node not in inner]
        paths = np.zeros((len(leaves), len(nodes)))
        for row, leaf in enumerate(leaves):
            for node in self._path(leaf):
                paths[row, nodes.index(node)] = 1.0
        common = paths @ paths.T
        depth = np.diag(common)
        super().__init__(leaves, paths, 0.5 * (depth[:, None] + depth[None, :] - 2.0 * common))

    def params(self) -> Document:
        """What the constructor needs."""
        return {"parents": self.parents}

    def _path(self, leaf: Hashable) -> list[Hashable]:
        path, node = [], leaf
        while node in self.parents:
            if node in path:
                raise ValueError(f"parents leads from {leaf!r} back to {node!r}; a tree has no circles.")
            path.append(node)
            node = self.parents[node]
        return path


class ClassFactors(Factors[VectorLike, Hashable]):
    """An example is one row, a group of classes one column."""

    def __init__(self, model: ClassModel) -> None:
        self._model = model

    def rows(self, X: Examples[VectorLike]) -> Matrix:
        """X itself."""
        return sp.csr_array(X, dtype=np.float64) if is_sparse(X) else np.asarray(X, dtype=np.float64)

    def risk(self, X: Examples[VectorLike], y: Sequence[Hashable], *, n_threads: int) -> ClassHinge:
        """The losses of labelled examples."""
        return ClassHinge(self._model.codes(y), self._model.cost, self._model.memberships)

    def label(self, X: Examples[VectorLike], scores: Array, weights: Array, *, n_threads: int) -> list[Hashable]:
        """The class with the highest score."""
        return [self._model.labels[code] for code in np.argmax(scores @ self._model.memberships.T, axis=1)]


class ClassSample(OracleSample[VectorLike, Hashable]):
    """All examples as one matrix: a sweep is two products."""

    def __init__(
        self,
        model: ClassModel,
        X: Matrix,
        y: Sequence[Hashable],
        codes: NDArray[np.int64],
        rescaling: str,
        n_threads: int,
    ) -> None:
        super().__init__(model, X, y, rescaling)
        self._source = as_source(X, n_threads=n_threads)
        self._codes = codes
        self._groups = model.memberships
        self._losses = model.cost[codes]
        # Every labelling is known: as many copies of a row as the class of most groups has.
        groups, dearest = float(np.square(model.memberships).sum(axis=1).max()), float(model.cost.max())
        self.dearest = max(1.0, dearest)
        factor = self.dearest if rescaling == "slack" else 1.0
        self.steepest = 2.0 * factor * np.sqrt(groups) * float(np.sqrt(row_squares(X).max(initial=0.0)))

    def sweep(self, w: Array) -> Sweep:
        """Search every example at w."""
        rows = np.arange(self.examples)
        by_group = np.ascontiguousarray(w.reshape(self._groups.shape[1], -1).T)
        scores = self._source.scores(by_group) @ self._groups.T
        margins = scores - scores[rows, self._codes][:, None]
        heights = self._losses * (1.0 + margins) if self.rescaling == "slack" else self._losses + margins
        found = np.argmax(heights, axis=1)
        losses = self._losses[rows, found]
        factors = np.ones(self.examples) if self.factors is None else self.factors
        scale = (losses * factors if self.rescaling == "slack" else factors) / self.examples
        coef = (self._groups[found] - self._groups[self._codes]) * scale[:, None]

        def slope() -> Array:
            return np.ascontiguousarray(self._source.combine(coef).T).ravel()

        return Sweep(slope, float(factors @ losses) / self.examples, factors * heights[rows, found])
