"""Certificates of models trained on a device, judged without rounding on random problems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutplane.testing.random_problems.families import drawn
from cutplane.testing.random_problems.trial import run_trial

PRELUDE = """\
from cutplane.device.source import CsrRows, DenseRows, DeviceMatrix
from cutplane.device.twin import TwinKernels, on_twin
"""
STORAGES = (
    "DeviceMatrix(DenseRows(TwinKernels(), on_twin(np.ascontiguousarray(X))))",
    "DeviceMatrix(CsrRows(TwinKernels(), sp.csr_array(X)))",
)


# Of numbers 57 and 69, planes once leaned: slopes to the right of kinks were taken for those on them.
@pytest.mark.parametrize("number", [34, 57, 69, *range(12)])
def test_no_certificate_is_wrong(number: int) -> None:
    family, problem = drawn(("LinearSVC", "LinearSVR", "LinearSVC", "LinearSVC-joint"), 6, number)
    ways = tuple(replace(way, storage=STORAGES[index % 2]) for index, way in enumerate(problem.ways))
    problem = replace(problem, ways=ways, prelude=problem.prelude + PRELUDE)
    outcome = run_trial(problem, family.reader(problem))
    assert not outcome.failures
    assert outcome.fits or outcome.refused
