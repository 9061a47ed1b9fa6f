"""How the model does on data it was not trained on."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_classifier

from cutplane._types import Array, Labels
from cutplane.report.charts import Axis, Line, LineChart
from cutplane.report.confusion import confusion_table, label_table
from cutplane.report.curves import Curve, precision_recall, roc
from cutplane.report.evaluation import Evaluation, evaluate
from cutplane.report.markup import Markup, element, facts, figure
from cutplane.report.optimum import OptimumFigures, intervals_explained, optimum_figures
from cutplane.report.page import Section
from cutplane.report.svg import COLOURS
from cutplane.report.trained import Trained, label

_BESIDE = 4  # classes of a matrix that fits beside the figures
_MOST_CURVES = COLOURS


def section(trained: Trained) -> Section | None:
    """Figures of merit, confusion matrix and curves of a classifier."""
    found = trained.once(_evaluated)
    if found is None:
        return None
    result, scores, truth = found
    optimum = trained.once(optimum_figures)
    merits, matrix = facts(_merits(result, scores, optimum)), confusion_table(result)
    if len(result.labels) <= _BESIDE:
        body = [element("div", merits, matrix, class_="pair")]
    else:
        body = [merits, element("div", matrix, label_table(result), class_="pair uneven")]
    curves = _curves(trained, truth, scores)
    if curves:
        body.append(element("div", *curves, class_="pair"))
    body += intervals_explained(optimum)
    return Section("held-out", "On held-out data", Markup("".join(body)))


def tile(trained: Trained) -> list[tuple[str, str, str]]:
    """The accuracy, for the top of the page."""
    found = trained.once(_evaluated)
    if found is None:
        return []
    result = found[0]
    note = trained.once(optimum_figures).words("accuracy") or f"{result.n_examples:,} examples"
    return [("Held-out accuracy", f"{100 * result.accuracy:.2f}\u00a0%", note)]


def _evaluated(trained: Trained) -> tuple[Evaluation, Array | None, Labels] | None:
    if trained.held_out is None or not is_classifier(trained.model) or not hasattr(trained.model, "classes_"):
        return None
    X, truth = trained.held_out.X, np.asarray(trained.held_out.y)
    if truth.ndim != 1:
        return None
    predicted = np.asarray(trained.model.predict(X))
    scores = np.asarray(trained.model.decision_function(X)) if hasattr(trained.model, "decision_function") else None
    classes = np.asarray(trained.model.classes_)
    if scores is not None and scores.shape[1:] not in ((), (len(classes),)):
        scores = None
    return evaluate(truth, predicted, scores, classes), scores, truth


def _merits(result: Evaluation, scores: Array | None, optimum: OptimumFigures) -> list[tuple[str, object]]:
    two = len(result.labels) == 2
    commonest = result.confusion.sum(axis=1).max() / max(result.n_examples, 1)
    found: list[tuple[str, object]] = [
        ("Examples", f"{result.n_examples:,}"),
        ("Accuracy", optimum.beside("accuracy", f"{100 * result.accuracy:.2f}\u00a0%")),
        ("Always the commonest class", f"{100 * commonest:.2f}\u00a0%"),
        ("Balanced accuracy", optimum.beside("balanced_accuracy", f"{100 * result.balanced_accuracy:.2f}\u00a0%")),
        (f"F1 of {label(result.labels[1])}" if two else "F1, mean over classes", f"{result.f1:.4f}"),
    ]
    if scores is not None and result.roc_area is not None:
        found.append(("Area under ROC", optimum.beside("roc_auc", f"{result.roc_area:.4f}", percent=False)))
    return found


def _curves(trained: Trained, truth: Labels, scores: Array | None) -> list[Markup]:
    if scores is None:
        return []
    classes = np.asarray(trained.model.classes_)
    columns = [(classes[1], scores)] if scores.ndim == 1 else list(zip(classes, scores.T, strict=True))
    present = [(each, column) for each, column in columns if 0 < np.count_nonzero(truth == each) < len(truth)]
    if not present:
        return []
    # Of many classes, those with the most examples: more lines could not be told apart.
    present.sort(key=lambda pair: -np.count_nonzero(truth == pair[0]))
    shown = present[:_MOST_CURVES]
    rocs = [(label(each), roc(truth == each, column)) for each, column in shown]
    precisions = [(label(each), precision_recall(truth == each, column)) for each, column in shown]
    more = "" if len(shown) == len(present) else f" The {len(shown)} commonest of {len(present)} classes."
    return [
        _chart("ROC curve", "false positive rate", "true positive rate", rocs, "area", more, diagonal=True),
        _chart("Precision and recall", "recall", "precision", precisions, "average precision", more),
    ]


def _chart(
    title: str, x: str, y: str, curves: list[tuple[str, Curve]], area: str, more: str, *, diagonal: bool = False
) -> Markup:
    words = "; ".join(f"{name}: {area} {curve.area:.4f}" for name, curve in curves)
    lines = [
        Line(f"{name}, {area} {curve.area:.3f}", curve.x, curve.y, colour=index, dashed=index % 2 == 1)
        for index, (name, curve) in enumerate(curves)
    ]
    axes = Axis(x, low=0.0, high=1.0), Axis(y, low=0.0, high=1.0)
    chart = LineChart(title, words, *axes, lines, diagonal=diagonal, points=False)
    caption = f"{title}: {area} {curves[0][1].area:.4f}." if len(curves) == 1 else f"{title}.{more}"
    return figure(caption, chart.svg(), chart.legend())
