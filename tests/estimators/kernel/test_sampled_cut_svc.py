"""`SampledCutSVC` as users call it."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from cutplane import SampledCutSVC, load
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve

X, y = make_moons(400, noise=0.2, random_state=0)


# Other rows are other samples, and another spread of the features another gamma.
SAMPLED = "an example of weight 2 is drawn once, two copies are drawn twice"
EXPECTED = {f"check_sample_weight_equivalence_on_{kind}_data": SAMPLED for kind in ("dense", "sparse")}


@parametrize_with_checks([SampledCutSVC()], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["exact", "linear", "constant"])
def test_every_algorithm_learns_the_moons(method):
    model = SampledCutSVC(10.0, gamma=3.0, method=method, n_samples_cut=150).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.stop_reason_ == "risk_tol"
    assert np.isfinite(model.gap_) == (method != "constant")
    assert model.support_vectors_.shape == (len(model.support_), 2)


def test_exact_cuts_agree_with_smo_up_to_the_intercept():
    model = SampledCutSVC(1.0, gamma=3.0, method="exact", risk_tol=1e-5).fit(X, y)
    K = Kernel("rbf", gamma=3.0).block(X, X).astype(float)
    scores = K[:, model.support_] @ model.dual_coef_[:, 0]
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-4, atol=1e-4)
    # The machine with an intercept can only be better.
    signs = np.where(y == 1, 1, -1)
    smo = solve(DualProblem.classification(signs, 1.0), KernelMatrix(X, Kernel("rbf", gamma=3.0)))
    assert model.lower_bound_ >= smo.dual - 1e-3 * abs(smo.dual)


@pytest.mark.parametrize("method", ["exact", "linear", "constant"])
def test_several_classes(method):
    data, labels = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[labels]
    model = SampledCutSVC(10.0, method=method).fit(data, names)
    assert model.score(data, names) > 0.94
    assert model.decision_function(data).shape == (150, 3)


def test_sparse_rows_are_the_same_as_dense_ones():
    dense = SampledCutSVC(gamma=1.0, random_state=3).fit(X, y).decision_function(X)
    sparse = SampledCutSVC(gamma=1.0, random_state=3).fit(sp.csr_array(X), y).decision_function(sp.csr_array(X))
    np.testing.assert_allclose(dense, sparse, rtol=1e-2, atol=1e-2)


def test_a_precomputed_kernel():
    K = Kernel("rbf", gamma=1.0).block(X, X).astype(np.float64)
    model = SampledCutSVC(kernel="precomputed").fit(K, y)
    assert model.score(K, y) > 0.9
    with pytest.raises(ValueError, match="must be square"):
        SampledCutSVC(kernel="precomputed").fit(K[:, :50], y)


@pytest.mark.parametrize("method", ["linear", "constant"])
def test_a_precomputed_kernel_may_be_sparse(method):
    K = Kernel("rbf", gamma=3.0).block(X, X).astype(float)
    dense, sparse = (SampledCutSVC(kernel="precomputed", method=method, n_samples_cut=50) for _ in range(2))
    scores = dense.fit(K, y).decision_function(K)
    np.testing.assert_allclose(sparse.fit(sp.csr_array(K), y).decision_function(sp.csr_array(K)), scores, rtol=1e-6)
    assert sparse.bound_ == dense.bound_


def test_without_a_limit_of_iterations_less_is_proven():
    """The paper's bounds count the iterations that a run may take."""
    free, limited = (SampledCutSVC(gamma=3.0, max_iter=most).fit(X, y) for most in (None, 10_000))
    np.testing.assert_array_equal(free.dual_coef_, limited.dual_coef_)
    assert limited.bound_ < free.bound_ < np.inf


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_samples_cut": 0}, "n_samples_cut=0 must be"),
        ({"n_samples_cut": 401}, "n_samples_cut=401 is more than the 400 examples"),
        ({"C": 0}, "C=0 must be"),
        ({"gamma": -1.0}, "gamma=-1.0 must be"),
        ({"gamma": "big"}, "gamma='big' must be"),
        ({"kernel": "cosine"}, "kernel='cosine' must be one of"),
        ({"method": "fast"}, "method='fast' must be one of"),
        ({"risk_tol": 0.0}, "risk_tol=0.0 must be"),
        ({"stabilised": "no"}, "stabilised='no' must be True or False"),
        ({"memory": 100}, r"memory=100 bytes do not hold the products of one cut with \d+ rows, which take"),
    ],
)
def test_bad_parameters_are_one_sentence(params, words):
    with pytest.raises(ValueError, match=words):
        SampledCutSVC(**params).fit(X, y)


