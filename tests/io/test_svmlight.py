import bz2
import errno
import gzip
import io
import lzma
import os
import pickle
import resource
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier

from cutplane import _core
from cutplane.io import svmlight_rows
from cutplane.io.svmlight import SvmlightData, SvmlightError, load_svmlight, save_svmlight

COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
PACKED = [suffix for suffix in COMPRESS if suffix]


def random_examples(rng, n_rows=200, n_features=50, dtype=np.float64):
    X = sparse.random_array((n_rows, n_features), density=0.2, format="csr", rng=rng, dtype=np.float64)
    X.data[:] = rng.standard_normal(X.nnz) * 10.0 ** rng.integers(-8, 9, X.nnz)
    X = X.tolil()
    X[0, 0] = X[0, n_features - 1] = 1.0  # the first and the last column are in use
    X = X.tocsr()
    return X.astype(dtype), rng.choice([-1.0, 1.0, 2.5], n_rows)


def assert_same_bits(a, b):
    assert a.dtype == b.dtype
    assert a.tobytes() == b.tobytes()


def assert_same(a, b):
    assert a.X.shape == b.X.shape
    for name in ("data", "indices", "indptr"):
        assert_same_bits(getattr(a.X, name), getattr(b.X, name))
    assert_same_bits(a.y, b.y)
    assert (a.qid is None) == (b.qid is None)
    if a.qid is not None:
        assert_same_bits(a.qid, b.qid)


def parse_in_pieces(text, *, chunk_bytes, block_bytes, n_threads=2, base="auto", narrow_limit=2**31 - 1):
    """The core alone: a fault, or the arrays."""
    reader = _core.SvmlightReader64(base, None, n_threads, chunk_bytes, narrow_limit)
    data = np.frombuffer(text, np.uint8)
    for start in range(0, len(text), block_bytes):
        if (fault := reader.feed(data[start : start + block_bytes])) is not None:
            return fault
    return reader.finish() or reader.take()


