"""What the model was trained on."""

from __future__ import annotations

import numpy as np

from cutplane._types import Listed, MatrixLike, is_sparse
from cutplane.report.bars import counts
from cutplane.report.markup import Markup, element, facts, figure, number
from cutplane.report.page import Section
from cutplane.report.trained import Trained, label

_MOST_CLASSES = 20


def section(trained: Trained) -> Section | None:
    """Shape, layout and labels of the training data; what the model knows of them where these are not at hand."""
    known: list[tuple[str, object]] = [] if trained.data is None else [("Data", trained.data)]
    if trained.train is None:
        features = getattr(trained.model, "n_features_in_", None)
        if features is None and not known:
            return None
        known += [] if features is None else [("Features", f"{features:,}")]
        known += [("Classes", ", ".join(trained.classes[:12]))] if trained.classes else []
        return Section("data", "Data", facts(known))
    if trained.labels_tokens:
        labels = [label for labels in trained.train.y for label in labels]
        shape = [("Sequences", f"{len(trained.train.y):,}"), ("Tokens", f"{len(labels):,}")]
        body = [facts([*known, *shape, ("Features", f"{trained.model.n_features_in_:,}")]), _labels(labels, "Tokens")]
        return Section("data", "Data", element("div", *body, class_="pair"))
    queries = [] if trained.train.qid is None else [("Queries", f"{len(np.unique(trained.train.qid)):,}")]
    body = [facts([*known, *_shape(trained.train.X), *queries])]
    if trained.classes:
        body.append(_labels(trained.train.y))
    return Section("data", "Data", element("div", *body, class_="pair"))


def _shape(X: MatrixLike | Listed) -> list[tuple[str, object]]:
    shape = getattr(X, "shape", None)
    if shape is None:
        return [("Examples", f"{len(X):,}")]  # type: ignore[arg-type]
    found: list[tuple[str, object]] = [("Examples", f"{shape[0]:,}")]
    found += [("Features", f"{shape[1]:,}")] if len(shape) > 1 else []
    if is_sparse(X):
        cells = max(shape[0] * shape[1], 1)
        values = X.data
        found += [
            ("Stored values", f"{X.nnz:,} ({X.nnz / cells:.2%} of all)"),
            ("Per example", f"{X.nnz / max(shape[0], 1):.1f} on average"),
            ("Layout", f"sparse, {values.dtype}, {X.indices.dtype} indices"),
        ]
        found += (
            [("Features never present", f"{int(np.count_nonzero(np.bincount(X.indices, minlength=shape[1]) == 0)):,}")]
            if X.format == "csr"
            else []
        )
    elif hasattr(X, "dtype") and np.asarray(X).dtype.kind in "biuf":
        values = np.asarray(X)
        found.append(("Layout", f"dense, {values.dtype}"))
    else:
        return found
    if values.size:
        found.append(("Range of values", f"{number(float(values.min()))} to {number(float(values.max()))}"))
    return found


def _labels(y: Listed, what: str = "Examples") -> Markup:
    values, sizes = np.unique(np.asarray(y), return_counts=True)
    order = np.argsort(-sizes, kind="stable")[:_MOST_CLASSES] if len(values) > _MOST_CLASSES else np.arange(len(values))
    names = [label(values[index]) for index in order]
    shown = [float(sizes[index]) for index in order]
    words = ", ".join(f"{name} {size:,.0f}" for name, size in zip(names, shown, strict=True))
    title = f"{what} of each class"
    caption = title + (f": the commonest of {len(values)}." if len(values) > len(order) else ".")
    return figure(caption, counts(title, words, names, shown))
