"""Maps whose products are a kernel's: on the span of a basis, or of all examples."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from cutplane import CholeskyFeatures, LinearSVC, SampledCutSVC, WhitenedKernelMap
from cutplane.kernels.functions import Kernel

X, y = make_moons(200, noise=0.2, random_state=0)


@parametrize_with_checks([CholeskyFeatures(), CholeskyFeatures(pivoted=True), WhitenedKernelMap()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_linear_machine_on_the_whitened_map_is_the_kernel_machine():
    features = WhitenedKernelMap(gamma=3.0).fit(X)
    linear = LinearSVC(1.0, fit_intercept=False, tol=1e-6).fit(features.transform(X), y)
    kernel = SampledCutSVC(1.0, gamma=3.0, method="exact", risk_tol=1e-6).fit(X, y)
    assert linear.objective_ == pytest.approx(kernel.objective_, rel=1e-4)
    new = make_moons(100, noise=0.2, random_state=1)[0]
    np.testing.assert_allclose(
        linear.decision_function(features.transform(new)), kernel.decision_function(new), atol=2e-2
    )


@pytest.mark.parametrize("pivoted", [False, True])
def test_cholesky_features_project_on_their_basis(pivoted):
    features = CholeskyFeatures(40, gamma=1.0, pivoted=pivoted).fit(X)
    K = Kernel("rbf", gamma=1.0)
    inside = features.transform(features.basis_)
    np.testing.assert_allclose(inside @ inside.T, K.block(features.basis_, features.basis_), atol=2e-3)
    lengths = (features.transform(X) ** 2).sum(axis=1)
    assert (lengths <= 1.0 + 1e-3).all()


def test_pivots_leave_less_than_a_sample():
    many = make_moons(400, noise=0.2, random_state=0)[0]
    sampled, pivoted = (CholeskyFeatures(15, gamma=1.0, pivoted=p).fit_transform(many) for p in (False, True))
    assert (pivoted**2).sum() > (sampled**2).sum()


def test_cholesky_features_in_a_pipeline():
    model = make_pipeline(CholeskyFeatures(60, gamma=3.0), LinearSVC(10.0)).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model[0].get_feature_names_out()[0] == "choleskyfeatures0"


@pytest.mark.parametrize(
    ("r", "words"),
    [
        (0, "n_components=0 must be an integer greater than 0, or None"),
        (2.5, r"n_components=2\.5 must be"),
        (201, "n_components=201 is more than the 200 examples of X"),
    ],
)
def test_a_basis_of_a_size_that_cannot_be_is_refused(r, words):
    with pytest.raises(ValueError, match=words):
        CholeskyFeatures(r).fit(X)


def test_pivoted_is_true_or_false():
    with pytest.raises(ValueError, match="pivoted='yes' must be True or False"):
        CholeskyFeatures(10, pivoted="yes").fit(X)


def test_without_a_number_the_basis_is_all_of_a_few_examples():
    assert len(CholeskyFeatures(gamma=1.0).fit(X).basis_) == 200


@pytest.mark.parametrize("features", [CholeskyFeatures(100), CholeskyFeatures(100, pivoted=True), WhitenedKernelMap()])
def test_a_kernel_that_is_not_positive_semi_definite_is_warned_of(features):
    features.set_params(kernel="sigmoid", gamma=2.0, coef0=-1.0)
    with pytest.warns(UserWarning, match="the kernel is not positive semi-definite, and the features are those"):
        assert np.isfinite(features.fit_transform(X)).all()


@pytest.mark.parametrize("features", [CholeskyFeatures(10), CholeskyFeatures(10, pivoted=True), WhitenedKernelMap()])
@pytest.mark.filterwarnings("ignore:The squared distance")
def test_a_kernel_without_features_is_refused(features):
    with pytest.raises(ValueError, match="a kernel that has features is positive semi-definite"):
        features.set_params(kernel=lambda A, B: -(A @ B.T)).fit(X)


@pytest.mark.parametrize("features", [CholeskyFeatures(20), WhitenedKernelMap()])
def test_pickles_keep_the_map(features):
    features.fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), features.transform(X))