# --- well-formed files


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("with_qid", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_reads_what_scikit_learn_reads(tmp_path, zero_based, with_qid, dtype):
    rng = np.random.default_rng(0)
    X, y = random_examples(rng, dtype=dtype)
    qid = np.sort(rng.integers(0, 9, len(y))) if with_qid else None
    path = tmp_path / "examples.svm"
    save_svmlight(path, X, y, qid=qid, zero_based=zero_based)
    found = load_svmlight(path, dtype=dtype)
    expected = load_svmlight_file(str(path), dtype=dtype, query_id=True)
    assert found.X.shape == expected[0].shape
    assert (found.X.indices == expected[0].indices).all()
    assert (found.X.indptr == expected[0].indptr).all()
    assert found.X.dtype == dtype
    assert (found.X.data == expected[0].data).all()
    assert (found.y == expected[1]).all()
    if with_qid:
        assert (found.qid == expected[2]).all()
    else:
        assert found.qid is None


def test_scikit_learn_takes_the_result():
    X, y = random_examples(np.random.default_rng(1))
    buffer = io.BytesIO(b"".join(_core.svmlight_format_rows(X.data, X.indices, X.indptr, y, None, 1, 1)))
    data = load_svmlight(buffer)
    found, expected = (SGDClassifier(random_state=0).fit(A, y > 0).decision_function(A) for A in (data.X, X))
    np.testing.assert_array_equal(found, expected)


EXAMPLES = [
    (b"1 1:2\n", [[2]], [1]),
    (b"1 1:2", [[2]], [1]),
    (b"1 1:2\r\n-1 2:3\r\n", [[2, 0], [0, 3]], [1, -1]),
    (b"\n\n+1 1:2\n  \t\n# only a comment\n\r\n-1\t \t2:3  \n", [[2, 0], [0, 3]], [1, -1]),
    (b"1 1:2 # 9:9 qid:3 :::\n2 2:1#3:4\n3#\n", [[2, 0], [0, 1], [0, 0]], [1, 2, 3]),
    (b"  1e-3 1:+2. 2:.5 3:-1E+2\n", [[2, 0.5, -100]], [1e-3]),
    (b"-0.5 3:1 1:2 2:3\n", [[2, 3, 1]], [-0.5]),
    (b"1 002:5\n", [[0, 5]], [1]),
    (b"1 0:5 2:1\n", [[5, 0, 1]], [1]),
    (b"1 2:1\n1 0:5\n", [[0, 0, 1], [5, 0, 0]], [1, 1]),
    (b"1\n2\n", np.zeros((2, 0)), [1, 2]),
    (b"1 1:1e-400 2:-0\n", [[0, 0]], [1]),
]


@pytest.mark.parametrize(("text", "X", "y"), EXAMPLES)
def test_syntax(text, X, y):
    data = load_svmlight(text)
    assert data.X.toarray().tolist() == np.asarray(X).tolist()
    assert data.y.tolist() == y
    assert data.X.has_canonical_format


def test_written_zeros_are_stored():
    data = load_svmlight(b"1 1:0 2:-0 3:1\n")
    assert data.X.nnz == 3
    assert np.signbit(data.X.data).tolist() == [False, True, False]


def test_qid():
    data = load_svmlight(b"1 qid:3 1:2\n2 qid:-4\n3 qid:9223372036854775807 1:1\n")
    assert data.qid.dtype == np.int64
    assert data.qid.tolist() == [3, -4, 2**63 - 1]
    assert data.X.toarray().tolist() == [[2], [0], [1]]


def test_zero_based_can_be_said():
    assert load_svmlight(b"1 1:2\n", zero_based=True).X.toarray().tolist() == [[0, 2]]
    assert load_svmlight(b"1 1:2\n", zero_based=False).X.toarray().tolist() == [[2]]


def test_n_features_widens():
    assert load_svmlight(b"1 1:2\n", n_features=5).X.shape == (1, 5)
    assert load_svmlight(b"1 5:2\n", n_features=5).X.shape == (1, 5)
    assert load_svmlight(b"1 0:1 4:2\n", n_features=5).X.shape == (1, 5)


@pytest.mark.parametrize(
    ("index", "dtype"),
    [(2**31 - 2, np.int32), (2**31 - 1, np.int64), (2**31, np.int64), (10**18 - 1, np.int64)],
)
def test_large_indices(index, dtype):
    X = load_svmlight(b"1 5:1\n1 1:2 %d:3\n" % index).X
    assert X.indices.dtype == X.indptr.dtype == dtype
    assert X.shape == (2, index)
    assert X.indices.tolist() == [4, 0, index - 1]
    assert X.indptr.tolist() == [0, 1, 3]
    assert X.data.tolist() == [1, 2, 3]


def test_many_features_asked_for():
    X = load_svmlight(b"1 5:1\n", n_features=2**31).X
    assert X.indices.dtype == X.indptr.dtype == np.int64
    assert X.shape == (1, 2**31)


@pytest.mark.parametrize("limit", [1, 3, 4, 7, 100])
def test_widening_on_the_way_changes_no_number(limit):
    text = b"".join(b"1 1:%d 3:1\n" % i for i in range(20))
    wide = parse_in_pieces(text, chunk_bytes=8, block_bytes=30, narrow_limit=limit)
    narrow = parse_in_pieces(text, chunk_bytes=8, block_bytes=30)
    assert wide[1].dtype == wide[2].dtype == (np.int64 if limit < 40 else np.int32)
    assert narrow[1].dtype == narrow[2].dtype == np.int32
    for a, b in zip(wide[:4], narrow[:4], strict=True):
        assert (a == b).all()


# --- numbers


def nearest(text, dtype):
    """The float nearest to a decimal number, ties to even, in exact arithmetic."""
    exact = Fraction(text)
    start = dtype(float(exact))
    around = [np.nextafter(start, dtype(-np.inf)), start, np.nextafter(start, dtype(np.inf))]
    bits = {np.float32: np.uint32, np.float64: np.uint64}[dtype]
    return min(around, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(bits)) & 1))


