"""Checkpoint files: model files of their own kind, whole or not there at all, refused in words of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Arrays, Document
from cutplane.io.model_file import ModelFileError, read_model, write_model

KIND = "Checkpoint"


class CheckpointError(ValueError):
    """A checkpoint cannot be gone on from; the message is one sentence for the user."""


def write_checkpoint(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[np.generic]], metadata: Mapping[str, object]
) -> None:
    """Write a checkpoint; the last one stays under the name until this one is complete.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    write_model(path, kind=KIND, arrays=arrays, metadata=metadata)


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[Arrays, Document] | None:
    """The arrays and the description of a checkpoint; None where there is none.

    Raises
    ------
    CheckpointError
        If there is a file that is no checkpoint, or a damaged one.
    """
    if not Path(path).exists():
        return None
    try:
        file = read_model(path)
    except ModelFileError as error:
        reason = str(error).removesuffix(".").removeprefix(f"{path} ")
        raise CheckpointError(
            f"{path} is no checkpoint, or a damaged one ({reason}); delete it, or name another file."
        ) from error
    if file.kind != KIND:
        raise CheckpointError(f"{path} is a {file.kind} model file and no checkpoint; name another file.")
    return file.arrays, file.metadata
