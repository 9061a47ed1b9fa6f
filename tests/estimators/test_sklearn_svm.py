"""Scikit-learn's own tests of its support vector machines and of its logistic regression, run on ours.

They are taken from the installed scikit-learn, with `sklearn.svm` exchanged for a module that has our classes. What is
left out is listed, with the reason; a test that a later release adds is run until it is listed. Of the tests of
logistic regression what fails is listed case by case: one that no longer does must leave the list.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.linear_model
import sklearn.svm

import cutplane

pytestmark = pytest.mark.nightly
LOGISTIC = ("LogisticRegression", "LogisticRegressionCV")
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
def exchanged(package: str, ours: tuple[str, ...]) -> Iterator[None]:
    """`from sklearn import svm`, say, gives a module with our classes."""
    name = f"sklearn.{package}"
    real = sys.modules[name]
    fake = types.ModuleType(name)
    fake.__dict__.update(real.__dict__)
    fake.__dict__.update({each: getattr(cutplane, each) for each in ours})
    sys.modules[name] = fake
    setattr(sklearn, package, fake)
    try:
        yield
    finally:
        sys.modules[name] = real
        setattr(sklearn, package, real)


def load(name: str, package: str = "svm", ours: tuple[str, ...] = OURS) -> types.ModuleType:
    """A copy of one of scikit-learn's test modules that sees our classes."""
    spec = importlib.util.find_spec(f"sklearn.{package}.tests.{name}")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with exchanged(package, ours):
        spec.loader.exec_module(module)
    return module


def rounded(test: Callable[..., Any]) -> Callable[..., Any]:
    """The test, and the check of models that it may call, with two digits in place of six."""
    around = {
        **test.__globals__,
        "assert_array_almost_equal": functools.partial(np.testing.assert_array_almost_equal, decimal=2),
    }
    if check := around.get("check_svm_model_equal"):
        around["check_svm_model_equal"] = types.FunctionType(check.__code__, around, check.__name__)
    found = types.FunctionType(test.__code__, around, test.__name__)
    found.__dict__.update(test.__dict__)
    return found


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
        # Coefficients agree to 1e-7; the scores of a cubic kernel, of up to 600, do not to six digits after the point.
        found["test_svc"] = fewer_sets(rounded(found["test_svc"]))
    return {f"{name}_{test.removeprefix('test_')}": function for test, function in found.items()}


for _name in LEFT_OUT:
    globals().update(collect(_name))


# Of test_logistic: what fails, by the reason. `*` stands for any end of a case's name.
FAILS = {
    "has l1 or an elastic net, which ours refuses: certificates are of the l2 penalty": (
        "LogisticRegressionCV_GridSearchCV_elastic_net*",
        "LogisticRegressionCV_elasticnet_attribute_shapes*",
        "LogisticRegressionCV_no_refit*",
        "LogisticRegression_elastic_net_objective*",
        "elastic_net_coeffs",
        "elastic_net_l1_l2_equivalence[l1*",
        "elastic_net_versus_sgd*",
        "elastic_net_vs_l1_l2*",
        "logistic_cv[*",
        "logistic_regression_cv_refit[1]",
        "logistic_cv_refit_false_non_elasticnet",
        "logisticregression_liblinear_sample_weight[params0]",
        "logreg_l1*",
        "saga_vs_liblinear[*-1]",
        "scores_attribute_layout_elasticnet",
    ),
    "trains without a penalty, which ours refuses: there may be no optimum": (
        "c_inf_no_warning*",
        "logistic_glmnet*",
        "logistic_regression_solvers_multiclass_unpenalized*",
        "penalty_none*",
    ),
    WORDS: (
        "elasticnet_l1_ratio_err_helpful*",
        "l1_ratio_non_elasticnet",
        "lr_penalty_l1ratio_incompatible*",
        "max_iter*",
        "nan",
        "passing_params_without_enabling_metadata_routing",
    ),
    DEPRECATED: (
        "l1_ratio_None_deprecated",
        "logisticregression_warns_with_n_jobs",
        "logisticregressioncv_warns_with_use_legacy_attributes",
        "lr_scoring_warns",
        "penalty_deprecated*",
    ),
    PRIVATE: (
        "consistency_path",
        "get_default_scorer",
        "logreg_predict_proba_multinomial",
        "newton_cholesky_fallback_to_lbfgs",
        "logistic_cv_multinomial_score*",
    ),
    "is about settings that their solvers refuse; ours takes any solver's name": (
        "check_solver_option*",
        "large_sparse_matrix[*-liblinear]",
        "large_sparse_matrix[*-sag]",
        "large_sparse_matrix[*-saga]",
        "liblinear_multiclass_raises*",
    ),
    "wants weights in single precision; ours are in double": (
        "dtype_match[*-lbfgs]",
        "dtype_match[*-newton-cg]",
        "dtype_match[*-newton-cholesky]",
        "dtype_match[*-sag]",
        "dtype_match[*-saga]",
    ),
    "wants max_iter=0, which ours refuses": ("zero_max_iter*",),
    "reads attributes of LogisticRegressionCV that are of each fold, or of another shape": (
        "LogisticRegressionCV_on_folds",
        "logistic_cv_folds_with_classes_missing*",
        "multinomial_cv_iris*",
        "n_iter[*",
    ),
    "counts steps of their solvers, or wants more digits than tol=1e-3 proves": (
        "liblinear_dual_random_state",
        "liblinear_not_stuck",
        "liblinear_with_large_values",
        "logistic_regression_callback_fitted_estimator*",
        "logistic_regression_callback_support*",
        "sample_and_class_weight_equivalence_liblinear",
        "warm_start_newton_solver*",
    ),
}


@pytest.fixture(autouse=True)
def listed(request: pytest.FixtureRequest) -> None:
    """What is listed must fail: so the list can only become shorter."""
    if request.node.name.startswith("test_sparse_svc[lil_array-poly"):
        reason = "known: the last digits of small pairs trained together differ from run to run"
        request.applymarker(pytest.mark.xfail(strict=False, reason=reason))
    case = request.node.name.removeprefix("test_logistic_")
    for reason, names in FAILS.items():
        if request.node.name.startswith("test_logistic_") and any(
            fnmatchcase(case, name.replace("[", "[[]")) for name in names
        ):
            request.applymarker(pytest.mark.xfail(strict=True, reason=reason))


globals().update(
    {
        f"test_logistic_{name.removeprefix('test_')}": function
        for name, function in vars(load("test_logistic", "linear_model", LOGISTIC)).items()
        if name.startswith("test_") and callable(function)
    }
)
