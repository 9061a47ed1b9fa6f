"""Which thread trains, and with how many others, changes no bit of the model."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from family_cases import FITS, of_fit

import cutplane


@pytest.mark.parametrize("name", FITS)
def test_bits_are_the_same_in_another_thread(name: str) -> None:
    here = of_fit(name)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(of_fit, name).result() == here
    assert of_fit(name, n_jobs=1) == here


def test_bits_are_the_same_of_fits_that_overlap() -> None:
    names = ["RankSVM", "LinearSVC of the ROC area", "OrdinalSVC", "LinearSVC"] * 2
    with ThreadPoolExecutor(4) as pool:
        overlapping = list(pool.map(of_fit, names))
    assert overlapping == [of_fit(name) for name in names]


def test_every_family_is_among_them() -> None:
    # Of the rest, each is one of these with another parameter, many of these, or no model by itself.
    like_others = {"NuSVC", "NuSVR", "LinearSVCCV", "LinearSVRCV", "LogisticRegressionCV", "KernelStructuralSVM"}
    models = {name for name in cutplane.__all__ if hasattr(getattr(cutplane, name), "predict")}
    assert models - like_others == {name.split()[0] for name in FITS}
