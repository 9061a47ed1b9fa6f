"""SMO where the rounding of kernel values, or of gradients, is as large as what is left to do."""

from dataclasses import replace

import numpy as np
import pytest

from cutplane.kernels import DualProblem, Kernel, KernelMatrix, smo_standstill, solve


@pytest.mark.parametrize("working_set", [None, 2])
def test_a_violation_that_is_all_rounding_ends_the_run(working_set, monkeypatch):
    """178 examples of 13 features around the origin, which is the solution: rounded to single precision, the kernel
    matrix has eigenvalues below zero, along which steps go on."""
    around = np.random.default_rng(1).normal(size=(178, 13))
    monkeypatch.setattr(smo_standstill, "TUNING", replace(smo_standstill.TUNING, patience=100_000))
    problem = DualProblem.one_class(178, 0.15)
    linear = KernelMatrix(around - around.mean(axis=0), Kernel("linear"))
    result = solve(problem, linear, eps=1e-7, working_set=working_set, time_limit=60.0)
    assert result.stop_reason == "stalled"
    assert 1e-7 < result.violation < 1e-4
    assert result.n_iter < 1_000_000
    assert solve(problem, linear, working_set=working_set).stop_reason == "kkt"


@pytest.mark.parametrize("selection", ["second-order", "conjugate"])
@pytest.mark.parametrize("working_set", [None, 1200])
def test_rounding_that_adds_up_within_a_working_set_does_not_undo_its_steps(selection, working_set):
    """Targets far from zero: f is of their size, and its rounding in single precision adds up to more than eps."""
    local = np.random.default_rng(0)
    examples = local.normal(size=(600, 2))
    target = 200 + np.sin(2 * examples[:, 0]) + examples[:, 1] + 0.3 * local.normal(size=600)
    problem, kernel = DualProblem.regression(target, 100.0, 0.05), KernelMatrix(examples, Kernel("rbf", gamma=1.0))
    ways = {"selection": selection, "working_set": working_set, "max_iter": 300_000}
    assert solve(problem, kernel, **ways).stop_reason == "kkt"
