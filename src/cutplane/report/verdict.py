"""What a certificate comes to, in two sentences and a sign."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from cutplane.report.certificate import proven_within
from cutplane.report.markup import Markup, number
from cutplane.report.sampled import by_samples, proven

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


def met(model: BaseEstimator) -> bool:
    """Whether what was asked for is proven: of a run that stops at something else than the gap, the gap as well."""
    reason = getattr(model, "stop_reason_", "gap")
    tol = getattr(model, "tol", None)
    return reason in _MET and (reason != "kkt" or tol is None or bool(model.gap_ <= tol))


def verdict(model: BaseEstimator) -> tuple[str, str]:
    """A headline, and what it means."""
    if by_samples(model):
        return "No gap is proven", proven(model)
    reason = getattr(model, "stop_reason_", "gap")
    ended = reason in _MET
    several = len(getattr(model, "certificates_", ())) > 1
    pairs = " pair of classes" if getattr(model, "_pairwise", False) else " class"
    what = f"the optimum of every{pairs}" if several else "the optimum"
    words = ("" if ended else "stopped early, ") + proven_within(model.gap_).replace("the optimum", what)
    explained = (
        f"No model of this kind has {'a total' if several else 'an'} objective below {number(model.lower_bound_, 6)}; "
        f"this one has {number(model.objective_, 6)}. {_ENDED[reason]}"
    )
    if ended and not met(model):
        explained += ' The gap is above it: stopping="gap" goes on until the gap itself is proven.'
    return words[0].upper() + words[1:], explained


def tick() -> Markup:
    """A sign of success."""
    return _sign(_TICK)


def warning_mark() -> Markup:
    """A sign that something is open."""
    return _sign(_MARK)


def _sign(drawn: str) -> Markup:
    return Markup(f'<svg viewBox="0 0 24 24" aria-hidden="true">{_RING}{drawn}</svg>')
