"""Sampled cuts with kernels on a device: the models of the processor, proven as there."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from cutplane import KernelStructuralSVM, SampledCutSVC, load
from cutplane.device import arrays
from cutplane.device.kernels import Kernels
from cutplane.kernels import Kernel, device_exact, device_expansions
from cutplane.kernels.device_expansions import device_kernel_rows
from cutplane.kernels.exact import exact_matrix, exact_products
from cutplane.kernels.expansions import HostKernelRows
from cutplane.structured.chain import ChainModel

Put = Callable[[Any], Any]

KERNELS = [
    Kernel("rbf", gamma=0.7),
    Kernel("linear"),
    Kernel("poly", gamma=0.3, coef0=1.0, degree=3),
    Kernel("sigmoid", gamma=0.05, coef0=0.1),
    Kernel("precomputed"),
]
METHODS = ["linear", "constant", "exact"]


def examples(n: int = 200, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.5 * y
    return X, y


def given_to(kernel: Kernel, X: Any) -> Any:
    """What is X for this kernel."""
    return exact_matrix(KERNELS[0], X, np.arange(len(X))) if kernel.name == "precomputed" else X


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever would multiply kernel values on the processor fails."""

    def fail(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("made on the processor")

    monkeypatch.setattr(HostKernelRows, "__init__", fail)
    monkeypatch.setattr(Kernel, "products", fail)
    monkeypatch.setattr(Kernel, "product", fail)


def fits(found: SampledCutSVC, alone: SampledCutSVC) -> None:
    """Both are proven, of the same problem, and are nearly one model."""
    assert found.stop_reason_ == "risk_tol"
    assert found.objective_ == pytest.approx(alone.objective_, rel=0.05)
    if found.method != "constant":
        assert found.certificate_of_ == "kernel"
        assert found.lower_bound_ <= alone.objective_
        assert alone.lower_bound_ <= found.objective_
        assert found.gap_ <= 1.1 * alone.gap_


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("method", METHODS)
def test_the_model_of_the_processor(put: Put, kernel: Kernel, method: str) -> None:
    X, y = examples()
    settings: Any = {"kernel": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0}
    settings |= {"method": method, "n_samples_cut": 120}
    found, alone = (SampledCutSVC(5.0, device=device, **settings).fit(X, y) for device in ("cuda", None))
    fits(found, alone)
    assert np.mean(found.predict(X) == alone.predict(X)) > 0.97
    assert_allclose(found.decision_function(X), alone.decision_function(X), atol=0.05)


@pytest.mark.usefixtures("nothing_here")
@pytest.mark.parametrize("method", METHODS)
def test_kernel_values_are_computed_there(put: Put, method: str) -> None:
    X, y = examples()
    assert SampledCutSVC(5.0, method=method, device="cuda").fit(X, y).predict(X).any()
    assert SampledCutSVC(5.0, method=method).fit(put(X), put(y)).predict(put(X)).any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sparse", [False, True])
def test_several_classes_weights_and_sparse_rows(put: Put, method: str, sparse: bool) -> None:
    X, y = examples(classes=3)
    weights = np.random.default_rng(1).uniform(0.0, 3.0, len(y))
    rows = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)) if sparse else X.astype(np.float32)
    found, alone = (
        SampledCutSVC(5.0, gamma=0.7, method=method, device=device).fit(rows, y, weights) for device in ("cuda", None)
    )
    fits(found, alone)
    assert_allclose(found.decision_function(rows), alone.decision_function(rows), atol=0.05)


@pytest.mark.parametrize("method", METHODS)
def test_arrays_that_lie_there(put: Put, kernels: Kernels, method: str) -> None:
    """They are trained on there, and predictions come back there; both are those of arrays that are copied."""
    X, y = examples()
    settings: Any = {"method": method, "gamma": 0.7, "intercept_scaling": 1.0}
    copied = SampledCutSVC(5.0, device="cuda", **settings).fit(X, y)
    lying = SampledCutSVC(5.0, **settings).fit(put(X), put(y))
    assert_array_equal(copied.dual_coef_, lying.dual_coef_)
    assert copied.lower_bound_ == lying.lower_bound_
    for call in ("predict", "decision_function"):
        there = getattr(lying, call)(put(X))
        assert isinstance(there, type(kernels.to_device(np.zeros(1))))
        assert_allclose(kernels.to_host(there), getattr(copied, call)(X), rtol=1e-6, atol=1e-6)
        assert_allclose(kernels.to_host(there), getattr(lying, call)(X), rtol=1e-4, atol=1e-4)
    words = SampledCutSVC(5.0, **settings).fit(put(X), np.array(["no", "yes"])[y])
    assert set(words.predict(put(X))) == {"no", "yes"}


