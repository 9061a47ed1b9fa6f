"""Explicit features whose products are those of a kernel, exactly or on a subspace: kernel machines by linear solvers.

Random Fourier features are scikit-learn's own: `sklearn.kernel_approximation.RBFSampler`.
"""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Matrix, MatrixLike, RandomState
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.kernel.descriptions import MAPS
from cutplane.estimators.kernel.kernel_choice import make_kernel
from cutplane.kernels.definite import NEGATIVE_SHARE
from cutplane.kernels.functions import Kernel, KernelFunction

# Kernel values are single precision: directions shorter than this fraction of the longest are rounding.
_SHORTEST = 1e-6
_ROWS_PER_BLOCK = 8192
_BASIS = 500


class _KernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features `projection_` times the kernel values with some basis examples."""

    kernel: str | KernelFunction
    gamma: str | float
    degree: int
    coef0: float
    n_jobs: int | None

    def _start(self, X: MatrixLike) -> tuple[Matrix, Kernel]:
        X = validation.check_rows(self, X, reset=True, for_kernel=True)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("kernel='precomputed' has no examples to make features of; give the kernel itself.")
        return X, make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)

    def _keep(self, kernel: Kernel, basis: Matrix, projection: Array) -> None:
        self._kernel = kernel
        self.basis_ = basis
        self.projection_ = projection
        self._n_features_out = projection.shape[1]

    def transform(self, X: MatrixLike) -> Array:
        """The features of X, of shape (n, n_components_)."""
        check_is_fitted(self)
        rows: Matrix = validation.check_rows(self, X, reset=False, for_kernel=True)
        threads = validation.check_threads(self.n_jobs)
        parts = [
            self._kernel.block(rows[i : i + _ROWS_PER_BLOCK], self.basis_, n_threads=threads).astype(np.float64)
            @ self.projection_
            for i in range(0, rows.shape[0], _ROWS_PER_BLOCK)
        ]
        return np.concatenate(parts)

    def __sklearn_tags__(self) -> Tags:
        """Scikit-learn's description of what this transformer takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@documented(MAPS)
class CholeskyFeatures(_KernelMap):
    """The projection of phi(x) on the span of r examples, by a Cholesky factor of their kernel matrix.

    Parameters
    ----------
    n_components : int or None, default=None
        Examples to project on, sampled or chosen by pivots, at most n; None: 500, or all if there are fewer.
    pivoted : bool, default=False
        Whether each example is the one furthest from the span of those before it: better, but n·r² work to choose.
    kernel, gamma, degree, coef0, n_jobs, random_state

    Attributes
    ----------
    basis_, projection_
    n_components_ : int
        Features: fewer than asked for where the basis has fewer dimensions.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.pipeline import make_pipeline
    >>> from cutplane import CholeskyFeatures, LinearSVC
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = make_pipeline(CholeskyFeatures(50, gamma=5.0), LinearSVC()).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        pivoted: bool = False,
        kernel: str | KernelFunction = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.pivoted = pivoted
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Choose the basis among the rows of X."""
        if self.n_components is not None:
            validation.check_count("n_components", self.n_components)
        validation.check_flag("pivoted", self.pivoted)
        X, kernel = self._start(X)
        r = self._basis_size(X.shape[0])
        random = check_random_state(0 if self.random_state is None else self.random_state)
        chosen = self._pivots(X, kernel, r) if self.pivoted else np.sort(random.permutation(X.shape[0])[:r])
        basis = X[chosen]
        gram = kernel.block(basis, basis, n_threads=validation.check_threads(self.n_jobs)).astype(np.float64)
        self._keep(kernel, basis, _inverse_factor(gram))
        self.n_components_ = self.projection_.shape[1]
        return self

    def _basis_size(self, n: int) -> int:
        if self.n_components is None:
            return min(_BASIS, n)
        if self.n_components > n:
            raise ValueError(
                f"n_components={self.n_components} is more than the {n} examples of X; a basis has at most as many."
            )
        return int(self.n_components)

    def _pivots(self, X: Matrix, kernel: Kernel, r: int) -> NDArray[np.intp]:
        """Greedily the example furthest from the span so far: incomplete Cholesky with pivoting."""
        threads = validation.check_threads(self.n_jobs)
        residual = kernel.diagonal(X, n_threads=threads).astype(np.float64)
        largest = float(residual.max())
        everyone = kernel.examples(X, n_threads=threads) if kernel.computed else X
        factor = np.zeros((r, X.shape[0]))
        chosen: list[int] = []
        for step in range(r):
            pivot = int(residual.argmax())
            if residual[pivot] <= _SHORTEST * largest:
                break
            chosen.append(pivot)
            column = kernel.block(X[pivot : pivot + 1], everyone, n_threads=threads)[0].astype(np.float64)
            column -= factor[:step, pivot] @ factor[:step]
            factor[step] = column / np.sqrt(residual[pivot])
            residual -= factor[step] ** 2
            residual[pivot] = 0.0
        if residual.min() < -NEGATIVE_SHARE * largest:
            _warn_of(f"The squared distance of an example from the span of others is {residual.min():.2g}")
        return np.array(chosen or [0])


@documented(MAPS)
class WhitenedKernelMap(_KernelMap):
    """Features of all training examples whose products are the kernel's: K^(-1/2) k(x).

    A linear machine on these features is the kernel machine itself. It takes n² memory and n³ time once, and pays where
    many machines are trained on the same examples, or where a linear solver does what no kernel solver does (Franc and
    Sonnenburg 2009, 5.2).

    Parameters
    ----------
    kernel, gamma, degree, coef0, n_jobs

    Attributes
    ----------
    basis_, projection_

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane import WhitenedKernelMap
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> F = WhitenedKernelMap(gamma=1.0).fit_transform(X)
    >>> (F @ F.T).round(3)
    array([[1.   , 0.368, 0.   ],
           [0.368, 1.   , 0.018],
           [0.   , 0.018, 1.   ]])
    """

    def __init__(
        self,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Take the square root of the kernel matrix of X."""
        X, kernel = self._start(X)
        gram = kernel.block(X, X, n_threads=validation.check_threads(self.n_jobs)).astype(np.float64)
        self._keep(kernel, X, _inverse_root(gram))
        return self


def _inverse_factor(gram: Array) -> Array:
    """P with P P' = gram^-1, so that k(x) P has the products of the projections; by eigenvectors where singular."""
    try:
        factor = scipy.linalg.cholesky(gram, lower=True)
        if float(np.diag(factor).min()) ** 2 > _SHORTEST * float(np.diag(gram).max()):
            inverse = scipy.linalg.solve_triangular(factor, np.eye(len(gram)), lower=True)
            return np.ascontiguousarray(inverse.T)
    except scipy.linalg.LinAlgError:
        pass
    return _inverse_root(gram)


def _inverse_root(gram: Array) -> Array:
    """The same by eigenvectors, of those with positive eigenvalues."""
    values, vectors = scipy.linalg.eigh(gram)
    if values[-1] <= _SHORTEST * abs(values[0]):
        raise ValueError(
            f"The largest eigenvalue of the kernel matrix is {values[-1]:.2g}; a kernel that has features is positive "
            "semi-definite."
        )
    if values[0] < -NEGATIVE_SHARE * values[-1]:
        _warn_of(f"The kernel matrix has the eigenvalue {values[0]:.2g}")
    kept = values > _SHORTEST * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _warn_of(sign: str) -> None:
    warnings.warn(
        f"{sign}: the kernel is not positive semi-definite, and the features are those of its positive part.",
        UserWarning,
        stacklevel=4,
    )
