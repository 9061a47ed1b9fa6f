"""What an estimator can do once it is fitted: be saved and be reported on. What it must say of itself for that."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from cutplane._types import Arrays, Document, Listed, MatrixLike
from cutplane.estimators.common import persistence, proofs
from cutplane.estimators.common.certificates import CertifiedEstimator
from cutplane.estimators.common.servable import Servable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cutplane.report.trained import Examples


class Savable(CertifiedEstimator, Servable):
    """An estimator that `cutplane.load` can bring back.

    Parameters, feature names and certificates are stored for every estimator; `_to_file` adds the fitted
    attributes that predictions need, and `_from_file` sets them again. A new estimator also needs its lines in
    `cutplane.estimators` and `cutplane.estimators.restoring`.
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

    def proof(self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
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

    def _proving(self) -> proofs.AnyProving:
        """How the model is proven, a `cutplane.estimators.common.proofs.Proving`; `ValueError` where it is not."""
        raise ValueError(f"{type(self).__name__} has no proof file: {self._no_proof}.")

    def report(
        self,
        path: str | PathLike[str],
        X_test: MatrixLike | None = None,
        y_test: Listed | None = None,
        *,
        qid_test: ArrayLike | None = None,
        X_train: MatrixLike | None = None,
        y_train: Listed | None = None,
        qid_train: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        models: Sequence[BaseEstimator] = (),
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
        from cutplane.report.trained import Trained

        check_is_fitted(self)
        check_report_name(path)
        trained = Trained(
            self,
            train=_together(X_train, y_train, qid_train, "train"),
            held_out=_together(X_test, y_test, qid_test, "test"),
            feature_names=_one_each(feature_names, getattr(self, "n_features_in_", None)),
            path=models,
        )
        write_report(trained, path, title)

    def plot(self, feature_names: Sequence[str] | None = None) -> Figure:
        """A figure of how training went, beside what the model looks at.

        Its strongest features, a sequence logo or its transitions, whichever it has; see `cutplane.plotting` for more.

        Parameters
        ----------
        feature_names : sequence of str, optional
            By default those of the data the model was fitted on.

        Returns
        -------
        matplotlib.figure.Figure

        Examples
        --------
        >>> from cutplane import LinearSVC
        >>> model = LinearSVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> figure = model.plot()  # doctest: +SKIP
        """
        from sklearn.utils.validation import check_is_fitted

        from cutplane.report.overview import plot_overview

        check_is_fitted(self)
        return plot_overview(self, _one_each(feature_names, getattr(self, "n_features_in_", None)))

    def _repr_html_inner(self) -> str:
        """The certificate as a card, in notebooks; scikit-learn's diagram until the model is fitted, and inside it."""
        return self._with_card(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        return {kind: self._with_card(what) if kind == "text/html" else what for kind, what in shown.items()}

    def _with_card(self, diagram: str) -> str:
        if not hasattr(self, "certificates_"):
            return diagram
        from cutplane.report.card import certificate_card

        return certificate_card(self, diagram)

    def _to_file(self) -> tuple[Arrays, Document]:
        """The fitted attributes as arrays, and what JSON can hold."""
        raise NotImplementedError

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        """Set the fitted attributes; any error if they do not fit together means a damaged file."""
        raise NotImplementedError


def _together(X: MatrixLike | None, y: Listed | None, qid: ArrayLike | None, which: str) -> Examples | None:
    """Examples, or None where there are none; `ValueError` where a part is missing or they are not as many."""
    from cutplane.report.trained import Examples

    if X is None and y is None:
        return None
    if X is None or y is None:
        given, missing = ("X", "y") if y is None else ("y", "X")
        raise ValueError(f"{given}_{which} is given without {missing}_{which}; a report needs both or neither.")
    rows = _count(X)
    for name, part in (("y", y), ("qid", qid)):
        if part is not None and _count(part) != rows:
            raise ValueError(
                f"X_{which} has {rows} examples and {name}_{which} has {_count(part)}; there must be as many."
            )
    return Examples(X, y, qid)


def _count(values: MatrixLike | Listed) -> int:
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)  # type: ignore[arg-type]


def _one_each(names: Sequence[str] | None, features: int | None) -> Sequence[str] | None:
    if names is not None and features is not None and len(names) != features:
        raise ValueError(f"feature_names has {len(names)} names, but the model has {features} features.")
    return names
