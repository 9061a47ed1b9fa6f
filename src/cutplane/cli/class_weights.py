"""`--class-weight`: weights of classes as they are written on the command line."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from cutplane._types import Label
from cutplane.cli.output import plain_label
from cutplane.cli.summary import label_list


def class_weight(text: str | None, labels: Sequence[object] | None) -> str | dict[Label, float] | None:
    """ "balanced", None for "none", or the weight of each class that LABEL=WEIGHT names.

    `labels` are those of the data, of which the names must be; None where they are not known yet, and numbers.
    """
    if text in (None, "none", "balanced"):
        return None if text == "none" else text
    weights = _parsed(text)
    if labels is None:
        return {_number(name): weight for name, weight in weights.items()}
    known = {str(plain_label(label)): plain_label(label) for label in labels}
    for name in weights:
        if name not in known:
            listed = label_list([plain_label(label) for label in labels])
            raise ValueError(f"--class-weight names the class {name}, but the data has {listed}.")
    return {known[name]: weight for name, weight in weights.items()}


def _parsed(text: str) -> dict[str, float]:
    weights = {}
    for pair in text.split(","):
        name, equals, number = pair.strip().rpartition("=")
        try:
            weights[_plain(name)] = weight = float(number)
        except ValueError:
            weight = -1.0
        if not equals or not name or not 0.0 < weight < float("inf"):
            raise typer.BadParameter(
                f"{pair!r} is not LABEL=WEIGHT with a positive weight, and {text!r} not 'balanced'.",
                param_hint="--class-weight",
            )
    return weights


def _plain(name: str) -> str:
    """+1 is the label 1, as it stands in many files."""
    return name[1:] if name[:1] == "+" else name


def _number(name: str) -> Label:
    try:
        return plain_label(float(name))
    except ValueError:
        raise ValueError(f"--class-weight names the class {name}, which is not a number.") from None
