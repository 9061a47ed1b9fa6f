import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve

rng = np.random.default_rng(0)
A, B = rng.random((37, 300)), rng.random((101, 300))
SPARSE_A, SPARSE_B = (sp.csr_matrix(np.where(M > 0.8, M, 0)) for M in (A, B))
REFERENCES = {
    "linear": (pairwise.linear_kernel, {}),
    "rbf": (pairwise.rbf_kernel, {"gamma": 0.05}),
    "poly": (pairwise.polynomial_kernel, {"gamma": 0.1, "coef0": 0.5, "degree": 4}),
    "sigmoid": (pairwise.sigmoid_kernel, {"gamma": 0.01, "coef0": -0.3}),
    "laplacian": (pairwise.laplacian_kernel, {"gamma": 0.02}),
    "chi2": (pairwise.chi2_kernel, {"gamma": 0.1}),
}
every_kernel = pytest.mark.parametrize("name", list(REFERENCES))


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def with_wide_indices(X):
    return sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


@every_kernel
@pytest.mark.parametrize("features", [3, 16, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_blocks(name, features, dtype):
    reference, parameters = REFERENCES[name]
    left, right = A[:, :features].astype(dtype), B[:, :features].astype(dtype)
    expected = reference(left.astype(float), right.astype(float), **parameters)
    found = Kernel(name, **parameters).block(left, right)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@every_kernel
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (SPARSE_A, SPARSE_B),
        (A, SPARSE_B),
        (SPARSE_A, B),
        (with_wide_indices(SPARSE_A), with_wide_indices(SPARSE_B)),
        (SPARSE_A, sp.csr_matrix(B)),  # so full that it is kept dense
    ],
    ids=["sparse", "dense-sparse", "sparse-dense", "int64", "full"],
)
def test_sparse_blocks(name, left, right):
    reference, parameters = REFERENCES[name]
    expected = reference(dense(left), dense(right), **parameters)
    found = Kernel(name, **parameters).block(left, right)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_the_exponential_is_good_to_single_precision():
    # chi2 with an empty example is exp(-gamma x): no other rounding than that of the argument.
    x = np.linspace(1e-3, 86, 200_000)
    found = Kernel("chi2").block(np.zeros((1, 1)), x[:, None])[0]
    relative = np.abs(found / np.exp(-x.astype(np.float32).astype(float)) - 1)
    assert np.all(relative <= 2e-7 + 2e-7 * x)
    assert Kernel("chi2").block(np.zeros((1, 1)), np.array([[100.0]]))[0, 0] == 0.0


def test_close_examples_far_from_the_origin():
    X = 1000.0 + 1e-2 * rng.random((50, 20))
    expected = pairwise.rbf_kernel(X - 1000.0, gamma=100.0)
    np.testing.assert_allclose(Kernel("rbf", gamma=100.0).block(X, X), expected, rtol=1e-4)


def test_wide_spread_does_not_cancel():
    X = 50.0 * rng.normal(size=(40, 100))
    X[1] = X[0] + 1e-3
    found = Kernel("rbf", gamma=1e3).block(X, X)
    assert found[0, 1] == pytest.approx(np.exp(-1e3 * np.sum((X[1] - X[0]) ** 2)), rel=5e-2)


@every_kernel
@pytest.mark.parametrize(("left", "right"), [(A, B), (SPARSE_A, SPARSE_B)], ids=["dense", "sparse"])
def test_blocks_do_not_depend_on_threads_or_cuts(name, left, right):
    kernel = Kernel(name, **REFERENCES[name][1])
    whole = kernel.block(left, right, n_threads=1)
    assert np.array_equal(whole, kernel.block(left, right, n_threads=3))
    for rows in (slice(0, 1), slice(5, 9), slice(20, 37)):
        assert np.array_equal(whole[rows], kernel.block(left[rows], right))


@pytest.mark.parametrize("gamma", [0.001, 0.1], ids=["by products", "by differences"])
@pytest.mark.parametrize("columns", [16, 48, 272], ids="{} columns".format)
def test_values_do_not_depend_on_the_tile_they_fall_into(columns, gamma):
    """Tiles of one row and one panel of 16 columns are the smallest; features are more than are summed in one go."""
    X = rng.normal(size=(columns, 300))
    X[-1] *= 3.0  # gamma |x|² above 80 asks for differences
    kernel = Kernel("rbf", gamma=gamma)
    right = kernel.examples(X)
    whole = kernel.block(X[:16], right, n_threads=1)
    assert len(np.unique(whole)) > columns
    for first, last in ((0, 1), (3, 5), (1, 4), (2, 6), (0, 13), (1, 16)):
        assert np.array_equal(kernel.block(X[first:last], right, n_threads=1), whole[first:last])


