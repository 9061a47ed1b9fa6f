"""Strings on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from cutplane.device import arrays
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.string_source import StringMatrix, rows_of_strings
from cutplane.sources.packed import StringCollection
from cutplane.sources.strings import StringPart


def check_one_device(device: object) -> None:
    """Refuse devices that are not known, or not there, and lists of them."""
    if arrays.several_devices(device) is not None:
        raise ValueError(f"device={device!r}: strings are trained on one GPU, 'cuda'.")
    arrays.check_device(device)


def on_device(
    strings: StringCollection, parts: Sequence[StringPart], *, normalize: bool, n_threads: int, planes: bool
) -> DeviceMatrix:
    """The features of strings of the host on the GPU; `planes`: for cutting planes, whose weights stay there, too."""
    rows = rows_of_strings(arrays.cuda_kernels(), strings, parts, normalize=normalize, n_threads=n_threads)
    return StringMatrix(rows) if planes else DeviceMatrix(rows)
