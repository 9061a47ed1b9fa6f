"""`PlainModel`: predictions of a fitted model with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cutplane.plain.form import PlainForm
from cutplane.plain.scoring import scorer_of

if TYPE_CHECKING:
    from cutplane._types import Array, Document, Labels


class PlainModel:
    """A model that predicts and does nothing else; ``cutplane.load(path, plain=True)`` makes one.

    It has those of `predict`, `decision_function`, `score_samples`, `predict_proba`, `predict_log_proba` and `score`
    that the estimator had. scikit-learn is not imported.

    Parameters
    ----------
    form : PlainForm

    Attributes
    ----------
    certificate : dict
        Bounds, gap and why training ended; empty where nothing is proven.
    classes_ : array
        Of a classifier.
    n_features_in_ : int
        Columns of X; of strings, the k-mers that have weights.
    feature_names_in_ : array
        Where the data of the fit had names.

    Examples
    --------
    >>> import os, tempfile
    >>> import cutplane
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> cutplane.LinearSVC().fit([[-1.0], [1.0]], ["no", "yes"]).save(path)
    >>> model = cutplane.load(path, plain=True)
    >>> model.predict([[2.0]])
    array(['yes'], dtype='<U3')
    >>> model.score([[2.0], [-2.0]], ["yes", "yes"])
    0.5
    >>> model.certificate["gap"] <= 1e-3
    True
    """

    def __init__(self, form: PlainForm) -> None:
        self.form = form
        self.n_features_in_ = form.scores.n_features
        if form.feature_names is not None:
            self.feature_names_in_ = np.array(form.feature_names, dtype=object)
        if hasattr(form.decision, "classes"):
            self.classes_: Labels = form.decision.classes

    @property
    def certificate(self) -> Document:
        """What is proven of the model."""
        return dict(self.form.certificate)

    def predict(self, X: Any) -> Labels:
        """What the estimator predicted: classes, values, +1 and -1."""
        return self.form.decision.predict(self._scores(X))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        form = self.__dict__.get("form")  # not there while a copy is made
        if form is not None and name in form.decision.methods:
            made = getattr(form.decision, name)
            return lambda X: np.asarray(made(self._scores(X)))
        score = scorer_of(form, self.predict) if form is not None and name == "score" else None
        if score is not None:
            return score
        if form is not None and form.probabilities is not None:
            if name == "predict_proba":
                return self._probabilities
            if name == "predict_log_proba":
                return lambda X: np.asarray(np.log(self._probabilities(X)))
        raise AttributeError(f"{form.kind if form else 'A plain model'} has no {name!r} as a plain model.")

    def _probabilities(self, X: Any) -> Array:
        decision: Any = self.form.decision
        scores = self._scores(X)
        assert self.form.probabilities is not None
        return self.form.probabilities(scores, decision.winners(scores))

    def _scores(self, X: Any) -> Array:
        return self.form.scores(self.form.scores.rows(X))

    def __repr__(self) -> str:
        return f"PlainModel({self.form.kind}, {self.n_features_in_} features)"
