"""What the table says of each kernel is true of its values, and all that names kernels knows those of the table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from cutplane.cli import kernel_options
from cutplane.estimators.kernel.kernel_choice import KERNELS
from cutplane.kernels import FORMULAS, Kernel
from cutplane.kernels.exact import exact_products
from cutplane.kernels.table import COMPUTED, TABLE, positive_only
from cutplane.proof.kernel_values import KernelFunction

every_kernel = pytest.mark.parametrize("name", COMPUTED)
X = np.random.default_rng(0).random((40, 20))
SETTINGS: dict[str, Any] = {"gamma": 0.7, "degree": 3, "coef0": 0.4}


def by_formula(formula: str, x: np.ndarray, z: np.ndarray, settings: dict[str, Any]) -> float:
    """The kernel as users read it, evaluated as it stands."""
    words = {
        r"<x, z>": "(x @ z)",
        r"\|x - z\|²": "((x - z) @ (x - z))",
        r"\|x - z\|_1": "abs(x - z).sum()",
        r"Σ \(x - z\)² / \(x \+ z\)": "((x - z) ** 2 / (x + z)).sum()",
        r"\^": "**",
        r"gamma \(": "gamma * (",
        r"gamma abs": "gamma * abs",
    }
    for written, code in words.items():
        formula = re.sub(written, code, formula)
    return float(eval(formula, {"abs": np.abs, "exp": np.exp, "tanh": np.tanh, "x": x, "z": z, **settings}))


@every_kernel
def test_values_are_those_of_the_formula(name: str) -> None:
    block = Kernel(name, **SETTINGS).block(X, X)
    expected = [[by_formula(FORMULAS[name], x, z, SETTINGS) for z in X] for x in X]
    np.testing.assert_allclose(block, expected, rtol=1e-5)


@every_kernel
def test_a_kernel_depends_on_the_parameters_that_it_has_and_on_no_others(name: str) -> None:
    block = Kernel(name, **SETTINGS).block(X, X)
    for parameter, other in {"gamma": 0.5, "degree": 2, "coef0": 0.1}.items():
        changed = Kernel(name, **{**SETTINGS, parameter: other}).block(X, X)
        assert np.array_equal(changed, block) is not (parameter in TABLE[name].parameters)
        assert (parameter in FORMULAS[name]) is (parameter in TABLE[name].parameters)


@every_kernel
def test_kernels_of_unit_length_are_one_on_the_diagonal(name: str) -> None:
    ones = np.allclose(Kernel(name, **SETTINGS).diagonal(X), 1.0, rtol=1e-6)
    assert ones is Kernel(name).unit_length


@every_kernel
@pytest.mark.parametrize("coef0", [0.4, 0.0, -3.0])
def test_kernels_that_are_definite_have_no_negative_eigenvalue(name: str, coef0: float) -> None:
    kernel = Kernel(name, gamma=0.7, degree=3, coef0=coef0)
    values = np.linalg.eigvalsh(kernel.block(X, X).astype(float))
    least = -1e-5 * np.abs(values).max()
    assert values[0] >= least or not kernel.definite
    assert kernel.definite is KernelFunction(name, 0.7, 3, coef0).definite  # as the checker of proofs has it


@every_kernel
def test_sums_grow_with_the_examples_as_the_table_says(name: str) -> None:
    growth = TABLE[name].growth
    scaled = Kernel(name, gamma=0.7 / 4.0**growth, degree=3, coef0=0.4).block(4.0 * X, 4.0 * X)
    expected = Kernel(name, **SETTINGS).block(X, X)
    np.testing.assert_allclose(scaled, expected if "gamma" in TABLE[name].parameters else 4.0**growth * expected, 1e-5)


@every_kernel
def test_negative_values_are_refused_by_the_kernels_that_take_none(name: str) -> None:
    assert positive_only(name) is TABLE[name].positive_only
    if positive_only(name):
        with pytest.raises(ValueError, match=f"the {name} kernel needs values of 0 or greater"):
            Kernel(name).block(-X, X)
    else:
        assert np.all(np.isfinite(Kernel(name).block(-X, X)))


def test_what_is_no_name_of_a_kernel_takes_negative_values() -> None:
    for kernel in ("precomputed", np.dot, ["chi2"], None):
        assert not positive_only(kernel)


@every_kernel
def test_double_precision_and_the_checker_of_proofs_know_every_kernel(name: str) -> None:
    coef, support = np.ones((5, 1)), np.arange(5)
    block = Kernel(name, **SETTINGS).block(X, X[:5])
    np.testing.assert_allclose(exact_products(Kernel(name, **SETTINGS), X, support, coef)[0], block @ coef, rtol=1e-5)
    checked = np.concatenate([values for _, values, _ in KernelFunction(name, **SETTINGS).blocks(X, support)])
    np.testing.assert_allclose(checked, block, rtol=1e-5)


def test_estimators_and_the_command_take_every_kernel() -> None:
    assert (*COMPUTED, "precomputed") == KERNELS
    for name in COMPUTED:
        assert kernel_options.known_kernel(name) == name
