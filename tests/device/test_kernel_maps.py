"""Features by kernels on a device: those of the processor, where examples lie."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from cutplane import CholeskyFeatures, LinearSVC, WhitenedKernelMap
from cutplane.device import arrays
from cutplane.device.arrays import is_on_device
from cutplane.device.kernels import Kernels
from cutplane.device.twin import TwinKernels
from cutplane.device.twin_arrays import TwinArray
from cutplane.kernels import Kernel
from cutplane.kernels import device_scores as device_scores_module

Put = Callable[[Any], Any]

MAPS = [CholeskyFeatures(40), CholeskyFeatures(40, pivoted=True), WhitenedKernelMap()]
KERNELS: list[dict[str, Any]] = [
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.3, "coef0": 1.0},
]


def examples(n: int = 150, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] * X[:, 1] > 0.0).astype(int)


def products(F: Any) -> Any:
    """What features are for: they themselves are one of many that have the same."""
    return F @ F.T


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernel values of the processor fail."""

    def fail(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("made on the processor")

    monkeypatch.setattr(Kernel, "block", fail)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel["kernel"])
@pytest.mark.parametrize("features", MAPS, ids=["sample", "pivots", "whitened"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_features_of_the_processor(
    put: Put, features: Any, kernel: dict[str, Any], sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block by block; of the basis, the kernel's own products."""
    monkeypatch.setattr(device_scores_module, "_AT_ONCE", 1000)
    X, new = examples()[0], examples(70, seed=1)[0]
    if sparse:
        X, new = (sp.csr_array(np.where(np.abs(each) > 0.4, each, 0.0)) for each in (X, new))
    alone = clone(features).set_params(**kernel).fit(X)
    found = clone(features).set_params(**kernel, device="cuda").fit(X)
    F = found.transform(new)
    assert type(F) is np.ndarray
    assert F.dtype == np.float64
    assert F.shape == (70, found.projection_.shape[1])
    size = np.abs(products(alone.transform(new))).max()
    assert_allclose(products(F), products(alone.transform(new)), atol=5e-3 * size)
    basis = found.transform(found.basis_)
    K = Kernel(kernel["kernel"], kernel.get("gamma", 1.0), coef0=kernel.get("coef0", 0.0)).block(
        found.basis_, found.basis_
    )
    assert_allclose(products(basis), K, atol=5e-3 * np.abs(K).max())


@pytest.mark.usefixtures("nothing_here")
@pytest.mark.parametrize("features", MAPS, ids=["sample", "pivots", "whitened"])
def test_kernel_values_are_computed_there(put: Put, features: Any) -> None:
    X, _ = examples()
    copied = clone(features).set_params(device="cuda").fit_transform(X)
    lying = clone(features).fit_transform(put(X))
    assert lying.shape == copied.shape


@pytest.mark.parametrize("features", MAPS, ids=["sample", "pivots", "whitened"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_that_lie_there(put: Put, kernels: Kernels, features: Any, dtype: type) -> None:
    """Their features lie there; both are those of arrays that are copied."""
    X = examples()[0].astype(dtype)
    copied, lying = clone(features).set_params(device="cuda").fit(X), clone(features).fit(put(X))
    assert_array_equal(lying.projection_, copied.projection_)
    assert type(lying.basis_) is np.ndarray
    there = lying.transform(put(X))
    assert isinstance(there, type(kernels.to_device(np.zeros(1))))
    assert_allclose(kernels.to_host(there), copied.transform(X), rtol=1e-6, atol=1e-6)
    size = np.abs(kernels.to_host(there)).max()
    assert_allclose(products(kernels.to_host(there)), products(lying.transform(X)), atol=5e-3 * size**2)


def test_pivots_are_those_of_the_processor(put: Put) -> None:
    """Examples far from each other leave no doubt who is furthest."""
    X = 3.0 ** np.arange(12)[:, None] * np.ones((1, 2))
    found, alone = (
        CholeskyFeatures(5, pivoted=True, kernel="linear", device=device).fit(X) for device in ("cuda", None)
    )
    assert_array_equal(found.basis_, alone.basis_)
    assert_array_equal(found.basis_[0], X[-1])


@pytest.mark.parametrize("pivoted", [False, True])
def test_from_end_to_end(put: Put, kernels: Kernels, pivoted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The linear machine has features that lie on the device, and is trained there."""
    if isinstance(kernels, TwinKernels):  # what a transformer answers with says where it lies, as CuPy's arrays do
        monkeypatch.setattr(TwinArray, "__dlpack_device__", lambda self: (2, 0))
    X, y = examples()
    model = make_pipeline(CholeskyFeatures(40, gamma=1.0, pivoted=pivoted, device="cuda"), LinearSVC(10.0))
    model.fit(put(X), put(y))
    there = model.predict(put(X))
    assert is_on_device(model[0].transform(put(X)))
    assert is_on_device(there)
    assert np.mean(kernels.to_host(there) == y) > 0.95
    alone = clone(model).set_params(choleskyfeatures__device=None).fit(X, y)
    if not pivoted:
        assert model[-1].lower_bound_ <= alone[-1].objective_ * (1 + 1e-4)
        assert alone[-1].lower_bound_ <= model[-1].objective_ * (1 + 1e-4)


def test_kernels_that_devices_do_not_have(put: Put, kernels: Kernels) -> None:
    X, _ = examples()
    for settings in ({"kernel": "laplacian"}, {"kernel": lambda A, B: A @ B.T}):
        with pytest.raises(ValueError, match=r"has the kernels linear, .* not '(laplacian|callable)'"):
            CholeskyFeatures(20, device="cuda", **settings).fit(X)
        with pytest.raises(ValueError, match=r"has the kernels linear, .* not '(laplacian|callable)'"):
            CholeskyFeatures(20, **settings).fit(put(X))
        alone = CholeskyFeatures(20, **settings).fit(X)  # its values are the processor's, wherever examples lie
        assert_array_equal(kernels.to_host(alone.transform(put(X))), alone.transform(X))


@pytest.mark.parametrize(
    ("settings", "scale", "sentence"),
    [
        ({"device": "gpu"}, 1.0, "device='gpu' must be 'cuda'"),
        ({"device": ["cuda:0"]}, 1.0, "kernels are computed on one GPU, 'cuda'"),
        ({"kernel": "precomputed"}, 1.0, "has no examples to make features of"),
        ({"kernel": "linear"}, 1e10, "Kernel values are up to"),
    ],
)
def test_what_is_refused(put: Put, settings: dict[str, Any], scale: float, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        WhitenedKernelMap(**{"device": "cuda", **settings}).fit(examples()[0] * scale)


def test_new_examples_that_are_wrong(put: Put) -> None:
    X, _ = examples()
    features = CholeskyFeatures(20).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but the model was trained with 3"):
        features.transform(put(X[:, :2]))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="Column 1 of X"):
        features.transform(put(X))


@pytest.mark.parametrize("features", MAPS, ids=["sample", "pivots", "whitened"])
def test_pickles_need_no_device(put: Put, features: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = examples()
    found = clone(features).set_params(gamma=0.5).fit(put(X)).set_params(device="cuda")
    there = found.transform(X)
    monkeypatch.setattr(arrays, "has_device", lambda: False)
    back = pickle.loads(pickle.dumps(found))
    assert_allclose(products(back.transform(X)), products(there), atol=5e-3)


def test_a_kernel_that_is_not_positive_semi_definite_is_warned_of(put: Put) -> None:
    features = CholeskyFeatures(100, pivoted=True, kernel="sigmoid", gamma=2.0, coef0=-1.0, device="cuda")
    with pytest.warns(UserWarning, match="the kernel is not positive semi-definite"):
        assert np.isfinite(features.fit_transform(examples()[0])).all()
