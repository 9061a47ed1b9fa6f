"""Metadata of a cross-validated fit: what of it the splitter is handed, and what the scorer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeAlias

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params

from cutplane._types import MatrixLike, Params
from cutplane.cluster.collections import is_collection
from cutplane.device.arrays import device_matrix, on_host
from cutplane.risks.base import Rows

#: scikit-learn's.
Scoring: TypeAlias = str | Callable[..., float] | None


class Routed(NamedTuple):
    """What goes with the examples to ``split`` of the splitter, and to the scorer."""

    split: Params
    score: Params

    def scored(self, n_examples: int, rows: Rows) -> Params:
        """What the scorer is handed with some of the examples: of each array as long as all are, its part."""
        return dict(_check_method_params(range(n_examples), self.score, rows))


class RoutedChoice(BaseEstimator):
    """An estimator that hands metadata on to its `cv` and `scoring`, as scikit-learn's cross-validated ones do."""

    #: Whether weights go to the scorer where nothing is routed.
    _weights_judge = False
    # Those of `score` are the scorer's to ask for.
    __metadata_request__score: ClassVar[dict[str, str]] = {"sample_weight": UNUSED}

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes where; see scikit-learn's user guide on metadata routing."""
        scored = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(scorer=scorer_of(self, self.scoring), method_mapping=scored)
        )

    def _routed(self, method: str, sample_weight: ArrayLike | None, params: Params) -> Routed:
        """What `fit` or `score` was given, handed on."""
        if get_config()["enable_metadata_routing"]:
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            routed = process_routing(self, method, **weights, **params)
            return Routed(dict(routed.splitter.get("split", {})), dict(routed.scorer.score))
        if params:
            raise ValueError(
                f"{type(self).__name__}.{method} was given {', '.join(sorted(params))}, which goes to cv and scoring "
                "where scikit-learn routes metadata: sklearn.set_config(enable_metadata_routing=True)."
            )
        judged = sample_weight is not None and (method == "score" or self._weights_judge)
        weighed = judged and _takes_weights(scorer_of(self, self.scoring))
        return Routed({}, {"sample_weight": sample_weight} if weighed else {})

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: object) -> float:
        """What `scoring` says of the model on these examples.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        **params : dict
            What `scoring` asks for, where scikit-learn routes metadata.
        """
        beside = self._routed("score", sample_weight, params).score
        if self.scoring is None:
            above: Any = super()
            return float(above.score(X, y, **beside))
        if is_collection(X):
            raise ValueError(
                f"scoring={self.scoring!r} judges rows in this process; of a collection of Dask there is the score "
                "with scoring=None, and predictions that are computed where rows lie."
            )
        there = device_matrix(X)
        here = {name: on_host(value) for name, value in beside.items()}
        return float(scorer_of(self, self.scoring)(self, X if there is None else there, on_host(y), **here))


def scorer_of(model: BaseEstimator, scoring: Scoring) -> Callable[..., float]:
    """What `scoring` stands for: None is the accuracy of a classifier, and R² of a regression."""
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise ValueError(
            f"scoring={scoring!r} is no scorer of scikit-learn; 'accuracy', 'roc_auc', 'r2' and all of "
            "sklearn.metrics.get_scorer_names() are."
        )
    found: Callable[..., float] = check_scoring(model, scoring or ("accuracy" if is_classifier(model) else "r2"))
    return found


def _takes_weights(scorer: Callable[..., float]) -> bool:
    """Whether a scorer, or a function of a model, X and y, can be handed weights."""
    return "sample_weight" in inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