DECIMALS = st.builds(
    lambda sign, digits, point, exponent: (
        sign + (digits if point is None else digits[: point % 26] + "." + digits[point % 26 :]) + exponent
    ),
    st.sampled_from(["", "-", "+"]),
    st.text("0123456789", min_size=1, max_size=25),
    st.none() | st.integers(0, 25),
    st.just("") | st.integers(-30, 12).map(lambda e: f"e{e}"),
)


@given(DECIMALS)
def test_numbers_are_rounded_once(text):
    line = f"{text} 1:{text}\n".encode()
    double = load_svmlight(line)
    assert_same_bits(double.y, np.array([float(text)]))
    assert_same_bits(double.X.data, np.array([float(text)]))
    single = load_svmlight(line, dtype=np.float32).X.data
    assert single[0] == nearest(text, np.float32)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32, min_value=2.0**-80, max_value=2.0**60))
def test_numbers_beside_a_tie(x):
    # Halfway between two floats, and a hair to either side: where rounding twice goes wrong.
    half = (Fraction(x) + Fraction(float(np.nextafter(np.float32(x), np.float32(np.inf))))) / 2
    texts = [f"{float(half):.{digits}e}" for digits in (15, 17, 19, 25)]
    lines = "".join(f"1 1:{text}\n" for text in texts).encode()
    assert load_svmlight(lines, dtype=np.float32).X.data.tolist() == [nearest(text, np.float32) for text in texts]
    assert load_svmlight(lines).X.data.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740993",
        "9007199254740992.5",
        "18446744073709551615",
        "1844674407370955161500000",
        "0." + "0" * 400 + "1",
        "0." + "0" * 30 + "12345678901234567",
        "1" * 300,
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "0" * 500 + "1",
        "0e999999999999999999999",
        "1e-999999999999999999999",
        "10000000000000000000e-19",
    ],
)
def test_awkward_numbers(text):
    assert load_svmlight(f"1 1:{text}".encode()).X.data[0] == float(text)


# --- the result depends on the content alone


def test_threads_do_not_matter(tmp_path):
    X, y = random_examples(np.random.default_rng(2), n_rows=20_000, n_features=40)
    path, other = tmp_path / "a.svm", tmp_path / "b.svm"
    save_svmlight(path, X, y, n_jobs=1)
    save_svmlight(other, X, y, n_jobs=3)
    assert path.read_bytes() == other.read_bytes()
    one = load_svmlight(path, n_jobs=1)
    for n_jobs in (3, None, -1):
        assert_same(one, load_svmlight(path, n_jobs=n_jobs))


@pytest.mark.parametrize("chunk_bytes", [1, 7, 64, 10**6])
@pytest.mark.parametrize("block_bytes", [1, 13, 200, 10**6])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("final", [True, False])
def test_borders_do_not_matter(chunk_bytes, block_bytes, newline, final):
    lines = [
        b"# head",
        b"1 1:0.5 2:123456789.125",
        b"",
        b"-1 # none",
        b"2.5 7:1 0:3",
        b"0.1 3:0.30000000000000004",
    ]
    text = newline.join(lines * 5) + (newline if final else b"")
    found = parse_in_pieces(text, chunk_bytes=chunk_bytes, block_bytes=block_bytes)
    expected = parse_in_pieces(text, chunk_bytes=10**9, block_bytes=10**9, n_threads=1)
    for a, b in zip(found[:4], expected[:4], strict=True):
        assert_same_bits(a, b)
    assert found[5] == 8


@pytest.mark.parametrize("chunk_bytes", [1, 50, 10**6])
@pytest.mark.parametrize("block_bytes", [1, 70, 10**6])
def test_the_first_bad_line_is_named_whatever_the_borders(chunk_bytes, block_bytes):
    lines = [b"1 1:2 3:4"] * 30
    lines[17] = b"1 1:2 3;4"
    lines[18] = b"x"
    lines[29] = b"1 a:2"
    fault = parse_in_pieces(b"\n".join(lines), chunk_bytes=chunk_bytes, block_bytes=block_bytes, n_threads=3)
    assert fault[:3] == (18, 7, b"3;4")


