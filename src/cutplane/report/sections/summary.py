"""What was proven, in one sentence and a few figures."""

from __future__ import annotations

import numpy as np

from cutplane.report.certificate import proven_within
from cutplane.report.markup import Markup, element, number, seconds, text
from cutplane.report.trained import Trained

_ENDED = {
    "gap": "The tolerance that was asked for is proven.",
    "kkt": "The optimality conditions hold within the tolerance that was asked for.",
    "pair": "It ended by a rule that proves nothing.",
    "epsilon": "The mean loss is within the epsilon that was asked for of its model.",
    "time_limit": "The time limit came before the tolerance that was asked for.",
    "max_iter": "The iteration limit came before the tolerance that was asked for.",
    "interrupted": "Training was interrupted before the tolerance that was asked for.",
    "stalled": "Double precision allows no further progress.",
}
_MET = ("gap", "kkt", "epsilon")
_STROKE = 'fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"'
_TICK = f'<path d="m7.2 12.4 3.3 3.4 6.4-7" {_STROKE}/>'
_MARK = f'<path d="M12 6.8v6.2m0 3.8v.01" {_STROKE}/>'
_RING = '<circle cx="12" cy="12" r="11" fill="none" stroke="currentColor" stroke-width="1.6"/>'


def top(trained: Trained, tiles: list[tuple[str, str, str]]) -> Markup:
    """The verdict, and the figures that matter most; `tiles` are added to those of the certificate."""
    model = trained.model
    if not hasattr(model, "gap_"):
        return _tiles(tiles)
    return Markup(_verdict(trained) + _tiles([*_certificate(trained), *tiles]))


def _verdict(trained: Trained) -> Markup:
    model = trained.model
    gap = float(np.max(model.gap_))
    reasons = [str(reason) for reason in np.atleast_1d(getattr(model, "stop_reason_", "gap"))]
    proven = all(reason in _MET for reason in reasons)
    lower, upper = float(np.sum(model.lower_bound_)), float(np.sum(model.objective_))
    several = np.size(model.gap_) > 1
    pairs = " pair of classes" if getattr(model, "_pairwise", False) else " class"
    what = f"the optimum of every{pairs}" if several else "the optimum"
    words = ("" if proven else "stopped early, ") + proven_within(gap).replace("the optimum", what)
    why = next(reason for reason in (*reversed(_ENDED),) if reason in reasons)
    explained = (
        f"No model of this kind has {'a total' if several else 'an'} objective below {number(lower, 6)}; this one has "
        f"{number(upper, 6)}. {_ENDED[why]}"
    )
    icon = Markup(f'<svg viewBox="0 0 24 24" aria-hidden="true">{_RING}{_TICK if proven else _MARK}</svg>')
    strong = element("strong", text(words[0].upper() + words[1:]))
    return element(
        "div",
        icon,
        element("div", strong, element("p", text(explained))),
        class_="verdict" if proven else "verdict open",
    )


def _certificate(trained: Trained) -> list[tuple[str, str, str]]:
    model, runs = trained.model, trained.runs
    took = trained.seconds if trained.seconds is not None else sum(run[-1].seconds for run in runs)
    tol = getattr(model, "tol", None)
    asked = "asked for" if getattr(model, "stopping", "gap") == "gap" else "violation asked for:"
    found = [("Proven gap", f"{float(np.max(model.gap_)):.1e}", "" if tol is None else f"{asked} {tol:g}")]
    if runs or trained.seconds is not None:
        steps = f"{int(np.sum(model.n_iter_)):,} iterations" if hasattr(model, "n_iter_") else ""
        found.append(("Training", seconds(took), steps))
    return found


def _tiles(tiles: list[tuple[str, str, str]]) -> Markup:
    shown = []
    for name, value, note in tiles:
        small = [element("small", text(note))] if note else []
        shown.append(element("div", element("dt", text(name)), element("dd", text(value), *small), class_="tile"))
    return element("dl", *shown, class_="tiles") if shown else Markup("")
