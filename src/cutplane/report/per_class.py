"""How well a classifier does on each of its classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import confusion_matrix

from cutplane._types import Label, Labels


class ClassReport(NamedTuple):
    """One class: how many examples it has, what was found of it, and what it was mostly taken for.

    `precision` and `recall` are NaN where nothing was said to be, or is, of the class. `cost` is the mean cost of its
    examples, their share of mistakes where no costs are given.
    """

    label: Label
    examples: int
    predicted: int
    precision: float
    recall: float
    cost: float
    mostly_taken_for: Label | None


def per_class(
    truth: ArrayLike, predicted: ArrayLike, classes: Labels, cost_matrix: ArrayLike | None = None
) -> list[ClassReport]:
    """Compare predictions with the truth, class by class.

    Parameters
    ----------
    truth, predicted : array of shape (n,)
        True and predicted labels.
    classes : array of shape (n_classes,)
        The labels that the classifier knows, as in its `classes_`.
    cost_matrix : array of shape (n_classes, n_classes), optional
        What mistakes cost; 1 each if None.

    Raises
    ------
    ValueError
        Where the truth has a label that the classifier does not know.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.report.per_class import per_class
    >>> for row in per_class(["a", "b", "b"], ["a", "b", "a"], np.array(["a", "b"])):
    ...     print(row.label, row.precision, row.recall, row.mostly_taken_for)
    a 0.5 1.0 None
    b 1.0 0.5 a
    """
    true, said = np.asarray(truth), np.asarray(predicted)
    unknown = np.flatnonzero(~np.isin(true, classes))
    if len(unknown):
        known = ", ".join(repr(label) for label in classes[:5].tolist()) + (", ..." if len(classes) > 5 else "")
        raise ValueError(
            f"Row {unknown[0]} has the label {true[unknown[:1]].tolist()[0]!r}, which the classifier does not know; "
            f"it knows {known}."
        )
    counts = confusion_matrix(true, said, labels=classes)
    costs = 1.0 - np.eye(len(classes)) if cost_matrix is None else np.asarray(cost_matrix, dtype=np.float64)
    report = []
    for k, label in enumerate(classes.tolist()):
        examples, claimed, right = int(counts[k].sum()), int(counts[:, k].sum()), int(counts[k, k])
        wrong = counts[k] * (np.arange(len(classes)) != k)
        report.append(
            ClassReport(
                label,
                examples,
                claimed,
                right / claimed if claimed else float("nan"),
                right / examples if examples else float("nan"),
                float(counts[k] @ costs[k]) / examples if examples else float("nan"),
                classes.tolist()[int(wrong.argmax())] if wrong.any() else None,
            )
        )
    return report
