"""What a fitted estimator can be turned into for serving: JSON, ONNX, files of other tools, scikit-learn's classes."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from cutplane._types import Document
from cutplane.io.plain_json import decode, encode
from cutplane.plain.document import to_json
from cutplane.plain.form import PlainForm

if TYPE_CHECKING:
    import onnx

_CERTIFICATE = ("objective", "lower_bound", "gap", "stop_reason", "n_iter")


def certificate_of(model: Any) -> Document:
    """What is proven of a fitted model, in terms of JSON; empty where nothing is."""
    if not hasattr(model, "gap_"):
        return {}
    return {name: decode(encode(getattr(model, f"{name}_"))) for name in _CERTIFICATE}


class Servable:
    """An estimator that hands its predictions on; a family says in `_plain_model` what they are."""

    #: Why there is no plain form of such a model.
    _no_plain = "its predictions are searches by code of a model"

    def _plain_model(self) -> PlainForm:
        """Scores and decision of the fitted model; `ValueError` where they are no plain data."""
        raise ValueError(f"{type(self).__name__} has no plain form: {self._no_plain}.")

    def plain_form(self) -> PlainForm:
        """All that predictions need, as plain data.

        Returns
        -------
        cutplane.plain.form.PlainForm
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return replace(
            self._plain_model(),
            feature_names=None if names is None else [str(name) for name in names],
            certificate=certificate_of(self),
        )

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The model as one text of JSON, with its certificate, which any language can read.

        Parameters
        ----------
        path : path-like, optional
            A file to write it to; ``cutplane.load(path, plain=True)`` reads it.

        Returns
        -------
        str
        """
        text = to_json(self.plain_form())
        if path is not None:
            from cutplane.io.atomic import replace_file

            with replace_file(path) as file:
                file.write(text.encode())
        return text

    def to_onnx(self, path: str | PathLike[str] | None = None, *, double: bool = False) -> onnx.ModelProto:
        """The model as an ONNX graph; needs ``pip install 'cutplane[onnx]'``.

        The input is X, of shape (n, n_features); of a `StringSVC` whole numbers of shape (n, length_), the place of
        each letter in its alphabet, -1 for unknown ones. Outputs are `label` (or `value`, where there are no classes),
        `scores` and, where the model has them, `probabilities`. The certificate is in the metadata.

        Parameters
        ----------
        path : path-like, optional
            A file to write it to.
        double : bool, default=False
            Whether X is in double precision; inside, all is.

        Returns
        -------
        onnx.ModelProto
        """
        from cutplane.plain.onnx_model import to_onnx

        model = to_onnx(self.plain_form(), double=double)
        if path is not None:
            from cutplane.io.atomic import replace_file

            with replace_file(path) as file:
                file.write(model.SerializeToString())
        return model

    def to_liblinear(self, path: str | PathLike[str]) -> None:
        """Write the model as a model file of LIBLINEAR.

        Parameters
        ----------
        path : path-like
        """
        from cutplane.plain.liblinear_file import write

        write(self.plain_form(), path)

    def to_libsvm(self, path: str | PathLike[str]) -> None:
        """Write the model as a model file of LIBSVM.

        Parameters
        ----------
        path : path-like
        """
        from cutplane.plain.libsvm_file import write

        write(self.plain_form(), path)

    def to_sklearn(self) -> Any:
        """The model as a fitted estimator of scikit-learn, which pickles and predicts without Cutplane.

        Returns
        -------
        estimator
        """
        from cutplane.estimators.common.sklearn_twins import to_sklearn

        return to_sklearn(self.plain_form(), self.get_params(deep=False))  # type: ignore[attr-defined]