@given(st.binary(max_size=60) | st.text("0123456789:.e+- \t\r\n#qid", max_size=60).map(str.encode))
def test_any_bytes_give_examples_or_one_error(text):
    def outcome(**pieces):
        result = parse_in_pieces(text, **pieces)
        return [part.tolist() if hasattr(part, "tolist") else part for part in result]

    expected = outcome(chunk_bytes=10**9, block_bytes=10**9, n_threads=1)
    assert outcome(chunk_bytes=3, block_bytes=5) == expected


# --- writing


@st.composite
def examples(draw):
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    n_rows, n_features = draw(st.integers(1, 6)), draw(st.integers(0, 5))
    width = 32 if dtype is np.float32 else 64
    number = st.floats(allow_nan=False, allow_infinity=False, width=width)
    cells = draw(st.lists(st.none() | number, min_size=n_rows * n_features, max_size=n_rows * n_features))
    kept = [(i, cell) for i, cell in enumerate(cells) if cell is not None]
    at = np.array([i for i, _ in kept], dtype=np.int32)
    values = np.array([cell for _, cell in kept], dtype=dtype)
    rows, columns = np.divmod(at, np.int32(max(n_features, 1)))
    X = sparse.csr_array((values, (rows, columns)), shape=(n_rows, n_features))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    labels = st.floats(allow_nan=False, allow_infinity=False)
    y = np.array(draw(st.lists(labels, min_size=n_rows, max_size=n_rows)))
    ids = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n_rows, max_size=n_rows)
    qid = draw(st.none() | ids.map(lambda ids: np.array(ids, dtype=np.int64)))
    return X, y, qid


@given(examples(), st.booleans(), st.sampled_from(list(COMPRESS)))
def test_round_trip_to_the_bit(tmp_path_factory, given_examples, zero_based, suffix):
    X, y, qid = given_examples
    path = tmp_path_factory.mktemp("round") / f"x.svm{suffix}"
    save_svmlight(path, X, y, qid=qid, zero_based=zero_based)
    data = load_svmlight(path, n_features=X.shape[1], dtype=X.dtype, zero_based=zero_based)
    assert_same(data, SvmlightData(X, y, qid))


def test_dense_input(tmp_path):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((50, 7)) < 0.5, 0, rng.standard_normal((50, 7)))
    y = rng.standard_normal(50)
    for form in (X, np.asfortranarray(X), X[::-1][::-1], X.tolist()):
        save_svmlight(tmp_path / "x.svm", form, y)
        data = load_svmlight(tmp_path / "x.svm", n_features=7)
        assert (data.X.toarray() == X).all()
        assert data.X.nnz == np.count_nonzero(X)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float16])
def test_other_numbers_are_written_as_float64(tmp_path, dtype):
    X = np.array([[0, 1], [3, 0]]).astype(dtype)
    for form in (X, sparse.csc_array(X)) if dtype is not np.float16 else (X,):
        save_svmlight(tmp_path / "x.svm", form, [1, 0])
        assert (load_svmlight(tmp_path / "x.svm").X.toarray() == X).all()


def test_unsorted_and_repeated_columns_are_put_in_order(tmp_path):
    X = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    save_svmlight(tmp_path / "x.svm", X, [1])
    assert (tmp_path / "x.svm").read_text() == "1 1:2 3:4\n"
    assert X.indices.tolist() == [2, 0, 2]


def test_wide_indices_and_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(svmlight_rows, "_ENTRIES_PER_BLOCK", 10)
    X, y = random_examples(np.random.default_rng(4))
    X = sparse.vstack([X[:5], sparse.csr_array((35, X.shape[1])), X[40:]], format="csr")
    wide = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    qid = np.arange(len(y)) // 7
    for form in (X, wide, X.toarray()):
        save_svmlight(tmp_path / "x.svm", form, y, qid=qid)
        assert_same(load_svmlight(tmp_path / "x.svm"), SvmlightData(X, y, qid))


def test_comment(tmp_path):
    save_svmlight(tmp_path / "x.svm", [[1.0]], [1], comment="one\n2 1:5")
    assert (tmp_path / "x.svm").read_text() == "# one\n# 2 1:5\n1 1:1\n"
    assert load_svmlight(tmp_path / "x.svm").y.tolist() == [1]