def test_an_intercept_for_several_classes_is_refused():
    data, labels = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"intercept_scaling=1\.0 is for two classes; y has 3"):
        SampledCutSVC(intercept_scaling=1.0).fit(data, labels)


def test_a_run_that_ends_early_says_so():
    with pytest.warns(ConvergenceWarning, match="ended by max_iter after 3 iterations"):
        SampledCutSVC(100.0, gamma=3.0, max_iter=3).fit(X, y)


@pytest.mark.parametrize("method", ["exact", "linear", "constant"])
@pytest.mark.parametrize("sparse", [False, True])
def test_files_keep_the_model(method, sparse, tmp_path):
    rows = sp.csr_array(X) if sparse else X
    names = np.array(["left", "right"])[y]
    model = SampledCutSVC(gamma=3.0, method=method, intercept_scaling=1.0).fit(rows, names)
    model.save(tmp_path / "m")
    back = load(tmp_path / "m")
    np.testing.assert_array_equal(back.decision_function(rows), model.decision_function(rows))
    np.testing.assert_array_equal(back.predict(rows), model.predict(rows))
    for name in ("history_", "bound_", "bound_probability_", "violation_", "objective_", "stop_reason_", "n_iter_"):
        assert getattr(back, name) == getattr(model, name)
    assert np.isfinite(back.gap_) == np.isfinite(model.gap_) == (method != "constant")


def test_files_keep_several_classes_and_a_precomputed_kernel(tmp_path):
    data, labels = load_iris(return_X_y=True)
    K = Kernel("rbf", gamma=0.5).block(data, data).astype(float)
    model = SampledCutSVC(kernel="precomputed").fit(K, labels)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").decision_function(K), model.decision_function(K))


def test_a_kernel_that_is_a_function_is_not_saved(tmp_path):
    model = SampledCutSVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(ValueError, match="is a function, which a model file cannot hold"):
        model.save(tmp_path / "m")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("exact", "a proven lower bound on the optimum"),
        ("linear", "The lower bound on the optimum is that of planes of all examples"),
        ("constant", "The objective itself is an estimate from samples"),
    ],
)
def test_a_report_says_what_is_proven(method, words, tmp_path):
    model = SampledCutSVC(gamma=3.0, method=method, n_samples_cut=100).fit(X, y)
    model.report(tmp_path / "r.html", X, y)
    text = (tmp_path / "r.html").read_text()
    assert words in text
    assert ("Proven gap" in text) == (method != "constant")


def test_an_exact_fit_leaves_no_gap_to_a_sampled_one():
    model = SampledCutSVC(gamma=3.0, method="exact").fit(X, y)
    assert model.set_params(method="constant").fit(X, y).gap_ == np.inf


def test_a_kernel_that_is_not_positive_semi_definite_is_warned_of_and_bounded():
    model = SampledCutSVC(kernel=lambda A, B: -(A @ B.T), max_iter=30)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model.fit(X, y)
    assert model.n_iter_ <= 30
    assert np.isfinite(model.decision_function(X)).all()


def exact_objective(model, K, signs, C):
    """½|w|² + C·Σ hinge without any rounding, K being whole numbers."""
    coef = [Fraction(0)] * len(signs)
    for row, value in zip(model.support_.tolist(), model.dual_coef_[:, 0].tolist(), strict=True):
        coef[row] = Fraction(value)
    scores = [sum(int(k) * c for k, c in zip(row, coef, strict=True)) for row in K]
    losses = sum(max(Fraction(0), 1 - int(sign) * s) for sign, s in zip(signs, scores, strict=True))
    return sum(c * s for c, s in zip(coef, scores, strict=True)) / 2 + Fraction(C) * losses


