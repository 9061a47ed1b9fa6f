"""Kernel estimators in files: the same machine, or one sentence."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

import cutplane
from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import LABELS, TOY, iris


@functools.cache
def cases() -> dict[str, tuple[Any, Any]]:
    X, y = iris()
    K = rbf_kernel(X, X)
    return {
        "two classes": (SVC(kernel="poly", coef0=1.0, degree=2).fit(X, y > 0), X),
        "pairs": (SVC().fit(X, np.array(["a", "b", "c"])[y]), X),
        "rest, isotonic": (SVC(multi_class="ovr", probability="isotonic").fit(X, y), X),
        "sigmoid": (NuSVC(nu=0.3, probability=True, class_weight={0: 2.0}).fit(X, y), X),
        "sparse": (SVC(kernel="linear").fit(sp.csr_array(X), y), sp.csr_array(X)),
        "precomputed": (SVC(kernel="precomputed").fit(K, y), K),
        "regression": (SVR(kernel="laplacian").fit(sp.csr_array(X), y), X),
        "nu regression": (NuSVR(kernel="linear").fit(X, y), X),
        "one class": (OneClassSVM(nu=0.1).fit(X), X),
    }


@pytest.mark.parametrize("name", cases())
def test_a_saved_model_is_the_model(name: str, tmp_path: Any) -> None:
    model, X = cases()[name]
    model.save(tmp_path / "m")
    loaded = cutplane.load(tmp_path / "m")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    for attribute in (name for name in vars(model) if name.endswith("_")):
        found, expected = getattr(loaded, attribute), getattr(model, attribute)
        if sp.issparse(expected):
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_equal(found, expected)
        assert type(found) is type(expected)


def test_callable_kernels_cannot_be_saved(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="is a function, which a model file cannot hold"):
        SVC(kernel=lambda A, B: A @ B.T).fit(TOY, LABELS).save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("support", lambda a: a + 1000),
        ("n_support", lambda a: a + 1),
        ("dual_coef", lambda a: a[:, :-1].copy()),
        ("dual_coef", lambda a: np.full_like(a, np.nan)),
        ("intercept", lambda a: a[:-1].copy()),
        ("support_vectors.indices", lambda a: a + 1000),
        ("support_vectors.indptr", lambda a: a[::-1].copy()),
        ("calibration.at", lambda a: a[:-1].copy()),
        ("calibration.lengths", lambda a: a + 1),
        ("class_weight", lambda a: a[:-1].copy()),
    ],
)
def test_damaged_files_are_one_sentence(array: str, change: Any, tmp_path: Any) -> None:
    from cutplane.io.model_file import ModelFileError, read_model, write_model

    X, y = iris()
    SVC(probability=True).fit(sp.csr_array(X), y).save(tmp_path / "m")
    file = read_model(tmp_path / "m")
    arrays = {**file.arrays, array: change(file.arrays[array])}
    write_model(tmp_path / "n", kind=file.kind, arrays=arrays, metadata=file.metadata)
    with pytest.raises(ModelFileError, match="damaged SVC model file"):
        cutplane.load(tmp_path / "n")