@every_kernel
@pytest.mark.parametrize("X", [B, SPARSE_B], ids=["dense", "sparse"])
def test_diagonal_is_that_of_the_block(name, X):
    kernel = Kernel(name, **REFERENCES[name][1])
    assert np.array_equal(kernel.diagonal(X), np.diagonal(kernel.block(X, X)))


@every_kernel
@pytest.mark.parametrize(("left", "right"), [(A, B), (SPARSE_A, SPARSE_B)], ids=["dense", "sparse"])
def test_products_need_no_block(name, left, right):
    kernel = Kernel(name, **REFERENCES[name][1])
    block = kernel.block(left, right).astype(float)
    for coef in (rng.normal(size=len(B)), rng.normal(size=(len(B), 3))):
        np.testing.assert_allclose(kernel.product(left, right, coef), block @ coef, rtol=1e-12, atol=1e-9)
        prepared = kernel.examples(right)
        assert np.array_equal(kernel.product(left, prepared, coef), kernel.product(left, right, coef))


def test_callable_and_precomputed():
    called = Kernel("callable", function=lambda left, right: left @ right.T)
    np.testing.assert_allclose(called.block(A, B), A @ B.T, rtol=1e-6)
    coef = rng.normal(size=len(B))
    np.testing.assert_allclose(called.product(A, B, coef), A @ B.T @ coef, rtol=1e-5)
    np.testing.assert_allclose(called.diagonal(A), np.sum(A**2, axis=1), rtol=1e-6)
    np.testing.assert_allclose(Kernel("precomputed").product(A @ B.T, B, coef), A @ B.T @ coef, rtol=1e-5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"name": "gauss"}, "kernel='gauss' must be one of 'linear'"),
        ({"gamma": 0.0}, "gamma=0.0 must be a finite number greater than 0"),
        ({"gamma": -1}, "gamma=-1 must be"),
        ({"gamma": float("nan")}, "gamma=nan must be"),
        ({"degree": 2.5}, "degree=2.5 must be an integer between 0 and 1000"),
        ({"degree": -1}, "degree=-1 must be"),
        ({"coef0": float("inf")}, "coef0=inf must be a finite number"),
        ({"name": "callable"}, "must be callable, not None"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Kernel(**parameters)


@pytest.mark.parametrize(
    ("X", "kernel", "message"),
    [
        (A[:5, :4], Kernel("precomputed"), r"must be square; X has shape \(5, 4\)"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), Kernel("precomputed"), "value nan at row 0, column 1"),
        (-A, Kernel("chi2"), r"X has the value -0\.99.*chi2 kernel needs values of 0 or greater"),
        (A[:0], Kernel("rbf"), "X has no rows"),
        (A, Kernel("callable", function=lambda left, right: np.ones(3)), r"returned shape \(3,\)"),
        (A, Kernel("callable", function=lambda left, right: np.full((len(left), len(right)), np.nan)), "returned nan"),
    ],
)
def test_bad_examples(X, kernel, message):
    with pytest.raises(ValueError, match=message):
        KernelMatrix(X, kernel)


def test_bad_types():
    with pytest.raises(TypeError, match="float32 or float64, not int64"):
        KernelMatrix(np.ones((3, 2), int), Kernel("rbf"))
    with pytest.raises(TypeError, match="must be a dense array, not csr_matrix"):
        KernelMatrix(sp.csr_matrix(np.eye(3)), Kernel("precomputed"))


def test_a_small_cache_says_so_once_when_it_is_used():
    y = np.where(np.arange(len(B)) % 2, 1, -1)
    problem = DualProblem.classification(y, 1.0)
    matrix = KernelMatrix(B, Kernel("rbf"), cache_bytes=1000)
    assert not matrix.whole
    with pytest.warns(
        UserWarning, match=r"holds 2 of the 101 rows .* fewer than the 101 .* computes rows over and over"
    ):
        solve(problem, matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(problem, matrix)
        solve(problem, KernelMatrix(B, Kernel("rbf"), cache_bytes=101 * 448))
        solve(problem, KernelMatrix(Kernel("rbf").block(B, B).astype(float), Kernel("precomputed"), cache_bytes=1000))
    with pytest.raises(ValueError, match="cache_bytes=0 must be greater than 0"):
        KernelMatrix(B, Kernel("rbf"), cache_bytes=0)
