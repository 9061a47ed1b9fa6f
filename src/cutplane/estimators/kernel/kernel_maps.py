"""Explicit features whose products are those of a kernel, exactly or on a subspace: kernel machines by linear solvers.

Random Fourier features are scikit-learn's own: `sklearn.kernel_approximation.RBFSampler`.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Self, cast

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Matrix, MatrixLike, RandomState
from cutplane.device import arrays
from cutplane.device.kernels import Kernels
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.kernel.descriptions import MAPS
from cutplane.estimators.kernel.kernel_choice import make_kernel
from cutplane.estimators.kernel.placement import (
    ScoresThere,
    answers_in_place,
    brought,
    check_one_device,
    is_asked_there,
)
from cutplane.kernels.definite import NEGATIVE_SHARE
from cutplane.kernels.device_features import gram, pivots_there
from cutplane.kernels.device_rows import check_there
from cutplane.kernels.functions import Kernel, KernelFunction
from cutplane.kernels.pivots import SHORTEST, pivots

_ROWS_PER_BLOCK = 8192
_BASIS = 500


class _KernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features `projection_` times the kernel values with some basis examples."""

    kernel: str | KernelFunction
    gamma: str | float
    degree: int
    coef0: float
    n_jobs: int | None
    device: str | None

    def _start(self, X: MatrixLike) -> tuple[Matrix, Kernel, Kernels | None]:
        """The examples on the host, the kernel, and the device that computes its values, where one does."""
        check_one_device(self.device)
        there = arrays.cuda_kernels() if is_asked_there(self.device, X) else None
        rows = validation.check_rows(self, brought(X), reset=True, for_kernel=True)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("kernel='precomputed' has no examples to make features of; give the kernel itself.")
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, rows)
        if there is not None:
            check_there(kernel, rows)
        return rows, kernel, there

    def _gram(self, kernel: Kernel, X: Matrix, there: Kernels | None) -> Array:
        """K(X, X), of values in single precision."""
        if there is not None:
            return gram(there, kernel, X)
        return kernel.block(X, X, n_threads=validation.check_threads(self.n_jobs)).astype(np.float64)

    def _keep(self, kernel: Kernel, basis: Matrix, projection: Array) -> None:
        self._kernel = kernel
        self.basis_ = basis
        self.projection_ = projection
        self._n_features_out = projection.shape[1]

    @answers_in_place
    def transform(self, X: MatrixLike) -> Array:
        """The features of X, of shape (n, n_components_): of arrays on a GPU arrays there."""
        check_is_fitted(self)
        there = ScoresThere.of_device(self._kernel, X, self.n_features_in_)
        if there is not None:
            return cast(Array, there.features(self.basis_, self.projection_, stays=True))
        rows: Matrix = validation.check_rows(self, brought(X), reset=False, for_kernel=True)
        there = None if self.device is None else ScoresThere.of_host(self._kernel, rows)
        if there is not None:
            return cast(Array, there.features(self.basis_, self.projection_, stays=False))
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
    kernel, gamma, degree, coef0, n_jobs, device, random_state

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
        device: str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.pivoted = pivoted
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Choose the basis among the rows of X."""
        if self.n_components is not None:
            validation.check_count("n_components", self.n_components)
        validation.check_flag("pivoted", self.pivoted)
        X, kernel, there = self._start(X)
        r = self._basis_size(X.shape[0])
        random = check_random_state(0 if self.random_state is None else self.random_state)
        chosen = self._pivots(X, kernel, r, there) if self.pivoted else np.sort(random.permutation(X.shape[0])[:r])
        basis = X[chosen]
        self._keep(kernel, basis, _inverse_factor(self._gram(kernel, basis, there)))
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

    def _pivots(self, X: Matrix, kernel: Kernel, r: int, there: Kernels | None) -> NDArray[np.intp]:
        """Greedily the example furthest from the span so far."""
        threads = validation.check_threads(self.n_jobs)
        own = kernel.diagonal(X, n_threads=threads).astype(np.float64)
        if there is not None:
            found = pivots_there(there, kernel, X, own, r)
        else:
            everyone = kernel.examples(X, n_threads=threads) if kernel.computed else X
            found = pivots(own, partial(_column, kernel, X, everyone, threads), r, np)
        if found.least < -NEGATIVE_SHARE * found.largest:
            _warn_of(f"The squared distance of an example from the span of others is {found.least:.2g}")
        return np.array(found.chosen or [0])


@documented(MAPS)
class WhitenedKernelMap(_KernelMap):
    """Features of all training examples whose products are the kernel's: K^(-1/2) k(x).

    A linear machine on these features is the kernel machine itself. It takes n² memory and n³ time once, and pays where
    many machines are trained on the same examples, or where a linear solver does what no kernel solver does (Franc and
    Sonnenburg 2009, 5.2).

    Parameters
    ----------
    kernel, gamma, degree, coef0, n_jobs, device

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
        device: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Take the square root of the kernel matrix of X."""
        X, kernel, there = self._start(X)
        self._keep(kernel, X, _inverse_root(self._gram(kernel, X, there)))
        return self


def _column(kernel: Kernel, X: Matrix, everyone: Any, n_threads: int, pivot: int) -> Array:
    """Kernel values of an example with all."""
    return np.asarray(kernel.block(X[pivot : pivot + 1], everyone, n_threads=n_threads)[0], np.float64)


def _inverse_factor(gram: Array) -> Array:
    """P with P P' = gram^-1, so that k(x) P has the products of the projections; by eigenvectors where singular."""
    try:
        factor = scipy.linalg.cholesky(gram, lower=True)
        if float(np.diag(factor).min()) ** 2 > SHORTEST * float(np.diag(gram).max()):
            inverse = scipy.linalg.solve_triangular(factor, np.eye(len(gram)), lower=True)
            return np.ascontiguousarray(inverse.T)
    except scipy.linalg.LinAlgError:
        pass
    return _inverse_root(gram)


def _inverse_root(gram: Array) -> Array:
    """The same by eigenvectors, of those with positive eigenvalues."""
    values, vectors = scipy.linalg.eigh(gram)
    if values[-1] <= SHORTEST * abs(values[0]):
        raise ValueError(
            f"The largest eigenvalue of the kernel matrix is {values[-1]:.2g}; a kernel that has features is positive "
            "semi-definite."
        )
    if values[0] < -NEGATIVE_SHARE * values[-1]:
        _warn_of(f"The kernel matrix has the eigenvalue {values[0]:.2g}")
    kept = values > SHORTEST * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _warn_of(sign: str) -> None:
    warnings.warn(
        f"{sign}: the kernel is not positive semi-definite, and the features are those of its positive part.",
        UserWarning,
        stacklevel=4,
    )
