"""The grid that a model was chosen from, by cross-validation."""

from __future__ import annotations

import numpy as np

from cutplane._types import Array
from cutplane.report.charts import Axis, Line, LineChart
from cutplane.report.heat_map import heat_map
from cutplane.report.markup import Markup, details, element, figure, paragraph, table
from cutplane.report.page import Section
from cutplane.report.searched import Searched, shown
from cutplane.report.trained import Trained


def section(trained: Trained) -> Section | None:
    """What the folds say of each C, or of each C and gamma."""
    found = trained.searched
    if found is None:
        return None
    best = found.best
    gamma = f" and gamma = {shown(found.gamma(best))}" if found.is_grid else ""
    n_folds = found.scores.shape[1]
    words = (
        f"This model has C = {shown(found.C(best))}{gamma}: a mean {found.scoring} of {found.means()[best]:.4f} over "
        f"{n_folds} folds, the best of {found.scores.shape[0]} points. Each fold was left out of the models that it "
        "judges. As the best of many, the figure is a little too good."
    )
    body = paragraph(words) + (_shades(found) if found.is_grid else element("div", *_charts(found), class_="pair"))
    head, rows = found.table()
    head[-1] = "chosen"
    whole = table("Points of the grid", head, rows)
    return Section("search", "Chosen by cross-validation", Markup(body + details("As a table", whole)))


def _charts(found: Searched) -> list[Markup]:
    means, best = found.means(), found.best
    lines = [
        Line("worst fold", found.Cs, _known(found.scores.min(axis=1)), colour=1, dashed=True),
        Line("best fold", found.Cs, _known(found.scores.max(axis=1)), colour=2, dashed=True),
        Line("mean", found.Cs, _known(means)),
    ]
    words = f"The best mean is {means[best]:.4f} at C = {shown(found.C(best))}."
    chart = LineChart(
        f"Cross-validated {found.scoring}",
        f"{words} Against C on a logarithmic axis.",
        Axis("C", log=True),
        Axis(found.scoring),
        lines,
        band=True,
    )
    parts = [figure(f"{_capital(found.scoring)} on the examples left out. {words}", chart.svg(), chart.legend())]
    if found.lengths is None:
        return parts
    line = Line("|w|", found.Cs, found.lengths, colour=2)
    log = min(found.lengths) > 0.0
    weights = LineChart(
        "Length of the weights |w|",
        "Against C on a logarithmic axis.",
        Axis("C", log=True),
        Axis("|w|", log=log),
        [line],
    )
    return [*parts, figure("Length of the weights |w|.", weights.svg())]


def _shades(found: Searched) -> Markup:
    """The means of a grid: a row for each gamma, a column for each C."""
    means = found.means().reshape(len(found.gammas), len(found.Cs))
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    # From the worst, which is faint, to the best: shades from zero would all look alike.
    shades = 0.1 + 0.9 * (means - low) / (high - low) if high > low else np.ones_like(means)
    best = divmod(found.best, len(found.Cs))
    title = f"Cross-validated {found.scoring} by C and gamma"
    words = f"From {low:.4f} to {high:.4f}, which is at C = {shown(found.C(found.best))} and gamma = "
    words += f"{shown(found.gamma(found.best))}."
    drawn = heat_map(
        title,
        words,
        [shown(gamma) for gamma in found.gammas],
        [shown(C) for C in found.Cs],
        np.nan_to_num(shades),
        cell=(34.0, 26.0),
        mark=best,
    )
    caption = f"Mean {found.scoring}, the stronger the colour the better; gamma runs downward, C to the right."
    return figure(f"{caption} {words}", drawn)


def _known(values: Array) -> list[float]:
    return [float(value) for value in np.nan_to_num(values)]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