@pytest.mark.parametrize("method", METHODS)
def test_matrices_that_are_given(put: Put, kernels: Kernels, method: str) -> None:
    X, y = examples()
    K = given_to(KERNELS[-1], X)
    found, alone = (
        SampledCutSVC(5.0, kernel="precomputed", method=method, device=device).fit(K, y) for device in ("cuda", None)
    )
    fits(found, alone)
    assert found.n_iter_ == alone.n_iter_
    lying = SampledCutSVC(5.0, kernel="precomputed", method=method).fit(put(K), put(y))
    assert_array_equal(lying.dual_coef_, found.dual_coef_)
    assert_array_equal(kernels.to_host(lying.predict(put(K))), found.predict(K))
    with pytest.raises(TypeError, match=r"Sparse kernel matrices are for the processor; .* K\.toarray\(\)"):
        found.fit(sp.csr_array(K), y)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"device": "gpu"}, "device='gpu' must be 'cuda'"),
        ({"device": ["cuda:0", "cuda:1"]}, "kernels are computed on one GPU, 'cuda'"),
        ({"kernel": "laplacian"}, "has the kernels linear, .* precomputed ones, not 'laplacian'"),
        ({"kernel": lambda A, B: A @ B.T}, "has the kernels linear, .* precomputed ones, not 'callable'"),
        ({"kernel": "linear"}, "Kernel values are up to"),
    ],
)
def test_what_is_refused(put: Put, settings: dict[str, Any], sentence: str) -> None:
    X, y = examples()
    with pytest.raises(ValueError, match=sentence):
        SampledCutSVC(**{"device": "cuda", **settings}).fit(X * 1e10, y)


def test_sparse_rows_that_do_not_fit_as_dense_ones(put: Put, kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = examples()
    monkeypatch.setattr(type(kernels), "free_bytes", property(lambda self: 1000))
    with pytest.raises(ValueError, match=r"X of shape \(200, 3\) is sparse and takes 4\.8e-06 GB .* 1e-06 GB are left"):
        SampledCutSVC(device="cuda").fit(sp.csr_array(X), y)


def test_new_examples_that_are_wrong(put: Put) -> None:
    X, y = examples()
    model = SampledCutSVC().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but the model was trained with 3"):
        model.predict(put(X[:, :2]))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="Column 1 of X"):
        model.predict(put(X))
    with pytest.raises(ValueError, match="Row 2 of X"):
        model.fit(put(X), y)


