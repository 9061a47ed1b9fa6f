"""`OrdinalSVC`: classes with an order, with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from cutplane._types import Arrays, Codes, Device, Document, Labels, MatrixLike, Params, RandomState
from cutplane.device.arrays import in_type_of
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.lazy import also_lazily
from cutplane.estimators.common.parameters import keep_parameters
from cutplane.estimators.common.scored import ScoredAnywhere
from cutplane.estimators.common.stored import finite, labels_from_file, labels_to_file
from cutplane.estimators.linear.descriptions import LINEAR
from cutplane.estimators.linear.problems import Prepared
from cutplane.estimators.ranking.pair_model import PairModel
from cutplane.estimators.ranking.ranking_data import check_one_device
from cutplane.estimators.ranking.ranking_risks import made_ordinal
from cutplane.plain.decisions import Thresholds
from cutplane.plain.form import PlainForm
from cutplane.shards.registry import thresholds_of
from cutplane.solvers.result import Result, Step
from cutplane.sources import as_source


@documented(LINEAR)
class OrdinalSVC(ScoredAnywhere, ClassifierMixin, PairModel):
    """Linear classification into ordered classes, proven optimal up to `tol`.

    Minimises ½|w|² + C·n·R, where n is the number of examples and R the mean over all pairs of different classes,
    i above j, of max(0, 1 - ⟨w, xᵢ - xⱼ⟩): Herbrich's ordinal regression, all pairs in O(n log n) time. Then thresholds
    are put between the classes where they make the least absolute error on the training scores.

    Parameters
    ----------
    C
    class_order : sequence or None, default=None
        The classes from the lowest to the highest. If None: that of an ordered Categorical of pandas or an Enum of
        Polars; numbers by their value. Words of other types have no order and are refused.
    tol, absolute_tol, risk_tol, method, line_search, max_iter, time_limit, n_jobs, device, warm_start,
    random_state, on_step, checkpoint, checkpoint_every

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Weights.
    thresholds_ : array of shape (n_classes - 1,)
        Ascending; the class of an example is the number of thresholds below its score.
    classes_ : array of shape (n_classes,)
        In their order.
    certificates_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from cutplane import OrdinalSVC
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["low", "low", "middle", "middle", "high", "high"]
    >>> model = OrdinalSVC(class_order=["low", "middle", "high"]).fit(X, y)
    >>> model.predict([[0.2], [2.4], [9.0]])
    array(['low', 'middle', 'high'], dtype='<U6')
    """

    class_order: Sequence[object] | None

    def __init__(
        self,
        C: float = 1.0,
        *,
        class_order: Sequence[object] | None = None,
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: Device = None,
        warm_start: bool = False,
        random_state: RandomState = None,
        on_step: Callable[[Step], object] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        keep_parameters(locals())

    @with_callbacks
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (dense, CSR, memory-mapped, DataFrame, on a GPU) and ordered labels y.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            A pair weighs the product of its examples' weights; thresholds weigh errors by them.

        Returns
        -------
        self
        """
        check_one_device(self.device)
        training = self._training()
        rows, labels = validation.check_examples(self, X, y)
        order = _order_of(y, labels) if self.class_order is None else self.class_order
        found, codes = _ordered_classes(labels, order, training.n_threads)
        self.classes_ = in_type_of(y, found)
        weights = validation.check_weights(sample_weight, rows, None, None, labels)
        rows = self._placed(rows)
        risk = made_ordinal(rows, codes, weights, n_threads=training.n_threads)
        (result,) = self._train(training, Prepared(rows, labels, weights, [lambda part: risk], (codes,)))
        source = as_source(rows, n_threads=training.n_threads)
        self.thresholds_ = thresholds_of(source, result.w, codes, len(self.classes_), weights)
        return self

    def _fitted(self, results: list[Result]) -> Params:
        return {**super()._fitted(results), "classes_": self.classes_}

    @also_lazily
    def score_samples(self, X: MatrixLike) -> NDArray[np.float64]:
        """The score of each example: higher means a higher class."""
        return self._scores(X)

    @also_lazily
    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """The class of each example: the number of thresholds below its score."""
        scores = self._scores(X)
        return np.asarray(self.classes_[np.searchsorted(self.thresholds_, scores, side="left")])

    def _plain_model(self) -> PlainForm:
        decision = Thresholds(self.classes_, self.thresholds_)
        return PlainForm(type(self).__name__, "pairs", self._plain_scores(), decision)

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, stored = super()._to_file()
        class_arrays, classes = labels_to_file(self.classes_)
        return {**arrays, "thresholds": self.thresholds_, **class_arrays}, {**stored, "classes": classes}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        self.classes_ = labels_from_file(arrays, stored["classes"])
        self.thresholds_ = finite(arrays, "thresholds", (len(self.classes_) - 1,))
        if (np.diff(self.thresholds_) < 0.0).any():
            raise ValueError("the thresholds are not in order")

    def __sklearn_tags__(self) -> Tags:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # where the classes have no order
        return tags


def _order_of(y: object, labels: Labels) -> Sequence[object] | None:
    """The order that the type of y gives its classes; None for numbers, whose values do."""
    column = [] if hasattr(y, "dtype") else list(getattr(y, "dtypes", ()))  # the only one of a data frame
    dtype = column[0] if column else getattr(y, "dtype", None)
    categories = getattr(dtype, "categories", None)
    if categories is not None and getattr(dtype, "ordered", type(dtype).__name__ == "Enum"):
        return list(categories)
    if not all(isinstance(label, (str, bytes)) for label in labels.tolist()):
        return None
    raise ValueError(
        f"y has the class {labels.tolist()[0]!r}, and words have no order of their own; class_order=[...] gives it, "
        "from the lowest class to the highest, and so does an ordered Categorical of pandas or an Enum of Polars."
    )


def _ordered_classes(y: Labels, order: Sequence[object] | None, n_threads: int) -> tuple[Labels, Codes]:
    """The classes in their order, and the place of each example's there."""
    classes, codes = validation.check_many_labels(y, n_threads)
    if order is None:
        return classes, codes
    given = np.asarray(order)
    place = {label: k for k, label in enumerate(given.tolist())}
    if len(place) != len(given):
        raise ValueError(f"class_order={order!r} names a class twice.")
    missing = [label for label in classes.tolist() if label not in place]
    if missing:
        raise ValueError(f"y has the class {missing[0]!r}, which class_order={order!r} does not name.")
    present = [label for label in given.tolist() if label in set(classes.tolist())]
    ordered = np.array(present, dtype=classes.dtype)
    new_place = {label: k for k, label in enumerate(present)}
    return ordered, np.array([new_place[label] for label in classes.tolist()], dtype=codes.dtype)[codes]
