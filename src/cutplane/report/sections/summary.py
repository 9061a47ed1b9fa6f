"""What was proven, in one sentence and a few figures."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from cutplane.report.certificate import proven_within
from cutplane.report.markup import Markup, element, number, seconds, text
from cutplane.report.sections.sampled_cuts import by_samples
from cutplane.report.trained import Trained
from cutplane.report.usefulness import Useless, useless

_ENDED = {
    "gap": "The tolerance that was asked for is proven.",
    "kkt": "The optimality conditions hold within the tolerance that was asked for.",
    "pair": "It ended by a rule that proves nothing.",
    "certain": "As many predictions are proven to be the optimum's as were asked for.",
    "risk_tol": "The mean loss is within the risk_tol that was asked for of its model.",
    "time_limit": "The time limit came before the tolerance that was asked for.",
    "max_iter": "The iteration limit came before the tolerance that was asked for.",
    "interrupted": "Training was interrupted before the tolerance that was asked for.",
    "stalled": "Double precision allows no further progress.",
}
_MET = ("gap", "kkt", "risk_tol", "certain")
_STROKE = 'fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"'
_TICK = f'<path d="m7.2 12.4 3.3 3.4 6.4-7" {_STROKE}/>'
_MARK = f'<path d="M12 6.8v6.2m0 3.8v.01" {_STROKE}/>'
_RING = '<circle cx="12" cy="12" r="11" fill="none" stroke="currentColor" stroke-width="1.6"/>'


def top(trained: Trained, tiles: list[tuple[str, str, str]]) -> Markup:
    """The verdict, and the figures that matter most; `tiles` are added to those of the certificate."""
    model = trained.model
    found = useless(trained)
    first = Markup("") if found is None else _warning(found)
    if not hasattr(model, "gap_") or by_samples(model):
        return Markup(first + _tiles(tiles))
    # A certificate of a model that is of no use is no good news either: it is stated, not praised.
    look = "plain" if found is not None else "good" if met(model) else "open"
    return Markup(first + _verdict(trained, look) + _tiles([*_certificate(trained), *tiles]))


def met(model: BaseEstimator) -> bool:
    """Whether what was asked for is proven: of a run that stops at something else than the gap, the gap as well."""
    reason = getattr(model, "stop_reason_", "gap")
    tol = getattr(model, "tol", None)
    return reason in _MET and (reason != "kkt" or tol is None or bool(model.gap_ <= tol))


def _warning(found: Useless) -> Markup:
    """What is said first of a model that is of no use."""
    advice = element("ul", *(element("li", text(each)) for each in found.advice))
    words = element(
        "div",
        element("strong", text(found.headline)),
        element("p", text(f"{found.explained} To try:")),
        advice,
    )
    return element("div", _icon(_MARK), words, class_="verdict open", role="note", aria_label="Warning")


def _icon(drawn: str) -> Markup:
    return Markup(f'<svg viewBox="0 0 24 24" aria-hidden="true">{_RING}{drawn}</svg>')


def _verdict(trained: Trained, look: str) -> Markup:
    model = trained.model
    reason = getattr(model, "stop_reason_", "gap")
    proven = reason in _MET
    several = len(getattr(model, "certificates_", ())) > 1
    pairs = " pair of classes" if getattr(model, "_pairwise", False) else " class"
    what = f"the optimum of every{pairs}" if several else "the optimum"
    words = ("" if proven else "stopped early, ") + proven_within(model.gap_).replace("the optimum", what)
    explained = (
        f"No model of this kind has {'a total' if several else 'an'} objective below {number(model.lower_bound_, 6)}; "
        f"this one has {number(model.objective_, 6)}. {_ENDED[reason]}"
    )
    if proven and not met(model):
        explained += ' The gap is above it: stopping="gap" goes on until the gap itself is proven.'
    strong = element("strong", text(words[0].upper() + words[1:]))
    icon = _icon(_TICK if met(model) else _MARK)
    return element("div", icon, element("div", strong, element("p", text(explained))), class_=f"verdict {look}")


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