def test_files_predict_without_a_device(put: Put, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = examples()
    model = SampledCutSVC(device="cuda").fit(X, y)
    model.save(tmp_path / "model")
    there = model.decision_function(X)
    monkeypatch.setattr(arrays, "has_device", lambda: False)
    back = load(tmp_path / "model")
    assert back.device == "cuda"
    assert_allclose(back.decision_function(X), there, atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("columns", [1, 3, 19])
def test_products_of_expansions(
    kernels: Kernels, kernel: Kernel, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block by block, of all rows and of some, as often as they come."""
    monkeypatch.setattr(device_expansions.DeviceKernelRows, "values_at_once", 1000)
    monkeypatch.setattr(device_exact, "_VALUES_AT_ONCE", 1000)
    X = examples()[0]
    given, rng = given_to(kernel, X), np.random.default_rng(7)
    rows = device_kernel_rows(kernels, given, kernel)
    K = exact_matrix(kernel, given, np.arange(len(X)))
    right, left = rng.integers(0, len(X), 60), rng.integers(0, len(X), 70)
    coef = rng.normal(size=(60, columns))
    coef[::4] = 0.0
    expansion = rows.expansion(right, coef, np.zeros(0))
    assert len(expansion.rows) == 45
    assert_allclose(rows.products(rows.everything, expansion, len(X)), K[:, right] @ coef, rtol=1e-4, atol=1e-4)
    some = rows.products(rows.prepare(left), expansion, len(left))
    assert_allclose(some, K[left][:, right] @ coef, rtol=1e-4, atol=1e-4)
    assert_array_equal(rows.products(None, expansion, 0), np.zeros((0, columns)))
    nothing = rows.expansion(right, np.zeros_like(coef), np.zeros(0))
    assert_array_equal(rows.products(rows.everything, nothing, len(X)), np.zeros((len(X), columns)))
    for which in (None, left):
        found, errors = rows.exact_products(right, coef, which)
        exact, own = exact_products(kernel, given, right, coef, which)
        assert found.shape == errors.shape == exact.shape
        assert (np.abs(found - exact) <= errors + own).all()
        assert 0.0 < errors.max() < 1e-10


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_single_precision_is_off_by_no_more_than_is_charged(kernels: Kernels, kernel: Kernel, scale: float) -> None:
    """Of a Gaussian kernel it is more the longer the examples are."""
    X = examples()[0] * scale
    rows = device_kernel_rows(kernels, X, kernel)
    everyone = np.arange(len(X))
    found = rows.products(rows.everything, rows.expansion(everyone, np.eye(len(X)), np.zeros(0)), len(X))
    K = exact_matrix(kernel, X, everyone)
    assert np.abs(found - K).max() <= rows.off * np.abs(K).max()
    assert rows.off < 0.1


def exact_objective(model: SampledCutSVC, K: Any, signs: Any, C: float) -> Fraction:
    """½|w|² + C·Σ hinge without any rounding, K being whole numbers."""
    coef = [Fraction(0)] * len(signs)
    for row, value in zip(model.support_.tolist(), model.dual_coef_[:, 0].tolist(), strict=True):
        coef[row] = Fraction(value)
    scores = [sum(int(k) * c for k, c in zip(row, coef, strict=True)) for row in K]
    losses = sum(max(Fraction(0), 1 - int(sign) * s) for sign, s in zip(signs, scores, strict=True))
    return sum(c * s for c, s in zip(coef, scores, strict=True)) / 2 + Fraction(C) * losses


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("C", [0.01, 300.0])
@pytest.mark.filterwarnings("ignore:SampledCutSVC ended by")
def test_cuts_are_certified_in_real_numbers(put: Put, C: float, given: bool) -> None:
    rng = np.random.default_rng(3)
    points = rng.integers(-4, 5, size=(20, 3)).astype(float)
    y = rng.integers(2, size=20)
    signs, K = np.where(y == 1, 1, -1), points @ points.T + 0.0
    kernel, X = ("precomputed", K) if given else ("linear", points)
    settings: Any = {"kernel": kernel, "device": "cuda"}
    models = [SampledCutSVC(C, method="exact", risk_tol=e, **settings).fit(X, y) for e in (1e-2, 1e-6)]
    models += [SampledCutSVC(C, n_samples_cut=r, max_iter=100, **settings).fit(X, y) for r in (3, 20)]
    truths = [exact_objective(model, K, signs, C) for model in models]
    for model, truth in zip(models, truths, strict=True):
        assert model.certificate_of_.startswith("kernel")
        # A matrix that is given may be a little off a definite one, and is charged for it.
        assert truth <= Fraction(model.objective_) <= truth * (1 + Fraction(1, 10**6 if given else 10**9))
        assert Fraction(model.lower_bound_) <= min(truths)
    assert models[1].gap_ < 1e-2


@pytest.mark.filterwarnings("ignore:SampledCutSVC ended by stalled")
def test_a_run_that_is_interrupted_is_charged_for_single_precision(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    from cutplane.estimators.kernel import cut_certificates

    def interrupted(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    X, y = examples()
    best = SampledCutSVC(5.0, gamma=0.7, method="exact", risk_tol=1e-6).fit(X, y)
    monkeypatch.setattr(cut_certificates, "certify_cuts", interrupted)
    model = SampledCutSVC(5.0, gamma=0.7, method="exact", device="cuda").fit(X, y)
    assert model.certificate_of_ == "single-precision kernel matrix (assumed positive semi-definite)"
    assert model.lower_bound_ <= best.objective_
    assert best.lower_bound_ <= model.objective_
    assert model.gap_ < 0.05


@pytest.mark.parametrize("method", ["linear", "exact"])
def test_bounds_are_of_the_kernel_whatever_they_cost(put: Put, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from cutplane.estimators.kernel import cut_certificates

    monkeypatch.setattr(cut_certificates, "affordable", lambda *arguments: False)
    X, y = examples()
    there, here = (SampledCutSVC(5.0, method=method, device=device).fit(X, y) for device in ("cuda", None))
    assert there.certificate_of_ == "kernel"
    assert here.certificate_of_.startswith("single-precision kernel matrix")


def test_label_sequences(put: Put) -> None:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 2)) for length in (4, 6, 5, 3) * 5]
    y = [(rows[:, 0] * rows[:, 1] > 0).astype(int).tolist() for rows in X]
    chain = ChainModel(n_labels=2, n_features=2)
    found, alone = (KernelStructuralSVM(chain, 10.0, gamma=1.0, device=device).fit(X, y) for device in ("cuda", None))
    assert found.lower_bound_ <= alone.objective_
    assert alone.lower_bound_ <= found.objective_
    assert found.objective_ == pytest.approx(alone.objective_, rel=1e-2)
    same = [np.array_equal(a, b) for a, b in zip(found.predict(X), alone.predict(X), strict=True)]
    assert np.mean(same) > 0.9