@pytest.mark.parametrize(
    ("X", "y", "qid", "complaint"),
    [
        ([[1.0, np.nan]], [1], None, "row 0, column 1 is nan"),
        (sparse.csr_array([[0.0], [np.inf]]), [1, 2], None, "row 1, column 0 is inf"),
        ([[1.0]], [np.inf], None, "row 0 is inf"),
        ([[1.0]], [1, 2], None, "y must have shape"),
        ([[1.0]], ["a"], None, "y must hold real numbers"),
        ([1.0], [1], None, "two dimensions"),
        ([["a"]], [1], None, "real numbers"),
        (np.zeros((0, 3)), [], None, "at least one example"),
        ([[1.0]], [1], [0.5], "whole numbers"),
        ([[1.0]], [1], [1, 2], "qid must have shape"),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, X, y, qid, complaint):
    path = tmp_path / "x.svm"
    path.write_text("1 1:1\n")
    with pytest.raises(ValueError, match=complaint):
        save_svmlight(path, X, y, qid=qid)
    assert path.read_text() == "1 1:1\n"
    assert os.listdir(tmp_path) == ["x.svm"]


@contextmanager
def file_size_limit(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("suffix", COMPRESS)
def test_no_room_leaves_the_old_file(tmp_path, suffix):
    path = tmp_path / f"x.svm{suffix}"
    path.write_bytes(b"old")
    X, y = random_examples(np.random.default_rng(5), n_rows=2000)
    with pytest.raises(OSError) as caught, file_size_limit(10_000):
        save_svmlight(path, X, y)
    assert caught.value.errno == errno.EFBIG
    assert str(path) in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [path.name]


# --- compression


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("written_by", ["us", "others"])
def test_compression(tmp_path, suffix, written_by):
    X, y = random_examples(np.random.default_rng(6), n_rows=1000)
    plain, path = tmp_path / "x.svm", tmp_path / f"y.svm{suffix}"
    save_svmlight(plain, X, y)
    if written_by == "us":
        save_svmlight(path, X, y)
    else:
        path.write_bytes(COMPRESS[suffix](plain.read_bytes()))
    if suffix:
        assert path.stat().st_size < plain.stat().st_size
    expected = load_svmlight(plain)
    assert_same(load_svmlight(path), expected)
    assert_same(load_svmlight(path.read_bytes()), expected)
    with path.open("rb") as file:
        assert_same(load_svmlight(file), expected)
        assert not file.closed
    # The content decides, not the name.
    renamed = path.rename(tmp_path / "data")
    assert_same(load_svmlight(renamed), expected)
    renamed = plain.rename(tmp_path / "plain.gz")
    assert_same(load_svmlight(renamed), expected)


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_streams_one_after_the_other(suffix):
    pack = COMPRESS[suffix]
    assert load_svmlight(pack(b"1 1:2\n2 1") + pack(b":3\n")).X.toarray().tolist() == [[2], [3]]


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("n_rows", [1, 100_000])
def test_truncated(tmp_path, suffix, n_rows):
    path = tmp_path / f"x.svm{suffix}"
    packed = COMPRESS[suffix](b"".join(b"1 1:%d\n" % (i * 7919 % 10007) for i in range(n_rows)))
    for size in (len(packed) - 1, len(packed) // 2, 10):
        path.write_bytes(packed[:size])
        with pytest.raises(SvmlightError, match="truncated") as caught:
            load_svmlight(path)
        assert caught.value.path == str(path)
        assert caught.value.line is None
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("suffix", PACKED)
def test_damaged(suffix):
    checked = {**COMPRESS, ".zst": zstandard.ZstdCompressor(write_checksum=True).compress}
    packed = bytearray(checked[suffix](b"".join(b"1 1:%d\n" % (i * 7919 % 10007) for i in range(1000))))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(SvmlightError):
        load_svmlight(bytes(packed))


@pytest.mark.parametrize("suffix", PACKED)
def test_a_bad_line_in_a_compressed_file(suffix):
    with pytest.raises(SvmlightError, match="line 2, column 3"):
        load_svmlight(COMPRESS[suffix](b"1 1:2\n1 x\n"))


# --- malformed files

GOOD = b"1 1:2\n\n# comment\n"  # three lines
MALFORMED = [
    (b"one 1:2", 1, b"one", "label"),
    (b"1:2 2:3", 1, b"1:2", "label"),
    (b"  1,2 1:2", 3, b"1,2", "label"),
    (b"nan 1:2", 1, b"nan", "label"),
    (b"inf", 1, b"inf", "label"),
    (b"1e999", 1, b"1e999", "finite"),
    (b"0x10 1:2", 1, b"0x10", "label"),
    (b"+-1", 1, b"+-1", "label"),
    (b"1e 1:2", 1, b"1e", "label"),
    (b". 1:2", 1, b".", "label"),
    (b"- 1:2", 1, b"-", "label"),
    (b"1 2", 3, b"2", "index:value"),
    (b"1 1:2 3:", 7, b"3:", "index:value"),
    (b"1 1:2 :3", 7, b":3", "index:value"),
    (b"1 1:2\t\t3:4x 5:6", 8, b"3:4x", "index:value"),
    (b"1 1 :2", 3, b"1", "index:value"),
    (b"1 1: 2", 3, b"1:", "index:value"),
    (b"1 1:2:3", 3, b"1:2:3", "index:value"),
    (b"1 1:2,3:4", 3, b"1:2,3:4", "index:value"),
    (b"1 1:nan", 3, b"1:nan", "finite"),
    (b"1 1:inf", 3, b"1:inf", "finite"),
    (b"1 1:-Infinity", 3, b"1:-Infinity", "finite"),
    (b"1 1:1e309", 3, b"1:1e309", "finite in float64"),
    (b"1 1:1_0", 3, b"1:1_0", "index:value"),
    (b"1 -1:2", 3, b"-1:2", "index:value"),
    (b"1 +1:2", 3, b"+1:2", "index:value"),
    (b"1 1.5:2", 3, b"1.5:2", "index:value"),
    (b"1 1:2#x\r\n1 y#", 3, b"y", "index:value"),
    (b"1 1000000000000000000:2", 3, b"1000000000000000000:2", "18 digits"),
    (b"1 99999999999999999999999999:2", 3, b"99999999999999999999999999:2", "18 digits"),
    (b"1 2:1 3:1 2:4", 11, b"2:4", "once"),
    (b"1 2:1 02:1", 7, b"02:1", "once"),
    (b"1 5:1 4:1 5:1 4:1", 11, b"5:1", "once"),
    (b"1 qid:3 1:2", 3, b"qid:3", "no qid"),
    (b"1 1:2 qid:3", 7, b"qid:3", "index:value"),
    (b"1 1:2\x003:4", 3, b"1:2\x003:4", "index:value"),
    (b"\x89PNG\x1a", 1, b"\x89PNG\x1a", "label"),
    (b"\xef\xbb\xbf1 1:2", 1, b"\xef\xbb\xbf1", "label"),
]


@pytest.mark.parametrize(("line", "column", "token", "wanted"), MALFORMED)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_malformed(tmp_path, line, column, token, wanted, n_jobs):
    path = tmp_path / "bad.svm"
    path.write_bytes(GOOD + line + b"\n1 also:bad\n")
    with pytest.raises(SvmlightError) as caught:
        load_svmlight(path, n_jobs=n_jobs)
    error = caught.value
    where = 5 if b"\n" in line else 4
    assert (error.path, error.line, error.column) == (str(path), where, column)
    message = str(error)
    assert message.startswith(f"{path}, line {where}, column {column}: found '")
    assert wanted in message
    assert message.isprintable()
    if token.isalnum():
        assert f"found '{token.decode()}'" in message
    # The token as the core names it, and the same error where the line is the last and unfinished.
    for text in (GOOD + line + b"\n", GOOD + line):
        fault = parse_in_pieces(text, chunk_bytes=16, block_bytes=8)
        assert fault[:3] == (where, column, token)


@pytest.mark.parametrize("token", [b"1", b"qid:", b"qid:x", b"qid:1.5", b"qid:9223372036854775808"])
def test_malformed_qid(token):
    with pytest.raises(SvmlightError, match="expected qid:N") as caught:
        load_svmlight(b"1 qid:1 1:2\n2 " + token + b" 1:2\n")
    assert caught.value.line == 2
    assert caught.value.column == (1 if token == b"1" else 3)


def test_qid_missing_later():
    with pytest.raises(SvmlightError, match="line 3, column 2: found '2', expected qid:N after this label"):
        load_svmlight(b"1 qid:1 1:2\n\n 2 1:2\n")


def test_index_zero_in_a_one_based_file():
    with pytest.raises(SvmlightError, match="line 2, column 7: found '0:3', expected indices from 1"):
        load_svmlight(b"1 1:1\n1 3:1 0:3\n", zero_based=False)


@pytest.mark.parametrize(
    ("text", "zero_based", "place"),
    [
        (b"1 1:1\n1 2:1 3:1 4:1\n", "auto", "line 2, column 7: found '3:1'"),
        (b"1 1:1\n1 2:1 3:1\n", False, "line 2, column 7: found '3:1'"),
        (b"1 1:1\n1 1:1 2:1\n", True, "line 2, column 7: found '2:1'"),
        (b"1 2:1\n1 2:1 1:1\n1 0:1\n", "auto", "line 1, column 3: found '2:1'"),
        (b"1 0:1\n1 1:1\n#\n1 2:1", "auto", "line 4, column 3: found '2:1'"),
    ],
)
def test_index_beyond_n_features(text, zero_based, place):
    with pytest.raises(SvmlightError, match=f"{place}, expected an index that fits n_features=2"):
        load_svmlight(text, n_features=2, zero_based=zero_based)


def test_float32_has_its_own_range():
    assert np.isfinite(load_svmlight(b"1 1:3.4028235e38", dtype=np.float32).X.data).all()
    with pytest.raises(SvmlightError, match="finite in float32"):
        load_svmlight(b"1 1:3.5e38", dtype=np.float32)
    assert load_svmlight(b"1e300 1:1e-60", dtype=np.float32).X.data.tolist() == [0]


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# nothing\r\n  \n", gzip.compress(b"", mtime=0), b"   "])
def test_no_examples(text):
    with pytest.raises(ValueError, match="no example"):
        load_svmlight(text)


def test_long_tokens_are_cut_in_messages():
    with pytest.raises(SvmlightError) as caught:
        load_svmlight(b"1 " + b"x" * 10_000)
    assert len(str(caught.value)) < 300


def test_a_long_line_of_repeated_indices_is_refused_soon():
    pairs = [b"%d:1" % (i % 50_000 + 1) for i in range(100_000)]
    with pytest.raises(SvmlightError, match="found '1:1', expected each index at most once"):
        load_svmlight(b"1 " + b" ".join(pairs))


def test_errors_can_be_pickled():
    with pytest.raises(SvmlightError) as caught:
        load_svmlight(b"x")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.path, copy.line, copy.column) == (str(caught.value), "<bytes>", 1, 1)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_svmlight(tmp_path / "none.svm")
    with pytest.raises(OSError, match="does not exist"):
        save_svmlight(tmp_path / "none" / "x.svm", [[1.0]], [1])


@pytest.mark.parametrize(
    "parameters",
    [
        {"dtype": np.int32},
        {"zero_based": "yes"},
        {"zero_based": 1},
        {"n_features": -1},
        {"n_features": 2.0},
        {"n_jobs": 0},
    ],
)
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=f"^{next(iter(parameters))} must be"):
        load_svmlight(b"1 1:1", **parameters)


def test_sources_of_the_wrong_kind():
    with pytest.raises(TypeError, match="binary mode"):
        load_svmlight(io.StringIO("1 1:1"))
    with pytest.raises(TypeError, match="must be a path"):
        load_svmlight(5)
