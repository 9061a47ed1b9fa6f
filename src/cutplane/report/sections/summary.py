"""What was proven, in one sentence and a few figures."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from cutplane.report.markup import Markup, element, seconds, text
from cutplane.report.sampled import by_samples
from cutplane.report.trained import Trained
from cutplane.report.usefulness import Useless, useless
from cutplane.report.verdict import met, tick, verdict, warning_mark


def top(trained: Trained, tiles: list[tuple[str, str, str]]) -> Markup:
    """The verdict, and the figures that matter most; `tiles` are added to those of the certificate."""
    model = trained.model
    found = useless(trained)
    first = Markup("") if found is None else _warning(found)
    if not hasattr(model, "gap_") or by_samples(model):
        return Markup(first + _tiles(tiles))
    # A certificate of a model that is of no use is no good news either: it is stated, not praised.
    look = "plain" if found is not None else "good" if met(model) else "open"
    return Markup(first + _verdict(model, look) + _tiles([*_certificate(trained), *tiles]))


def _warning(found: Useless) -> Markup:
    """What is said first of a model that is of no use."""
    advice = element("ul", *(element("li", text(each)) for each in found.advice))
    words = element(
        "div",
        element("strong", text(found.headline)),
        element("p", text(f"{found.explained} To try:")),
        advice,
    )
    return element("div", warning_mark(), words, class_="verdict open", role="note", aria_label="Warning")


def _verdict(model: BaseEstimator, look: str) -> Markup:
    headline, explained = verdict(model)
    words = element("div", element("strong", text(headline)), element("p", text(explained)))
    return element("div", tick() if met(model) else warning_mark(), words, class_=f"verdict {look}")


def _certificate(trained: Trained) -> list[tuple[str, str, str]]:
    model, runs = trained.model, trained.runs
    took = trained.seconds if trained.seconds is not None else sum(run[-1].seconds for run in runs)
    tol = getattr(model, "tol", None)
    asked = "asked for" if getattr(model, "stopping", "gap") == "gap" else "violation asked for:"
    found = [("Proven gap", f"{model.gap_:.1e}", "" if tol is None else f"{asked} {tol:g}")]
    if runs or trained.seconds is not None:
        steps = sum(each.n_iter for each in getattr(model, "certificates_", ()))
        found.append(("Training", seconds(took), f"{steps:,} iterations" if steps else ""))
    return found


def _tiles(tiles: list[tuple[str, str, str]]) -> Markup:
    shown = []
    for name, value, note in tiles:
        small = [element("small", text(note))] if note else []
        shown.append(element("div", element("dt", text(name)), element("dd", text(value), *small), class_="tile"))
    return element("dl", *shown, class_="tiles") if shown else Markup("")
