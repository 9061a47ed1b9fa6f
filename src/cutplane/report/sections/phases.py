"""Where the time of training went."""

from __future__ import annotations

from cutplane.report.bars import share_bar
from cutplane.report.markup import Markup, details, element, figure, seconds, table
from cutplane.report.page import Section
from cutplane.report.trained import Trained

_WORDS = {
    "scores": "scores of all examples",
    "cut": "planes from the examples",
    "line_search": "line search",
    "qp": "reduced QP",
    "newton": "Newton systems",
    "epochs": "dual ascent",
    "interior_point": "interior point",
    "sample": "start on samples",
    "rows": "kernel rows",
    "selection": "choice of variables",
    "steps": "pair steps",
    "gradient": "gradients",
}


def section(trained: Trained) -> Section | None:
    """Seconds by phase, over all steps and problems."""
    spent: dict[str, float] = {}
    for run in trained.runs:
        for step in run:
            for name, value in step.phases.items():
                spent[name] = spent.get(name, 0.0) + value
    total = sum(run[-1].seconds for run in trained.runs)
    if not spent or total <= 0.0:
        return None
    ordered = sorted(spent.items(), key=lambda item: -item[1])
    rest = total - sum(spent.values())
    if rest > 0.005 * total:
        ordered.append(("everything else", rest))
    whole = sum(value for _, value in ordered)
    names = [_WORDS.get(name, name.replace("_", " ")) for name, _ in ordered]
    shares = [value / whole for _, value in ordered]
    words = ", ".join(f"{name} {share:.0%}" for name, share in zip(names, shares, strict=True))
    chart = share_bar("Time by phase", words, names, shares)
    rows = [(name, seconds(value), f"{value / whole:.1%}") for name, (_, value) in zip(names, ordered, strict=True)]
    body = element("div", figure(f"{seconds(total)} in the solver.", chart))
    return Section(
        "phases",
        "Where the time went",
        Markup(body + details("As a table", table("Phases", ["phase", "time", "share"], rows))),
    )
