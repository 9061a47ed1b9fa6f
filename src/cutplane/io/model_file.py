"""Model files: a safetensors file whose metadata holds one JSON document under the key "cutplane".

The arrays are the safetensors file's own; everything else (the kind of model, its parameters, its
certificate) is the JSON document. Reading one runs no code and trusts nothing: a checksum over every
byte is compared, and sizes are checked against the file before memory is taken. The format is open:
any safetensors reader can load it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from cutplane.io.checksum import PLACEHOLDER, is_intact, sealed
from cutplane.io.plain_json import decode, encode

if TYPE_CHECKING:
    from cutplane._types import Document

FORMAT_VERSION = 2
"""Raised when an older library could not read what a newer one writes."""

_KEY = "cutplane"
_SAVED_DTYPES = frozenset("?bhilqBHILQefd")


class ModelFileError(ValueError):
    """A file is not a model this library can read; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    kind : str
        Name of the estimator, such as ``"LinearSVC"``.
    arrays : dict of str to ndarray
        The numbers.
    metadata : dict
        Everything else.
    format_version : int
        Version of the format the file was written in.
    library_version : str
        Version of the library that wrote it.
    """

    kind: str
    arrays: dict[str, NDArray[np.generic]]
    metadata: Document
    format_version: int = FORMAT_VERSION
    library_version: str = ""


def write_model(
    path: str | os.PathLike[str],
    *,
    kind: str,
    arrays: Mapping[str, NDArray[np.generic]],
    metadata: Mapping[str, object],
) -> None:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    path : path-like
        Where to write it; an existing file is replaced once the new one is complete.
    kind : str
        Name of the estimator.
    arrays : mapping of str to ndarray
        Boolean, integer or floating-point arrays of any shape and byte order.
    metadata : mapping
        Anything `cutplane.io.plain_json` can write.

    Raises
    ------
    OutputError
        If the file cannot be written; what was at `path` before is then untouched.
    TypeError
        If an array or a metadata value cannot be represented in the file.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> write_model(path, kind="Toy", arrays={"coef": np.ones(3)}, metadata={"C": 1.0})
    >>> read_model(path).metadata
    {'C': 1.0}
    """
    from cutplane.io.atomic import replace_file  # whoever only reads models need not wait for it

    document = json.dumps(
        {
            "sha256": PLACEHOLDER,
            "format_version": FORMAT_VERSION,
            "library_version": _version(),
            "kind": kind,
            "metadata": encode(dict(metadata)),
        },
        allow_nan=False,
    )
    contents = to_safetensors({name: _saved(name, array) for name, array in arrays.items()}, {_KEY: document})
    with replace_file(path) as file:
        file.writelines(sealed(contents))


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file. Runs no code from it, whatever it holds.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    ModelFile

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is not a Cutplane model, is damaged, or was written in a newer format.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {path}.")
    if not path.is_file():
        raise ModelFileError(f"{path} is not a file; a Cutplane model file (safetensors) was expected.")
    if path.stat().st_size == 0:
        raise ModelFileError(f"{path} is empty; a Cutplane model file (safetensors) was expected.")
    try:
        # The file that is checked is the file that is read, whatever takes its name meanwhile.
        with path.open("rb") as checked, safe_open(path, framework="np") as file:
            document = _document(path, file.metadata() or {})
            _check_intact(path, checked)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if not os.path.samestat(os.fstat(checked.fileno()), path.stat()):
                raise ModelFileError(f"{path} was replaced while it was read; load it again.")
    except (SafetensorError, TypeError, AttributeError, KeyError) as error:
        # The last three: element types that safetensors knows and NumPy does not.
        raise ModelFileError(
            f"{path} is not a Cutplane model file, or was cut short: as a safetensors file it is "
            f"unreadable ({_first_line(error)})."
        ) from error
    return ModelFile(arrays=arrays, **document)


def _check_intact(path: Path, file: BinaryIO) -> None:
    """Refuse a file that is not, to the byte, what was written."""
    intact = is_intact(file)
    if intact is None:
        raise ModelFileError(
            f"{path} has no checksum: it is damaged, or was written by a development version of Cutplane; "
            "train and save the model again."
        )
    if not intact:
        raise ModelFileError(
            f"{path} is a damaged Cutplane model file: its checksum does not fit its contents; fetch or save it again."
        )


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a model file of any version of this library, without reading its arrays."""
    try:
        with safe_open(path, framework="np") as file:
            return _KEY in (file.metadata() or {})
    except (SafetensorError, OSError):
        return False


def _saved(name: str, array: NDArray[np.generic]) -> NDArray[np.generic]:
    """`array` as safetensors stores it; it would scramble a Fortran-ordered array without a word."""
    array = np.asarray(array)
    if array.dtype.char not in _SAVED_DTYPES:
        raise TypeError(f"The array {name!r} has dtype {array.dtype}, which a model file cannot hold.")
    little_endian = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little_endian).reshape(array.shape)


def _document(path: Path, header: Mapping[str, str]) -> Document:
    """The checked fields of the JSON document."""
    if _KEY not in header:
        raise ModelFileError(f"{path} is a safetensors file, but not one written by Cutplane.")
    try:
        document = json.loads(header[_KEY], parse_constant=_refuse_constant)
        format_version = document["format_version"]
        if isinstance(format_version, int) and format_version > FORMAT_VERSION:
            raise ModelFileError(
                f"{path} was written by Cutplane {document.get('library_version')} in format "
                f"{format_version}; this is Cutplane {_version()}, which reads formats up to "
                f"{FORMAT_VERSION}."
            )
        fields = {
            "kind": document["kind"],
            "metadata": decode(document["metadata"]),
            "format_version": format_version,
            "library_version": document["library_version"],
        }
    except ModelFileError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _damaged(path, error) from error
    expected = {"kind": str, "metadata": dict, "format_version": int, "library_version": str}
    for name, kind in expected.items():
        if not isinstance(fields[name], kind):
            raise _damaged(path, f"{name} is not a {kind.__name__}")
    if fields["format_version"] < 1:
        raise _damaged(path, f"there is no format {fields['format_version']}")
    return fields


def _version() -> str:
    from importlib.metadata import version  # a third of the time that reading a small model takes

    return version("cutplane")


def _damaged(path: Path, reason: object) -> ModelFileError:
    return ModelFileError(f"{path} is a damaged Cutplane model file: its description is not valid ({reason}).")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].removeprefix("Error while deserializing header: ") if str(error) else "?"