@pytest.mark.parametrize("C", [0.01, 3.0, 300.0])
@pytest.mark.parametrize("stabilised", [True, False])
def test_exact_cuts_are_certified_in_real_numbers(C, stabilised):
    rng = np.random.default_rng(3)
    points = rng.integers(-4, 5, size=(20, 3)).astype(float)
    labels = rng.integers(2, size=20)
    signs, K = np.where(labels == 1, 1, -1), points @ points.T
    settings = {"kernel": "linear", "method": "exact", "stabilised": stabilised}
    models = [SampledCutSVC(C, risk_tol=e, **settings).fit(points, labels) for e in (1e-2, 1e-4)]
    truths = [exact_objective(model, K, signs, C) for model in models]
    for model, truth in zip(models, truths, strict=True):
        assert model.certificate_of_ == "kernel"
        assert truth <= Fraction(model.objective_) <= truth * (1 + Fraction(1, 10**9))
        assert Fraction(model.lower_bound_) <= min(truths)
        last = model.history_[-1]
        assert (last.objective, last.value) == (model.objective_, model.lower_bound_)
        assert (last.upper, last.lower, last.gap) == (model.objective_, model.lower_bound_, model.gap_)


@pytest.mark.parametrize("method", ["linear", "constant"])
def test_steps_of_sampled_cuts_claim_no_bounds_before_the_end(method):
    model = SampledCutSVC(1.0, n_samples_cut=20, method=method, max_iter=30).fit(X[:60], y[:60])
    assert len(model.history_) > 1
    early = model.history_ if method == "constant" else model.history_[:-1]
    assert all((step.upper, step.lower, step.gap) == (np.inf, -np.inf, np.inf) for step in early)
    assert all(np.isfinite([step.objective, step.value]).all() for step in model.history_)


def test_where_double_precision_would_cost_much_it_is_said():
    model = SampledCutSVC(1.0, kernel=lambda A, B: A @ B.T, method="exact").fit(X[:50], y[:50])
    assert model.certificate_of_.startswith("single-precision kernel matrix")
    assert model.lower_bound_ <= model.objective_


def test_files_keep_what_the_certificate_is_of(tmp_path):
    model = SampledCutSVC(1.0, method="exact").fit(X[:50], y[:50])
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").certificate_of_ == model.certificate_of_ == "kernel"
    assert not hasattr(model.set_params(method="constant").fit(X[:50], y[:50]), "certificate_of_")


@pytest.mark.parametrize("C", [0.01, 3.0, 300.0])
@pytest.mark.parametrize("stabilised", [True, False])
def test_linear_time_cuts_are_certified_in_real_numbers(C, stabilised):
    rng = np.random.default_rng(3)
    points = rng.integers(-4, 5, size=(20, 3)).astype(float)
    labels = rng.integers(2, size=20)
    signs, K = np.where(labels == 1, 1, -1), points @ points.T
    settings = {"kernel": "linear", "stabilised": stabilised}
    best = exact_objective(SampledCutSVC(C, method="exact", risk_tol=1e-6, **settings).fit(points, labels), K, signs, C)
    for r in (3, 10, 20):
        model = SampledCutSVC(C, n_samples_cut=r, max_iter=100, **settings).fit(points, labels)
        assert model.certificate_of_ == "kernel"
        truth = exact_objective(model, K, signs, C)
        assert Fraction(model.lower_bound_) <= best
        assert truth <= Fraction(model.objective_) <= truth * (1 + Fraction(1, 10**9))
        last = model.history_[-1]
        assert (last.upper, last.lower, last.gap) == (model.objective_, model.lower_bound_, model.gap_)
    assert model.lower_bound_ > 0.0


def test_linear_time_cuts_of_large_samples_have_a_small_gap():
    model = SampledCutSVC(1.0, gamma=3.0, n_samples_cut=400).fit(X, y)
    assert model.gap_ < 0.03
    exact = SampledCutSVC(1.0, gamma=3.0, method="exact", risk_tol=1e-5).fit(X, y)
    assert model.lower_bound_ <= exact.objective_
    assert exact.lower_bound_ <= model.objective_


