"""Models of the same kind over a range of C."""

from __future__ import annotations

from cutplane.report.charts import Axis, Line, LineChart
from cutplane.report.markup import Markup, details, element, figure, paragraph, table
from cutplane.report.page import Section
from cutplane.report.path_points import PathPoint, path_points
from cutplane.report.trained import Trained


def section(trained: Trained) -> Section | None:
    """Held-out score and size of the weights against C."""
    if not trained.path:
        return None
    points = path_points(trained.path, trained.held_out)
    chosen = getattr(trained.model, "C", None)
    charts = []
    if points[0].score is not None:
        scores = [float(point.score or 0.0) for point in points]
        best = points[max(range(len(points)), key=scores.__getitem__)]
        charts.append(_chart("Held-out score", points, scores, f"The best is {max(scores):.4f} at C = {best.C:g}.", 0))
    charts.append(_chart("Length of the weights |w|", points, [point.norm for point in points], "", 2, log=True))
    intro = paragraph("" if chosen is None else f"This model has C = {chosen:g}.", "soft")
    rows = [
        (f"{point.C:g}", "" if point.score is None else f"{point.score:.4f}", f"{point.norm:.4g}", f"{point.gap:.1e}")
        for point in points
    ]
    whole = table("Models by C", ["C", "held-out score", "|w|", "proven gap"], rows)
    body = intro + element("div", *charts, class_="pair") + details("As a table", whole)
    return Section("path", "Over a range of C", Markup(body))


def _chart(
    title: str, points: list[PathPoint], values: list[float], words: str, colour: int, *, log: bool = False
) -> Markup:
    Cs = [point.C for point in points]
    log = log and min(values) > 0.0
    line = Line(title, Cs, values, colour=colour)
    chart = LineChart(
        title, f"{words} Against C on a logarithmic axis.", Axis("C", log=True), Axis("", log=log), [line]
    )
    return figure(f"{title}. {words}".strip(), chart.svg())
