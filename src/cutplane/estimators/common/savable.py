"""What an estimator can do once it is fitted: be saved and be reported on. What it must say of itself for that."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Self

from cutplane.estimators.common import persistence, proofs
from cutplane.estimators.common.stored import Arrays


class Savable:
    """An estimator that `cutplane.load` can bring back.

    Parameters, feature names, certificate and history are stored for every estimator; `_to_file` adds the fitted
    attributes that predictions need, and `_from_file` sets them again. A new estimator also needs its lines in
    `cutplane.estimators` and `cutplane.estimators.loading`.
    """

    def save(self, path: str | PathLike[str], *, proof: bool | None = None) -> None:
        """Write the fitted model to a file that `cutplane.load` reads without running code.

        Parameters
        ----------
        path : path-like
        proof : bool, optional
            Whether the file holds the model's proof. By default it does if there is one; True asks for one.
        """
        persistence.save(self, path, proof=proof)

    def proof(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find what proves this model's bounds, and keep it as `proof_`.

        It is found anew, on the data of the fit; ``keep_proof=True`` does it when training ends. `save` with
        ``proof=True`` puts it into the file, and `cutplane.verify` checks it.

        Returns
        -------
        self
        """
        self.proof_ = proofs.make_proof(self, X, y, sample_weight)
        return self

    #: Why there is no proof file of such a model.
    _no_proof = "its bound is a mixture of many planes"

    def _proving(self) -> Any:
        """How the model is proven, a `cutplane.estimators.common.proofs.Proving`; `ValueError` where it is not."""
        raise ValueError(f"{type(self).__name__} has no proof file: {self._no_proof}.")

    def report(
        self,
        path: str | PathLike[str],
        X_test: Any = None,
        y_test: Any = None,
        *,
        qid_test: Any = None,
        X_train: Any = None,
        y_train: Any = None,
        qid_train: Any = None,
        feature_names: Sequence[str] | None = None,
        models: Sequence[Any] = (),
        title: str | None = None,
    ) -> None:
        """Write a report of the training as one HTML file, which needs no network to be shown.

        Certified convergence, figures and curves on held-out data, strongest features, data, time by phase and how
        to train the same model again.

        Parameters
        ----------
        path : path-like
            The file, ending in .html.
        X_test, y_test, qid_test : optional
            Held-out examples, what they should be and, for rankers, their queries.
        X_train, y_train, qid_train : optional
            What the model was fitted on, to be summed up; features are then ranked by their spread as well.
        feature_names : sequence of str, optional
            By default those of the data the model was fitted on.
        models : sequence of estimators, optional
            Fitted models over a range of C, to be shown beside this one.
        title : str, optional
            The heading of the page.

        Examples
        --------
        >>> import os, tempfile
        >>> from cutplane import LinearSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> path = os.path.join(tempfile.mkdtemp(), "run.html")
        >>> LinearSVC().fit(X, y).report(path, X, y)
        """
        from sklearn.utils.validation import check_is_fitted

        from cutplane.report.build import check_report_name, write_report
        from cutplane.report.trained import Examples, Trained

        check_is_fitted(self)
        check_report_name(path)
        trained = Trained(
            self,
            train=_together(Examples(X_train, y_train, qid_train), "X_train", "y_train"),
            held_out=_together(Examples(X_test, y_test, qid_test), "X_test", "y_test"),
            feature_names=_one_each(feature_names, getattr(self, "n_features_in_", None)),
            path=models,
        )
        write_report(trained, path, title)

    def _to_file(self) -> tuple[Arrays, dict[str, Any]]:
        """The fitted attributes as arrays, and what JSON can hold."""
        raise NotImplementedError

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        """Set the fitted attributes; any error if they do not fit together means a damaged file."""
        raise NotImplementedError


def _together(examples: Any, X: str, y: str) -> Any:
    """Examples, or None where there are none; `ValueError` where a part is missing or they are not as many."""
    if examples.X is None and examples.y is None:
        return None
    if examples.X is None or examples.y is None:
        given, missing = (X, y) if examples.y is None else (y, X)
        raise ValueError(f"{given} is given without {missing}; a report needs both or neither.")
    rows = examples.X.shape[0] if hasattr(examples.X, "shape") else len(examples.X)
    for name, part in ((y, examples.y), (X.replace("X", "qid"), examples.qid)):
        if part is not None and len(part) != rows:
            raise ValueError(f"{X} has {rows} examples and {name} has {len(part)}; there must be as many.")
    return examples


def _one_each(names: Sequence[str] | None, features: int | None) -> Sequence[str] | None:
    if names is not None and features is not None and len(names) != features:
        raise ValueError(f"feature_names has {len(names)} names, but the model has {features} features.")
    return names
