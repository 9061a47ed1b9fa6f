"""What scikit-learn asks of every estimator beside fit and predict: tags, routed metadata, names, output."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_validate
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter

import cutplane

ALL = [
    kind
    for kind in (getattr(cutplane, name) for name in sorted(cutplane.__all__))
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
]
OBJECTS = (cutplane.SequenceSVM, cutplane.StructuralSVM, cutplane.KernelStructuralSVM)
MATRICES = [kind for kind in ALL if kind not in (*OBJECTS, cutplane.StringSVC)]
TRANSFORMERS = [kind for kind in ALL if hasattr(kind, "transform")]
X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["p", "q", "r"])
y = (X["p"] > 0).astype(int).to_numpy()


def test_there_is_something_to_test() -> None:
    assert len(ALL) >= 18
    assert TRANSFORMERS


@pytest.mark.parametrize("kind", ALL)
def test_tags_say_what_an_estimator_takes(kind: Any) -> None:
    tags, parameters = get_tags(kind()), inspect.signature(kind.fit).parameters
    # Windows of a sequence may bring their labels along.
    optional = parameters["y"].default is not inspect.Parameter.empty and kind is not cutplane.StringSVC
    assert tags.target_tags.required != optional
    assert tags.input_tags.two_d_array == (kind in MATRICES)
    assert tags.input_tags.sparse == (kind in MATRICES)
    assert (tags.transformer_tags is not None) == (kind in TRANSFORMERS)


@pytest.mark.parametrize("kind", ALL)
def test_every_argument_of_fit_and_score_can_be_routed(kind: Any) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        routing = kind().get_metadata_routing()
        if isinstance(routing, MetadataRouter):  # tests/estimators/linear/test_routed.py
            assert set(routing._self_request.fit.requests) == {"sample_weight"}
            return
        for method in ("fit", "score"):
            if hasattr(kind, method):
                wanted = set(inspect.signature(getattr(kind, method)).parameters) - {"self", "X", "y"}
                assert set(getattr(routing, method).requests) == wanted


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind not in TRANSFORMERS])
def test_weights_can_be_given_everywhere(kind: Any) -> None:
    assert "sample_weight" in inspect.signature(kind.fit).parameters


def test_weights_reach_the_folds() -> None:
    weights = np.where(y == 1, 50.0, 0.01)
    with sklearn.config_context(enable_metadata_routing=True):
        model = cutplane.SampledCutSVC(C=0.01, method="exact").set_fit_request(sample_weight=True)
        scorer = get_scorer("recall").set_score_request(sample_weight=False)
        found = cross_validate(model, X, y, params={"sample_weight": weights}, scoring=scorer, return_estimator=True)
    assert all(np.all(each.predict(X) == 1) for each in found["estimator"])


@pytest.mark.parametrize("kind", MATRICES)
def test_names_of_features_are_kept_and_checked(kind: Any) -> None:
    queries = {"qid": np.arange(60) // 6} if kind is cutplane.RankSVM else {}
    model = kind().fit(X, y, **queries)
    assert model.feature_names_in_.tolist() == ["p", "q", "r"]
    assert model.n_features_in_ == 3
    use = model.transform if kind in TRANSFORMERS else model.predict
    use(X)
    with pytest.raises(ValueError, match="feature names should match"):
        use(X[["q", "p", "r"]])


def test_a_plain_array_has_no_names() -> None:
    model = cutplane.LinearSVC().fit(X, y).fit(X.to_numpy()[:, :2], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (X.to_numpy()[:0], y[:0]),
        (X.to_numpy()[:, :0], y),
        (X.to_numpy(), y[1:]),
        (X.to_numpy(), np.where(y == 1, np.nan, 1.0)),
        (X.to_numpy(), y + 0j),
        (X.to_numpy()[0], y[:3]),
        (X.to_numpy()[None], y),
        (X.to_numpy(), np.stack([y, y], axis=1)),
    ],
)
def test_what_scikit_learn_refuses_of_plain_arrays_is_refused(rows: Any, labels: Any) -> None:
    with pytest.raises(ValueError):  # in its words, mostly
        SVC(kernel="linear").fit(rows, labels)
    with pytest.raises(ValueError):
        cutplane.LinearSVC().fit(rows, labels)


@pytest.mark.parametrize("kind", TRANSFORMERS)
def test_transformed_rows_come_in_the_frame_that_is_asked_for(kind: Any) -> None:
    model = kind().fit(X)
    plain, framed = model.transform(X), model.set_output(transform="pandas").transform(X)
    assert framed.columns.tolist() == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(framed.to_numpy(), plain)
