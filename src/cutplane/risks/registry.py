"""Losses by name, and users' own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from cutplane.risks.base import Risk
from cutplane.risks.epsilon_insensitive import EpsilonInsensitive
from cutplane.risks.hinge import Hinge
from cutplane.risks.huber import Huber
from cutplane.risks.logistic import Logistic
from cutplane.risks.multivariate import BreakEven, F1Risk, PrecisionAtK, error_cost
from cutplane.risks.quantile import Quantile
from cutplane.risks.roc_area import RocArea
from cutplane.risks.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from cutplane.risks.squared_hinge import SquaredHinge

#: Makes the risk of a sample: called as loss(y, sample_weight), the weights None or one each.
Loss = Callable[..., Risk]

#: Losses of labels of -1 and +1 (int8).
BINARY: dict[str, Loss] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "roc_area": RocArea,
    "f1": F1Risk,
    "prec@k": PrecisionAtK,
    "prbep": BreakEven,
    "error_cost": error_cost,
}

#: Losses of targets (float64).
REGRESSION: dict[str, Loss] = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
    "huber": Huber,
    "quantile": Quantile,
}


def find_loss(
    loss: Any, known: Mapping[str, Loss], options: Mapping[str, Any] | None = None, *, n_threads: int = 0
) -> Loss:
    """The loss of that name, or the user's own, with its options filled in.

    Parameters
    ----------
    loss : str or callable
        A name in `known`, or a subclass of `Risk` or a function that is called as loss(y, sample_weight) and
        returns a `Risk`.
    known : mapping
        The losses by name.
    options : mapping, optional
        Further keyword arguments.
    n_threads : int
        Handed to the losses in `known`.

    Raises
    ------
    ValueError
        In one sentence that says what is accepted.
    """
    options = check_loss_options(options)
    if isinstance(loss, str) and loss in known:
        _check_options(loss, known[loss], options)
        return partial(known[loss], n_threads=n_threads, **options)
    if isinstance(loss, Risk):
        raise ValueError(
            f"loss={loss!r} is the risk of one sample; pass its class, or a function of (y, sample_weight) that "
            "returns a risk."
        )
    if isinstance(loss, str) or not callable(loss):
        names = ", ".join(repr(name) for name in known)
        raise ValueError(f"loss={loss!r} must be one of {names}, a subclass of Risk or a function that returns one.")
    return partial(loss, **options) if options else loss


def check_loss_options(options: Any) -> dict[str, Any]:
    """The options of a loss, by name."""
    if options is not None and not (isinstance(options, Mapping) and all(isinstance(name, str) for name in options)):
        raise ValueError(f"loss_options={options!r} must be a dict of names and values of the loss's options, or None.")
    return dict(options or {})


def takes_option(loss: Loss, option: str) -> bool:
    """Whether a loss has such an option."""
    return option in _options(loss)


def has_interior(loss: Loss) -> bool:
    """Whether an interior point over all examples knows a loss, as `find_loss` gives it."""
    return bool(getattr(getattr(loss, "func", loss), "has_interior", False))


def _options(loss: Loss) -> list[str]:
    return [
        parameter.name
        for parameter in inspect.signature(loss).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name != "n_threads"
    ]


def _check_options(name: str, loss: Loss, options: Mapping[str, Any]) -> None:
    """Refuse an option that the loss does not have."""
    for option in options:
        has = _options(loss)
        if option not in has:
            accepted = f"has only {', '.join(repr(each) for each in has)}" if has else "has none"
            raise ValueError(f"loss_options has {option!r}, but loss={name!r} {accepted}.")


def make_risk(loss: Loss, y: Any, sample_weight: Any) -> Risk:
    """The risk of a sample, and a clear word where a user's loss returns something else."""
    risk = loss(y, sample_weight)
    if not isinstance(risk, Risk):
        raise TypeError(f"The loss returned {risk!r}; it must return a cutplane.risks.base.Risk.")
    return risk
