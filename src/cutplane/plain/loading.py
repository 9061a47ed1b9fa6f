"""Plain models out of files: those of this library, JSON, LIBLINEAR's and LIBSVM's."""

from __future__ import annotations

import os
from pathlib import Path

from cutplane.io.model_file import ModelFileError, read_model
from cutplane.plain.document import from_document, from_json
from cutplane.plain.form import PlainForm
from cutplane.plain.model import PlainModel


def load_plain(path: str | os.PathLike[str]) -> PlainModel:
    """The small predictor in a file; `ModelFileError` where there is none."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {path}.")
    start = b""
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(16)
    for beginning, read in _TEXTS.items():
        if start.startswith(beginning):
            try:
                return PlainModel(read(path))
            except (ValueError, OverflowError, RecursionError) as error:
                raise ModelFileError(f"{path} is damaged or no model that can be read: {error}.") from error
    return PlainModel(_from_model_file(path))


def _from_model_file(path: Path) -> PlainForm:
    file = read_model(path)
    if "plain" not in file.metadata:
        raise ModelFileError(
            f"{path} holds a {file.kind} without a plain form; cutplane.load({str(path)!r}) gives the estimator."
        )
    try:
        return from_document(file.metadata["plain"], lambda name: file.arrays[name])
    except ValueError as error:
        raise ModelFileError(f"{path} is a damaged {file.kind} model file ({error}).") from error


def _json(path: Path) -> PlainForm:
    return from_json(path.read_text(encoding="utf-8"))


def _liblinear(path: Path) -> PlainForm:
    from cutplane.plain.liblinear_file import read

    return read(path)


def _libsvm(path: Path) -> PlainForm:
    from cutplane.plain.libsvm_file import read

    return read(path)


# How text files of models begin.
_TEXTS = {b"{": _json, b"solver_type": _liblinear, b"svm_type": _libsvm}
