"""A fitted model as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cutplane.plain.checks import require
from cutplane.plain.decisions import Decision
from cutplane.plain.probabilities import Probabilities
from cutplane.plain.scores import Scores

if TYPE_CHECKING:
    from cutplane._types import Document


@dataclass(frozen=True, eq=False)
class PlainForm:
    """What predictions need of a model, and where it comes from.

    Attributes
    ----------
    kind : str
        Name of the estimator, such as ``"LinearSVC"``; of a file of another tool, that tool.
    objective : str
        What was minimised, such as ``"hinge"``; of a loss of the user's own, the import path of its class.
    scores : Scores
    decision : Decision
    probabilities : Probabilities or None
    feature_names : list of str or None
    certificate : dict
        Bounds, gap and why training ended; empty where nothing is proven.
    """

    kind: str
    objective: str
    scores: Scores
    decision: Decision
    probabilities: Probabilities | None = None
    feature_names: list[str] | None = None
    certificate: Document = field(default_factory=dict)

    def __post_init__(self) -> None:
        machines, needed = self.scores.machines, self.decision.machines()
        require(machines == needed, f"there are {machines} scores where {needed} are needed to decide")
        curves, classes = getattr(self.probabilities, "curves", None), getattr(self.decision, "classes", ())
        require(self.probabilities is None or len(classes) > 0, "there are probabilities without classes")
        if curves is not None:
            known = self.probabilities.n_classes == len(classes)  # type: ignore[union-attr]
            require(known and len(curves) == self.scores.machines, "there is not one curve a machine")
        if self.feature_names is not None:
            require(len(self.feature_names) == self.scores.n_features, "there is not one name per feature")
