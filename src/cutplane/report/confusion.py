"""Which labels were taken for which others, as a table."""

from __future__ import annotations

import numpy as np

from cutplane.report.evaluation import Evaluation
from cutplane.report.markup import Markup, details, element, figure, table, text
from cutplane.report.trained import label

_WIDEST_MATRIX = 12
_MOST_SHOWN = 24
_ROOMY = 6


def confusion_table(result: Evaluation, what: str = "examples") -> Markup:
    """The confusion matrix; of many classes only the pairs most often taken for each other."""
    names = [label(each) for each in result.labels]
    if len(names) > _WIDEST_MATRIX:
        return _confused(result, names, what)
    head = element(
        "tr",
        element("th", text("true \\ predicted"), scope="col"),
        *(element("th", text(name), scope="col") for name in names),
    )
    rows = []
    for name, counts in zip(names, result.confusion, strict=True):
        total = max(int(counts.sum()), 1)
        cells = []
        for count in counts:
            share = count / total
            percent = [element("small", text(f"{share:.1%}"))] if count else []
            cells.append(
                element(
                    "td",
                    text(f"{count:,}"),
                    *percent,
                    style=f"background: rgba(var(--heat), {0.05 + 0.33 * share:.2f})",
                )
            )
        rows.append(element("tr", element("th", text(name), scope="row"), *cells))
    look = "matrix dense" if len(names) > _ROOMY else "matrix"
    grid = element("table", element("thead", head), element("tbody", *rows), class_=look)
    scrolled = element("div", grid, class_="scroll", tabindex="0", role="region", aria_label="Confusion matrix")
    return figure("Confusion matrix: a row is a true class, with the share of it that was predicted so.", scrolled)


def _confused(result: Evaluation, names: list[str], what: str) -> Markup:
    """Of many classes, the pairs most often taken for each other."""
    wrong = result.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:10]
    pairs = [(*np.unravel_index(index, wrong.shape), wrong.flat[index]) for index in order if wrong.flat[index]]
    return table(
        "The most frequent confusions",
        ["true", "predicted", what],
        [(names[true], names[taken], f"{count:,}") for true, taken, count in pairs],
        shown=True,
    )


def label_table(result: Evaluation, what: str = "examples") -> Markup:
    """Precision, recall, F1 and support of each class; of many, on demand."""
    said, true, right = result.confusion.sum(axis=0), result.confusion.sum(axis=1), np.diag(result.confusion)
    rows = [
        (
            label(name),
            _share(right[k], said[k]),
            _share(right[k], true[k]),
            f"{2 * right[k] / max(said[k] + true[k], 1):.4f}",
            f"{true[k]:,}",
        )
        for k, name in enumerate(result.labels)
    ]
    whole = table("Every class", ["class", "precision", "recall", "F1", what], rows, shown=len(rows) <= _MOST_SHOWN)
    return whole if len(rows) <= _MOST_SHOWN else details(f"Every one of {len(rows)} classes", whole)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}\u00a0%" if whole else "–"
