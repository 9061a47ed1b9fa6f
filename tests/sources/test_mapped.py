"""Data in files: the same results as in memory, within a limit on memory."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import LinearSVC
from cutplane.io.convert import convert_svmlight
from cutplane.io.strings import read_strings, write_strings
from cutplane.io.svmlight import save_svmlight
from cutplane.sources import MappedSource, Spectrum, Stacked, WeightedDegree, open_rows
from cutplane.sources.mapped import CsrRows, NpyRows
from cutplane.sources.packed import PackedStrings
from cutplane.sources.string_file import MappedStrings
from cutplane.testing import check_source


@pytest.fixture
def dense(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    return X, tmp_path / "X.npy"


@pytest.fixture
def sparse(tmp_path):
    rng = np.random.default_rng(1)
    X = sp.random_array((80, 12), density=0.3, format="csr", dtype=np.float32, rng=rng)
    y = np.where(rng.random(80) < 0.5, 1, -1)
    save_svmlight(tmp_path / "data.svm", X, y)
    convert_svmlight(tmp_path / "data.svm", tmp_path / "folder", n_features=12, block_bytes=500)
    return X, y, tmp_path / "folder"


def test_npy_files_are_sources(dense):
    X, path = dense
    sources = [MappedSource(NpyRows(path, block_bytes=300), n_threads=threads) for threads in (1, 2)]
    check_source(sources[0], X, twins=sources[1:])


def test_converted_files_are_sources(sparse):
    X, y, folder = sparse
    rows = CsrRows(folder, block_bytes=200)
    assert len(rows.bounds) > 5
    assert np.array_equal(rows.labels, y)
    check_source(MappedSource(rows), X.toarray())


def test_parquet_files_are_sources(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    X = np.random.default_rng(2).normal(size=(50, 3))
    table = pa.table(dict(zip("abc", X.T, strict=True)))
    parquet.write_table(table, tmp_path / "X.parquet", row_group_size=20)
    check_source(MappedSource(open_rows(tmp_path / "X.parquet")), X)


def test_a_model_of_a_file_is_that_of_the_array(dense):
    X, path = dense
    y = np.where(X[:, 0] > 0, "yes", "no")
    source = MappedSource(NpyRows(path, block_bytes=300))
    here, there = LinearSVC(tol=1e-6).fit(X, y), LinearSVC(tol=1e-6).fit(source, y)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=2e-6)
    np.testing.assert_allclose(there.decision_function(source), there.decision_function(X), rtol=1e-6, atol=1e-6)
    assert there.predict(source).tolist() == there.predict(X).tolist()


def test_strings_of_a_file_are_a_source(tmp_path):
    rng = np.random.default_rng(3)
    text = np.frombuffer(b"ACGTN", np.uint8)[rng.choice(5, p=[0.245] * 4 + [0.02], size=(300_000, 9))]
    packed = PackedStrings.pack(text)  # more than a chunk, more than four pieces
    write_strings(tmp_path / "dna.strings", packed)
    mapped = MappedStrings(tmp_path / "dna.strings")
    here, there = (Stacked(Spectrum(s, 3), WeightedDegree(s, 3)) for s in (packed, mapped))
    w, coef = rng.normal(size=here.shape[1]), rng.normal(size=len(text)) * (rng.random(len(text)) < 0.4)
    np.testing.assert_array_equal(there.scores(w), here.scores(w))
    np.testing.assert_allclose(there.combine(coef), here.combine(coef), rtol=1e-9, atol=1e-9)
    rows = rng.permutation(len(text))[:70_000]
    np.testing.assert_array_equal(there.take(rows).scores(w), here.scores(w)[rows])


# What may be written is limited, not addresses: an allocator may reserve 64 MB of those for a thread and use none.
LIMITED = """
import resource, sys
import numpy as np
from cutplane import LinearSVC
from cutplane.sources import MappedSource, open_rows
from cutplane.sources.mapped import NpyRows
y = np.load(sys.argv[2])
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (used + (int(sys.argv[3]) << 20), resource.RLIM_INFINITY))
rows = NpyRows(sys.argv[1], block_bytes=1 << 22)
model = LinearSVC(C=1e-3, tol=1e-2, n_jobs=2).fit(MappedSource(rows), y)
print(model.gap_)
try:
    whole = np.empty(rows.shape, np.float32)
