"""From a source and a risk to the objective that lets the risk be minimised in every way it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutplane.objectives.generic import Objective
from cutplane.objectives.multiclass import MulticlassObjective
from cutplane.objectives.pairs import PairObjective
from cutplane.objectives.rounded import RoundedObjective
from cutplane.risks.base import Risk
from cutplane.risks.multiclass import Multiclass
from cutplane.shards.base import Array, KindOfShard
from cutplane.shards.multiclass import MulticlassShard
from cutplane.shards.registry import make_shard
from cutplane.sources.base import Source
from cutplane.sources.class_scores import ClassScores

# To tell bounds apart that are closer than this, scores in single precision are too coarse.
_COARSE = 1e-5

# By what a shard is for.
_OBJECTIVES: dict[str, Callable[..., Objective]] = {
    "planes": Objective,
    "rounded": RoundedObjective,
    "classes": MulticlassObjective,
    "pairs": PairObjective,
}


def make_objective(source: Source, risk: Risk, *, intercept: bool = False, origin: Array | None = None) -> Objective:
    """The objective of a source and a risk; no intercept where it changes nothing."""
    intercept = intercept and risk.takes_intercept and not risk.shift_invariant
    return objective_of(make_shard(source, risk, intercept=intercept), intercept=intercept, origin=origin)


def objective_of(shard: KindOfShard, *, intercept: bool = False, origin: Array | None = None) -> Objective:
    """The objective of a shard: one of this process, or a sum of others."""
    return _OBJECTIVES[shard.kind](shard, intercept=intercept, origin=origin)


def make_multiclass(
    source: Source, risk: Multiclass, *, class_features: Array | None = None, **settings: Any
) -> MulticlassObjective:
    """The objective of all classes together; `settings` are those of `MulticlassObjective`."""
    scores = ClassScores(source, class_features, risk.n_classes)
    return MulticlassObjective(MulticlassShard(scores, risk), **settings)


def in_single(objective: Objective, relative_gap: float) -> Objective:
    """The objective with scores in single precision, where these matter and the gap allows it."""
    return objective if objective.intercept or relative_gap < _COARSE else objective.in_single()
