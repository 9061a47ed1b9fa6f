"""The text of the kernels compiles, for all losses and types: by NVRTC, which needs no GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.selection import first_cases

from cutplane.device import text
from cutplane.device.kernels import SEGMENT, blocks_of, segments_of, stretches_of, sum_depth_of


def nvrtc() -> ctypes.CDLL:
    spec = find_spec("nvidia.cuda_nvrtc")
    assert spec is not None
    assert spec.submodule_search_locations
    (library,) = Path(next(iter(spec.submodule_search_locations))).glob("lib/libnvrtc.so*")
    return ctypes.CDLL(str(library))


def compiled(names: Iterable[str], code: str | None = None) -> tuple[int, str]:
    """What NVRTC says: 0 where all is well, and its log."""
    library, program = nvrtc(), ctypes.c_void_p()
    source = (text.text() if code is None else code).encode()
    assert library.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None) == 0
    for name in names:
        assert library.nvrtcAddNameExpression(program, name.encode()) == 0
    options = [b"--gpu-architecture=compute_80", b"-std=c++17"]
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    return status, log.value.decode()


@pytest.mark.parametrize("loss", text.LOSSES)
def test_the_sums_of_a_loss_compile(loss: str) -> None:
    assert compiled(text.loss_kernels(loss, "int8" if loss == "hinge" else "float64")) == (0, "")


@pytest.mark.parametrize("entries", first_cases(text.ENTRIES, 2))
def test_passes_over_rows_compile(entries: str) -> None:
    passes = (text.pass_kernels(entries, lanes, width, width) for lanes in text.LANES for width in text.WIDTHS)
    names = [
        *text.dense_kernels(entries),
        *text.narrow_kernels(entries),
        *dict.fromkeys(name for each in passes for name in each),
        *text.sparse_kernels(entries, "int32"),
        *text.sparse_kernels(entries, "int64"),
    ]
    assert compiled(names) == (0, "")


@pytest.mark.parametrize("loss", text.MARGINS)
def test_sums_of_many_classes_compile(loss: str) -> None:
    assert compiled(text.class_kernels(loss), text.class_text()) == (0, "")


def test_passes_for_classes_that_are_one_problem_compile() -> None:
    assert compiled((), text.joint_text()) == (0, "")


def test_a_slip_would_be_seen() -> None:
    status, log = compiled(["cut<HingeLoss, nothing>"])
    assert status != 0
    assert "nothing" in log


@pytest.mark.parametrize("lengths", [[3, 0, 2], [0, 0], [SEGMENT, SEGMENT + 1, 5 * SEGMENT]])
def test_segments_cover_every_column(lengths: list[int]) -> None:
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    begins, first = segments_of(starts)
    assert len(first) == len(lengths) + 1
    for column, (b, e) in enumerate(pairwise(starts)):
        mine = begins[first[column] : first[column + 1] + 1]
        if e > b:
            assert (mine[0], mine[-1]) == (b, e)
            assert (np.diff(mine) <= SEGMENT).all()
        else:
            assert first[column] == first[column + 1]


@pytest.mark.parametrize("n", [1, 1000, 1_000_000, 50_000_000])
def test_sums_are_not_deep(n: int) -> None:
    assert blocks_of(n) >= 1
    assert sum_depth_of(n) < 1500 + n / 2**17
    assert stretches_of(n, 54).depth(n) < 2200 + n / 2**12


def test_pair_steps_of_kernel_machines_compile() -> None:
    sums = [text.kernel_sums(transform, each) for transform in text.TRANSFORMS for each in text.SUMS_AT_ONCE]
    assert compiled(sums, text.smo_text()) == (0, "")


def test_passes_over_strings_compile() -> None:
    names = [name for kind in text.STRINGS for name in text.string_kernels(kind)]
    assert compiled(names, text.string_text()) == (0, "")


def test_sums_over_pairs_of_different_rank_compile() -> None:
    assert compiled((), text.rank_text()) == (0, "")