def test_a_bound_by_samples_is_the_same_for_any_number_of_threads():
    found = [SampledCutSVC(gamma=3.0, n_samples_cut=50, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    assert found[0].lower_bound_ == found[1].lower_bound_ > 0.0


def test_weights_of_examples_are_in_the_bound():
    weights = np.random.default_rng(0).uniform(0.0, 3.0, size=len(y))
    model = SampledCutSVC(gamma=3.0, n_samples_cut=200).fit(X, y, sample_weight=weights)
    exact = SampledCutSVC(gamma=3.0, method="exact", risk_tol=1e-5).fit(X, y, sample_weight=weights)
    assert 0.9 * exact.objective_ < model.lower_bound_ <= exact.objective_
    assert exact.lower_bound_ <= model.objective_


@pytest.mark.parametrize("copies", [1, 10])
def test_two_points_are_trained_on_and_proven(copies):
    """Nothing is missing there, and no plane more can prove it."""
    model = SampledCutSVC().fit([[0.0], [1.0]] * copies, [0, 1] * copies)
    assert model.stop_reason_ == "risk_tol"
    assert 0.0 <= model.gap_ <= 1e-6


def test_a_run_that_is_cut_short_still_has_a_gap():
    with pytest.warns(ConvergenceWarning, match="ended by max_iter after 2 iterations"):
        model = SampledCutSVC(gamma=3.0, max_iter=2).fit(X, y)
    assert 0.0 < model.lower_bound_ < model.objective_ < np.inf
    with pytest.warns(ConvergenceWarning, match="ended by max_iter after 1 iterations"):
        model = SampledCutSVC(gamma=3.0, max_iter=1).fit(X, y)
    assert (model.lower_bound_, model.gap_) == (0.0, 1.0)  # no plane yet but that no loss is negative


@pytest.mark.parametrize("method", ["exact", "linear", "constant"])
@pytest.mark.parametrize("scale", [2.0**-50, 2.0**50])
def test_the_scale_of_the_data_changes_nothing_but_that_of_the_model(method, scale):
    """Kernel values of such examples are held in units of a power of two."""
    settings = {"kernel": "linear", "method": method, "n_samples_cut": 100}
    one = SampledCutSVC(1.0, **settings).fit(X, y)
    other = SampledCutSVC(scale**-2, **settings).fit(X * scale, y)
    assert other.n_iter_ == one.n_iter_
    assert other.objective_ * scale**2 == pytest.approx(one.objective_, rel=1e-4)
    np.testing.assert_array_equal(other.predict(X * scale), one.predict(X))


def test_values_beyond_single_precision_are_refused():
    with pytest.raises(ValueError, match="which is not finite in single precision; scale the data"):
        SampledCutSVC(1e-35, kernel="linear").fit(X * 1e20, y)


def test_a_slope_that_cancels_is_no_sign_of_an_indefinite_kernel():
    """Examples whose weighted sum is zero make a cut of no length, which single precision may call negative."""
    X = np.array(
        [
            *([1, 2, 0], [-2, 0, -3], [-3, 3, 4], [3, -3, 0], [3, -1, -2], [2, -2, 0], [-4, -2, -1], [-3, 4, -1]),
            *([4, 4, 1], [1, -2, -1], [-3, 0, -2], [-4, 0, 1], [0, 0, 2], [-4, 2, 0], [1, 0, 0], [-4, 2, -3]),
            *([1, 2, 1], [-4, 3, 4], [1, 0, -3], [-1, 2, -3], [3, 0, 4], [0, 1, -4], [0, 4, 0]),
        ]
    )
    y = np.array([int(each) for each in "01011101110010110100100"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SampledCutSVC(C=90.0, method="exact", kernel="linear", risk_tol=2e-4, max_iter=300).fit(X, y)
    assert 0.99 * model.objective_ <= model.lower_bound_ <= model.objective_
    assert model.certificate_of_ == "kernel"
