"""How well a ranker orders the examples of queries it was not trained on."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_classifier

from cutplane.metrics import ndcg
from cutplane.report.charts import Axis, Line, LineChart
from cutplane.report.markup import element, facts, figure
from cutplane.report.page import Section
from cutplane.report.trained import Trained

_DEPTH = 10


def section(trained: Trained) -> Section | None:
    """NDCG by depth, where the held-out examples come in queries."""
    found = trained.once(_ndcg)
    if found is None or trained.held_out is None or trained.held_out.qid is None:
        return None
    depths = list(range(1, len(found) + 1))
    chart = LineChart(
        "NDCG by depth",
        ", ".join(f"NDCG@{depth} {value:.3f}" for depth, value in zip(depths, found, strict=True)),
        Axis("depth"),
        Axis("mean NDCG", low=0.0, high=1.0),
        [Line("mean over queries", [float(depth) for depth in depths], found)],
    )
    pairs: list[tuple[str, object]] = [
        ("Queries", f"{len(np.unique(trained.held_out.qid)):,}"),
        ("Examples", f"{len(trained.held_out.y):,}"),
        *((f"NDCG@{depth}", f"{found[depth - 1]:.4f}") for depth in (1, 3, 5, 10) if depth <= len(found)),
    ]
    curve = figure("Mean NDCG over the queries, by how many examples are looked at.", chart.svg())
    return Section("ranking", "Ranking on held-out queries", element("div", facts(pairs), curve, class_="pair"))


def tile(trained: Trained) -> list[tuple[str, str, str]]:
    """NDCG@10, for the top of the page."""
    found = trained.once(_ndcg)
    return [] if found is None else [("Held-out NDCG@10", f"{found[-1]:.4f}", "mean over queries")]


def _ndcg(trained: Trained) -> list[float] | None:
    """NDCG of the first 1 to 10, where there are queries and grades."""
    held = trained.held_out
    if held is None or held.qid is None or is_classifier(trained.model) or not hasattr(trained.model, "predict"):
        return None
    grades = np.asarray(held.y, dtype=np.float64)
    if grades.ndim != 1 or not grades.max(initial=0.0) > 0.0 or grades.min() < 0.0:
        return None
    scores = np.asarray(trained.model.predict(held.X), dtype=np.float64)
    return [ndcg(grades, scores, k=depth, qid=held.qid) for depth in range(1, _DEPTH + 1)]