except MemoryError:
    print("does not fit")
"""


@pytest.mark.parametrize(
    ("shape", "megabytes"),
    [
        pytest.param((300_000, 100), 90, id="long rows"),  # 120 MB of rows
        # 144 MB of rows, and 12 MB for every number that is kept for each of them
        pytest.param((1_500_000, 24), 100, id="many rows", marks=pytest.mark.nightly),
    ],
)
def test_more_data_than_the_process_may_have_memory_for(tmp_path, shape, megabytes):
    rng = np.random.default_rng(4)
    X = rng.standard_normal(shape, dtype=np.float32)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.where(X[:, 0] + X[:, 1] > rng.standard_normal(len(X)), 1, -1).astype(np.int8))
    del X
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "X.npy", tmp_path / "y.npy", str(megabytes)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
    )
    gap, fits = done.stdout.split("\n")[:2] if done.returncode == 0 else pytest.fail(done.stderr)
    assert float(gap) <= 1e-2
    assert fits == "does not fit"


def test_truncated_and_foreign_files_are_named(tmp_path, dense, sparse):
    write_strings(tmp_path / "dna.strings", PackedStrings.pack(["ACGT", "ACNT"]), [0, 1])
    whole = (tmp_path / "dna.strings").read_bytes()
    (tmp_path / "short.strings").write_bytes(whole[:-3])
    with pytest.raises(ValueError, match=r"short.strings has \d+ bytes, but its header speaks of \d+"):
        MappedStrings(tmp_path / "short.strings")
    (tmp_path / "odd.strings").write_bytes(whole.replace(b'"count"', b'"cuont"'))
    with pytest.raises(ValueError, match="damaged header"):
        MappedStrings(tmp_path / "odd.strings")
    with pytest.raises(ValueError, match="no file of packed strings"):
        MappedStrings(dense[1])
    with pytest.raises(ValueError, match="has strings of ACGT, not of ACGU"):
        read_strings(tmp_path / "dna.strings", "rna")
    dense[1].write_bytes(dense[1].read_bytes()[:-4])
    with pytest.raises(ValueError, match=r"X\.npy is truncated: 60 rows do not fit"):
        NpyRows(dense[1])
    np.save(tmp_path / "whole.npy", np.arange(6).reshape(2, 3))
    with pytest.raises(ValueError, match="holds int64"):
        open_rows(tmp_path / "whole.npy")
    (sparse[2] / "values.bin").write_bytes(b"1234")
    with pytest.raises(ValueError, match="truncated or damaged"):
        open_rows(sparse[2])
    with pytest.raises(ValueError, match="no cutplane"):
        open_rows(tmp_path)
    with pytest.raises(OSError, match="exists already"):
        convert_svmlight(tmp_path / "data.svm", tmp_path / "folder")


def test_values_that_are_not_finite_are_named(tmp_path):
    X = np.zeros((30, 4))
    X[17, 2] = np.nan
    np.save(tmp_path / "X.npy", X)
    source = MappedSource(NpyRows(tmp_path / "X.npy", block_bytes=100))
    with pytest.raises(ValueError, match="Row 17 of X has a value that is not finite"):
        LinearSVC().fit(source, np.arange(30) % 2)


def test_a_bad_line_of_a_converted_file_is_named(tmp_path):
    (tmp_path / "bad.svm").write_text("1 1:0.5\n" * 300 + "-1 2:abc\n")
    with pytest.raises(ValueError, match=r"bad.svm, line 301"):
        convert_svmlight(tmp_path / "bad.svm", tmp_path / "out", block_bytes=256)
