"""Scikit-learn's own tests of its support vector machines, run on ours.

They are taken from the installed scikit-learn, with `sklearn.svm` exchanged for a module that has our classes. What is
left out is listed, with the reason; a test that a later release adds is run until it is listed.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.svm

import cutplane

pytestmark = pytest.mark.nightly
OURS = ("LinearSVC", "LinearSVR", "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
PRIVATE = "changes or reads what is private to scikit-learn's"
WORDS = "is about the words of an error or a warning; ours is raised or warned too, and says more"
DEPRECATED = "is about a deprecation; ours are not deprecated, or were never there"
L1 = "trains with penalty='l1', which ours refuse"
LEFT_OUT = {
    "test_svm": {
        "test_linearsvc_parameters": "wants settings refused that LIBLINEAR has no solver for; ours has, but for l1",
        "test_linearsvc": L1,
        "test_dense_liblinear_intercept_handling": L1,
        "test_linear_svm_convergence_warnings": WORDS,
        "test_tweak_params": PRIVATE,
        "test_svc_raises_error_internal_representation": PRIVATE,
        "test_svc_nonfinite_params": WORDS,
        "test_libsvm_convergence_warnings": "counts LIBSVM's steps: ours solves that problem in fewer",
        "test_svr_errors": "trains with a function that is no kernel; ours refuses it in fit, before any work",
        "test_bad_input": "wants sparse examples refused by a model of dense ones; ours takes them",
        "test_custom_kernel_not_array_input": "its function is right for square blocks only; ours calls it for others",
        "test_probability_raises_futurewarning": DEPRECATED,
        "test_svc_nusvc_probA_probB_deprecated": DEPRECATED,
    },
    "test_sparse": {
        "test_sparse_liblinear_intercept_handling": L1,
        "test_timeout": "wants a warning where one step solves the problem",
    },
}
# Want six digits of a solution alike for a kernel and for its matrix or function. Those are rounded to single precision
# in different places, and tol is 1e-3: two digits.
ROUNDED = ("test_precomputed", "test_svc_clone_with_callable_kernel")


@pytest.fixture
def global_random_seed() -> int:
    """As scikit-learn's own, at its default."""
    return 42


@contextmanager
def exchanged() -> Iterator[None]:
    """`from sklearn import svm` gives a module with our classes."""
    real = sklearn.svm
    fake = types.ModuleType("sklearn.svm")
    fake.__dict__.update(real.__dict__)
    fake.__dict__.update({name: getattr(cutplane, name) for name in OURS})
    sklearn.svm = sys.modules["sklearn.svm"] = fake
    try:
        yield
    finally:
        sklearn.svm = sys.modules["sklearn.svm"] = real


def load(name: str) -> types.ModuleType:
    """A copy of one of scikit-learn's test modules that sees our classes."""
    spec = importlib.util.find_spec(f"sklearn.svm.tests.{name}")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with exchanged():
        spec.loader.exec_module(module)
    return module


def rounded(test: Callable[..., Any]) -> Callable[..., Any]:
    """The test with two digits in place of six."""
    loose = functools.partial(np.testing.assert_array_almost_equal, decimal=2)
    return types.FunctionType(test.__code__, {**test.__globals__, "assert_array_almost_equal": loose}, test.__name__)


def keep(test: Callable[..., Any], name: str, wanted: Callable[[Any], bool]) -> None:
    """Of the values of one parameter, those that are wanted."""
    marks: list[Any] = test.pytestmark  # type: ignore[attr-defined]
    (sets,) = [mark for mark in marks if mark.name == "parametrize" and name in mark.args[0]]
    names, values = sets.args
    kept = [each for each in values if wanted(each)]
    assert kept
    marks[marks.index(sets)] = pytest.mark.parametrize(names, kept, **sets.kwargs).mark


def fewer_sets(test: Callable[..., Any]) -> Callable[..., Any]:
    """`test_sparse.test_svc` asks for probabilities, which ours refuse for a class that has one example only.

    It does so for every kernel in every container: one matrix that is used as it lies and one array that is converted.
    """
    keep(test, "y_train", lambda each: np.unique(each[1], return_counts=True)[1].min() > 1)
    keep(test, "sparse_container", lambda each: each.__name__ in ("csr_matrix", "lil_array"))
    return test


def collect(name: str) -> dict[str, Callable[..., Any]]:
    """The tests of one module that are not left out."""
    found = {
        test: rounded(function) if test in ROUNDED else function
        for test, function in vars(load(name)).items()
        if test.startswith("test_") and callable(function) and test not in LEFT_OUT[name]
    }
    if name == "test_svm":
        keep(found["test_linearsvm_liblinear_sample_weight"], "params", lambda each: each[1].get("penalty") != "l1")
    if name == "test_sparse":
        found["test_svc"] = fewer_sets(found["test_svc"])
    return {f"{name}_{test.removeprefix('test_')}": function for test, function in found.items()}


for _name in LEFT_OUT:
    globals().update(collect(_name))
