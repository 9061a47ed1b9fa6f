"""A certificate as a card, for notebooks: it follows their colours, and needs nothing but itself."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from cutplane.report.markup import Markup, details, element, number, seconds, text
from cutplane.report.trained import Trained
from cutplane.report.verdict import met, tick, verdict, warning_mark

# Letters are the notebook's own, and colours are transparent, so that the card is legible on light and dark. The last
# line is for scikit-learn's diagram, whose orange letters on white have too little contrast (3 to 1).
_STYLE = """
.cutplane-card { border: 1px solid rgba(128, 128, 128, .45); border-left: 4px solid #b97800; border-radius: 8px;
  padding: .7rem 1rem; margin: .3rem 0; max-width: 46rem; background: rgba(217, 150, 20, .1); line-height: 1.45; }
.cutplane-card.met { border-left-color: #0f9960; background: rgba(15, 153, 96, .09); }
.cutplane-card header { display: flex; gap: .6rem; align-items: center; font-size: 1.1em; font-weight: 600; }
.cutplane-card header svg { flex: none; width: 22px; height: 22px; }
.cutplane-card p { margin: .3rem 0 .5rem; }
.cutplane-card dl { display: flex; flex-wrap: wrap; gap: .2rem 1.6rem; margin: 0; }
.cutplane-card dt { font-size: .82em; font-weight: 400; margin: 0; }
.cutplane-card dd { margin: 0; font-variant-numeric: tabular-nums; font-weight: 600; }
.cutplane-card details { margin-top: .5rem; }
.cutplane-card summary { cursor: pointer; }
.cutplane-card .user-set td { color: #a84300 !important; }
"""


def certificate_card(model: BaseEstimator, diagram: str) -> str:
    """What is proven of a fitted model, with scikit-learn's `diagram` of its parameters to be opened below."""
    headline, explained = verdict(model)
    done = met(model)
    words = f"{type(model).__name__}: {headline[0].lower()}{headline[1:]}"
    facts = [element("div", element("dt", text(name)), element("dd", text(value))) for name, value in _facts(model)]
    return element(
        "div",
        Markup(f"<style>{_STYLE}</style>"),
        element("header", tick() if done else warning_mark(), element("span", text(words))),
        element("p", text(explained)),
        element("dl", *facts),
        details("Parameters", Markup(diagram)),
        class_="cutplane-card met" if done else "cutplane-card",
    )


def _facts(model: BaseEstimator) -> list[tuple[str, str]]:
    trained = Trained(model)
    steps = sum(each.n_iter for each in model.certificates_)
    tol = getattr(model, "tol", None)
    features = getattr(model, "n_features_in_", None)
    return [
        ("proven gap", f"{model.gap_:.1e}" + ("" if tol is None else f" (asked for {tol:g})")),
        ("optimum", f"{number(model.lower_bound_, 6)} to {number(model.objective_, 6)}"),
        *([] if not steps else [("iterations", f"{steps:,}")]),
        ("trained in", seconds(sum(each.seconds for each in model.certificates_))),
        *([] if features is None else [("features", f"{features:,}")]),
        *([("classes", _few(trained.classes))] if trained.classes else []),
    ]


def _few(classes: list[str], most: int = 6) -> str:
    return ", ".join(classes) if len(classes) <= most else f"{', '.join(classes[:most])} and {len(classes) - most} more"
