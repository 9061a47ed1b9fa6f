"""Of two classes, the score from which on the second is said: 0, a number, or what does best on held-out examples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from cutplane._types import Array, Labels
from cutplane.io.model_file import ModelFile


class Rule(NamedTuple):
    """What a threshold is chosen by: "f1", or "precision" or "recall" of at least a share."""

    kind: str
    share: float = 0.0

    @classmethod
    def parsed(cls, text: str) -> Rule:
        """The rule that a word on the command line is."""
        kind, _, share = text.partition("=")
        try:
            rule = cls(kind, float(share) if kind != "f1" else 0.0)
        except ValueError:
            rule = cls("", 0.0)
        if rule.kind not in ("f1", "precision", "recall") or (kind == "f1") == bool(share) or not 0 <= rule.share <= 1:
            raise typer.BadParameter(
                f"{text!r} is not f1, precision=SHARE or recall=SHARE, such as precision=0.9.", param_hint="--threshold"
            )
        return rule

    def best(self, scores: Array, positive: NDArray[np.bool_]) -> float:
        """The threshold that fits this rule best: halfway between two scores.

        By precision it is the lowest of those that reach the share, for the most to be found; by recall the highest.
        """
        if not positive.any():
            raise ValueError("A threshold needs examples of the second class to be chosen on, and there are none.")
        order = np.argsort(-scores, kind="stable")
        ranked, right = scores[order], np.cumsum(positive[order])
        said = np.arange(1, len(order) + 1)
        last = np.append(ranked[1:] < ranked[:-1], True)  # equal scores are said together
        precision, recall = (right / said)[last], (right / positive.sum())[last]
        merit = {
            "f1": 2 * precision * recall / np.maximum(precision + recall, 1e-300),
            "precision": np.where(precision >= self.share, 1.0 + recall, 0.0),
            "recall": np.where(recall >= self.share, 1.0 + precision, 0.0),
        }[self.kind]
        if merit.max() <= 0.0:
            raise ValueError(f"No threshold has a {self.kind} of {self.share:g} on these examples.")
        levels = ranked[last]
        chosen = int(merit.argmax())
        if chosen + 1 == len(levels):
            return float(np.nextafter(levels[chosen], -np.inf))
        return float(0.5 * (levels[chosen] + levels[chosen + 1]))


def noted(file: ModelFile) -> float | None:
    """The threshold that training has chosen; None: 0, as every model has it."""
    notes = file.metadata.get("notes")
    value = notes.get("threshold") if isinstance(notes, dict) else None
    return value if isinstance(value, float) else None


def predicted(model: Any, X: Any, threshold: float | None) -> Labels:
    """The labels, by this threshold where there is one."""
    if threshold is None:
        return np.asarray(model.predict(X))
    return by_threshold(check_two_classes(model), model.decision_function(X), threshold)


def check_two_classes(model: Any) -> Labels:
    """The classes; refuse a model that has other than two."""
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) != 2 or not hasattr(model, "decision_function"):
        raise typer.BadParameter("is for models of two classes.", param_hint="--threshold")
    return np.asarray(classes)


def by_threshold(classes: Labels, scores: Array, threshold: float) -> Labels:
    """The second class where the score is above the threshold."""
    return np.asarray(classes[(np.asarray(scores) > threshold).astype(np.int64)])
