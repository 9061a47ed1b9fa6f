"""Models of strings that are trained on a device are proven, and those of the host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.device.test_device_fits import same
from tests.selection import first_cases

from cutplane import StringSVC, load
from cutplane.device import arrays
from cutplane.device.bundle import DeviceBundle
from cutplane.device.kernels import Kernels
from cutplane.device.vectors import DeviceVector
from cutplane.solvers.bundle.planes import Bundle

N, LENGTH = 260, 17
SPECTRA = {"spectra": [(0, 8), (9, LENGTH)], "spectrum_order": 3}


@pytest.fixture(autouse=True)
def there(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "cuda_kernels", lambda: kernels)


def examples(classes: int = 2, *, unknown: bool = True) -> tuple[list[str], Any]:
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), size=(N, LENGTH))
    y = rng.choice(classes, size=N)
    letters[:, 5:8] = np.where(rng.random((N, 3)) < 0.6, np.array(list("ACGT"))[y][:, None], letters[:, 5:8])
    if unknown:
        letters[rng.random((N, LENGTH)) < 0.01] = "N"
    return ["".join(row) for row in letters], y


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize(
    "settings",
    first_cases(
        [
            {},
            SPECTRA,
            {"order": 0, **SPECTRA},
            {**SPECTRA, "normalize": False, "C": 0.1},
            {**SPECTRA, "fit_intercept": False},
            {"method": "cpa", "C": 0.03},
            {"class_weight": None, "depth": 9},
        ],
        3,
    ),
    ids=lambda settings: "-".join(settings) or "plain",
)
def test_the_same_model(settings: dict[str, Any], tol: float) -> None:
    X, y = examples()
    given = {"order": 3, "tol": tol, **settings}
    model, here = StringSVC(device="cuda", **given).fit(X, y), StringSVC(**given).fit(X, y)
    same(model, here, tol)
    assert model.coef_.shape == here.coef_.shape


def test_newton() -> None:
    X, y = examples()
    model = StringSVC(order=3, method="newton", device="cuda", **SPECTRA).fit(X, y)
    same(model, StringSVC(order=3, method="newton", **SPECTRA).fit(X, y), 1e-3)


def test_the_same_bits_every_time() -> None:
    X, y = examples()
    first, again = (StringSVC(order=3, device="cuda", **SPECTRA).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert (first.lower_bound_, first.objective_) == (again.lower_bound_, again.objective_)


def test_classes_weights_and_files(tmp_path: Path) -> None:
    X, y = examples(3)
    weights = np.random.default_rng(1).random(N) + 0.1
    model = StringSVC(order=2, device="cuda").fit(X, y, sample_weight=weights)
    same(model, StringSVC(order=2).fit(X, y, sample_weight=weights), 1e-3)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))


def test_planes_go_on_where_the_last_fit_ended() -> None:
    X, y = examples()
    model = StringSVC(order=3, device="cuda", warm_start=True, tol=1e-2).fit(X, y)
    again = model.set_params(tol=1e-4).fit(X, y)
    assert again.gap_ <= 1e-4
    same(again, StringSVC(order=3, tol=1e-4).fit(X, y), 1e-4)


def test_an_interrupted_fit_keeps_what_it_has() -> None:
    X, y = examples()
    model = StringSVC(order=3, device="cuda", tol=1e-9, on_step=lambda step: step.iteration == 4)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.lower_bound_ <= model.objective_


def test_one_device() -> None:
    with pytest.raises(ValueError, match="one GPU"):
        StringSVC(device=["cuda:0", "cuda:1"]).fit(*examples())


@pytest.mark.parametrize("most", [None, 5])
def test_planes_on_a_device_are_those_of_the_host(kernels: Kernels, most: int | None) -> None:
    rng = np.random.default_rng(2)
    there, here = DeviceBundle(kernels, 30, most=most), Bundle(30, most=most)
    lower = -np.inf
    for k in range(24):
        slope, offset = rng.normal(size=30), 0.1 + rng.random()
        for bundle in (there, here):
            bundle.add(slope, offset, error=1e-3)  # type: ignore[attr-defined]
        found, expected = there.solve(0.3), here.solve(0.3)
        w: Any = found.w
        assert isinstance(w, DeviceVector)
        if most is None:
            np.testing.assert_allclose(w.on_host(), expected.w, rtol=1e-9, atol=1e-12)
            assert found.lower == pytest.approx(expected.lower, rel=1e-9)
        assert found.lower >= lower - 1e-9
        lower = found.lower
        assert len(there) <= (most or k + 1)
    again = there.copy()
    assert again.solve(0.3).lower == pytest.approx(lower, rel=1e-9)
    slopes, offsets = there.planes
    assert (slopes.shape, offsets.shape) == ((len(there), 30), (len(there),))
    assert there.prune(1) == np.count_nonzero(found.weights == 0.0)
    assert there.solve(0.3).lower == pytest.approx(lower, rel=1e-9)
    point = slopes[0]
    assert there.proven_by(point, 0.5, 1e-3, 0.3) == pytest.approx(here.proven_by(point, 0.5, 1e-3, 0.3))
