"""The Adult data set: does a person earn over 50,000 dollars a year?

Source, licence and how it was made binary: `data/adult/README.md` beside this file.
"""

from __future__ import annotations

import lzma
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane.io.svmlight import load_svmlight

Subset: TypeAlias = Literal["train", "test"]

N_FEATURES = 123


class Dataset(NamedTuple):
    """Examples and their labels; unpacks as ``X, y``."""

    X: sp.csr_array
    y: NDArray[np.int64]


def load_adult(subset: Subset = "train") -> Dataset:
    """Load Adult (LIBSVM's a9a), which comes with the package.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        32,561 examples to train on, or 16,281 to test with.

    Returns
    -------
    Dataset
        ``X``, a CSR matrix of 123 binary features, and ``y`` of -1 and +1.

    Notes
    -----
    Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository, CC BY 4.0.
    Made binary by Platt (1998); from the LIBSVM data page.

    Examples
    --------
    >>> from cutplane.datasets import load_adult
    >>> X, y = load_adult()
    >>> X.shape
    (32561, 123)
    """
    with as_file(_resource(subset)) as path:
        loaded = load_svmlight(path, n_features=N_FEATURES, zero_based=False)
    return Dataset(loaded.X, loaded.y.astype(np.int64))


def adult_svmlight(subset: Subset = "train") -> bytes:
    """Return Adult as the text of an svmlight file, for programs that read files."""
    return lzma.decompress(_resource(subset).read_bytes())


def _resource(subset: Subset) -> Traversable:
    if subset not in ("train", "test"):
        raise ValueError(f"subset={subset!r} is not a part of Adult; it is 'train' or 'test'.")
    return files("cutplane.datasets") / "data" / "adult" / f"{subset}.svm.xz"
