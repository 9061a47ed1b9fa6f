"""Certificates of models trained on a device, judged without rounding on random problems; the contract of sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.selection import first_cases

from cutplane.device import arrays
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.source import CsrRows, DenseRows
from cutplane.device.twin import TwinKernels
from cutplane.device.twin_arrays import on_twin
from cutplane.testing.cuda import PAIR_FAMILIES, check_rows, judged, judged_with_device

PRELUDE = """\
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.source import CsrRows, DenseRows
from cutplane.device.twin import TwinKernels
from cutplane.device.twin_arrays import on_twin
"""
STORAGES = (
    "DeviceMatrix(DenseRows(TwinKernels(), on_twin(np.ascontiguousarray(X))))",
    "DeviceMatrix(CsrRows(TwinKernels(), sp.csr_array(X)))",
)


# Of numbers 57 and 69, planes once leaned: slopes to the right of kinks were taken for those on them.
@pytest.mark.parametrize("number", first_cases([34, 57, 69, *range(12)], 6))
def test_no_certificate_is_wrong(number: int) -> None:
    outcome = judged(number, PRELUDE, STORAGES)
    assert not outcome.failures
    assert outcome.fits or outcome.refused


@pytest.mark.parametrize("number", range(12))
def test_no_certificate_of_pairs_is_wrong(number: int) -> None:
    outcome = judged(number, PRELUDE, STORAGES, PAIR_FAMILIES)
    assert not outcome.failures
    assert outcome.fits or outcome.refused


@pytest.mark.parametrize("number", range(18))
def test_no_certificate_of_copied_examples_is_wrong(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = TwinKernels()
    monkeypatch.setattr(arrays, "cuda_kernels", lambda: kernels)
    outcome = judged_with_device(number)
    assert not outcome.failures
    assert outcome.fits or outcome.refused


def test_rows_of_every_type_keep_the_contract_of_sources() -> None:
    kernels = TwinKernels()

    def put(X: Any) -> DeviceMatrix:
        if sp.issparse(X):
            return DeviceMatrix(CsrRows(kernels, sp.csr_array(X)))
        return DeviceMatrix(DenseRows(kernels, on_twin(np.ascontiguousarray(X))))

    assert check_rows(put) == 35
