"""From a source and a risk to the objective that lets the risk be minimised in every way it can be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from cutplane.objectives.generic import Objective
from cutplane.objectives.intercepts import (
    FreeIntercept,
    InterceptPerClass,
    MakeIntercepts,
    NoIntercept,
    RoundedIntercept,
)
from cutplane.objectives.long_planes import LongPlanesObjective
from cutplane.objectives.multiclass import MulticlassObjective
from cutplane.objectives.pairs import PairObjective
from cutplane.objectives.rounded import RoundedObjective
from cutplane.objectives.softmax import FreeClassIntercepts, SoftmaxObjective
from cutplane.risks.base import Risk
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.softmax import Softmax
from cutplane.shards.base import Array, KindOfShard
from cutplane.shards.multiclass import MulticlassShard
from cutplane.shards.registry import make_shard
from cutplane.shards.softmax import SoftmaxShard
from cutplane.sources.base import Source
from cutplane.sources.class_scores import ClassScores

# To tell bounds apart that are closer than this, scores in single precision are too coarse.
_COARSE = 1e-5


class _Kind(NamedTuple):
    """An objective, and from the gap that is aimed at to the intercept that is free on it."""

    objective: Callable[..., Objective]
    free: Callable[[float], MakeIntercepts]


# By what a shard is for.
_KINDS = {
    "planes": _Kind(Objective, lambda gap: FreeIntercept),
    "rounded": _Kind(RoundedObjective, lambda gap: RoundedIntercept),
    "classes": _Kind(MulticlassObjective, lambda gap: partial(InterceptPerClass, relative_gap=gap)),
    "softmax": _Kind(SoftmaxObjective, lambda gap: FreeClassIntercepts),
    "long planes": _Kind(LongPlanesObjective, lambda gap: FreeIntercept),
    "pairs": _Kind(PairObjective, lambda gap: NoIntercept),  # it would change nothing
}


def make_objective(source: Source, risk: Risk, *, intercept: bool = False, origin: Array | None = None) -> Objective:
    """The objective of a source and a risk; no intercept where it changes nothing."""
    intercept = intercept and risk.takes_intercept and not risk.shift_invariant
    return objective_of(make_shard(source, risk, intercept=intercept), intercept=intercept, origin=origin)


def objective_of(
    shard: KindOfShard, *, intercept: bool = False, origin: Array | None = None, relative_gap: float = 1e-6
) -> Objective:
    """The objective of a shard: one of this process, or a sum of others; made for the gap that is aimed at."""
    kind = _KINDS[shard.kind]
    return kind.objective(shard, intercept=kind.free(relative_gap) if intercept else NoIntercept, origin=origin)


def make_multiclass(
    source: Source, risk: Multiclass, *, class_features: Array | None = None, **settings: Any
) -> Objective:
    """The objective of all classes together; `settings` are those of `objective_of`."""
    scores = ClassScores(source, class_features, risk.n_classes)
    return objective_of(MulticlassShard(scores, risk), **settings)


def make_softmax(source: Source, risk: Softmax, *, intercept: bool = False) -> Objective:
    """The objective of all classes together by a softmax."""
    return objective_of(SoftmaxShard(ClassScores(source, None, risk.n_classes), risk), intercept=intercept)


def in_single(objective: Objective, relative_gap: float) -> Objective:
    """The objective with scores in single precision, where these matter and the gap allows it."""
    return objective if objective.intercept or relative_gap < _COARSE else objective.in_single()
