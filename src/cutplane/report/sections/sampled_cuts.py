"""How training by sampled cuts ended: the mean loss and the cuts' model of it, and what that proves."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from cutplane.report.charts import Axis, Line, LineChart
from cutplane.report.markup import Markup, element, figure, number, paragraph, seconds
from cutplane.report.page import Section
from cutplane.report.sampled import proven
from cutplane.report.trained import Trained
from cutplane.solvers.result import Step

# A line with more points could not be told from one with these.
_MOST_POINTS = 400


def section(trained: Trained) -> Section:
    """The objective above the value of its model, and by how much the mean loss exceeds the model."""
    model = trained.model
    (certificate,) = model.certificates_
    steps = certificate.history[:: max(1, certificate.n_iter // _MOST_POINTS)]
    body = [paragraph(proven(model)), element("div", _objective(steps), _violation(model, steps), class_="pair")]
    return Section("sampled-cuts", "Convergence of the cuts", Markup("".join(body)))


def _objective(steps: list[Step]) -> Markup:
    times = [step.seconds for step in steps]
    top = min(steps[0].objective, 3.0 * max(steps[-1].objective, steps[-1].value))
    chart = LineChart(
        "Objective and model",
        f"The objective ends at {number(steps[-1].objective)}, the value of the cuts' model at "
        f"{number(steps[-1].value)}, after {seconds(times[-1])}.",
        Axis("seconds", low=0.0),
        Axis("objective", low=0.0, high=1.05 * top or 1.0),
        [
            Line("objective", times, [step.objective for step in steps], steps=True, colour=1),
            Line("value of the cuts' model", times, [step.value for step in steps], steps=True, colour=0, dashed=True),
        ],
    )
    return figure("The objective, and the value of the cuts' model of it.", chart.svg(), chart.legend())


def _violation(model: BaseEstimator, steps: list[Step]) -> Markup:
    above = [step for step in steps if step.violation > 0.0]
    if not above:
        return paragraph("No sample exceeded the model.")
    chart = LineChart(
        "Mean loss above its model",
        f"On a logarithmic axis, over time; it ends at {above[-1].violation:.1e}.",
        Axis("seconds", low=0.0),
        Axis("mean loss above the model", log=True),
        [Line("violation", [step.seconds for step in above], [step.violation for step in above], True, 6)],
        mark=(f"risk_tol {model.risk_tol:g}", float(model.risk_tol)),
    )
    return figure("By how much the mean loss exceeds the cuts' model of it.", chart.svg(), Markup(""))
