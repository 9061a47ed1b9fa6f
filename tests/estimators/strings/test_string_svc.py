"""`StringSVC`: what it finds, proves, keeps and refuses."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from cutplane import LinearSVC, StringSVC, load
from cutplane.io.strings import write_strings
from cutplane.sources.alphabet import DNA
from cutplane.sources.kmers import OccurringKmers
from cutplane.sources.packed import PackedStrings
from cutplane.sources.string_file import MappedStrings
from cutplane.sources.strings import StringSource
from cutplane.testing.string_reference import string_features


def planted(n, length=16, seed=0, site="GATTACA"):
    """Random DNA; in the positive third of it most letters of a site stand at position 5."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("ACGT"))[rng.integers(4, size=(n, length))]
    y = (rng.random(n) < 1 / 3).astype(int)
    kept = rng.random((n, len(site))) < 0.7
    part = letters[:, 5 : 5 + len(site)]
    part[(y[:, None] == 1) & kept] = np.broadcast_to(list(site), part.shape)[(y[:, None] == 1) & kept]
    return ["".join(row) for row in letters], y


@pytest.mark.parametrize("method", ["auto", "oca"])
def test_it_is_a_linear_svm_on_the_explicit_features(method):
    strings, y = planted(300)
    model = StringSVC(
        C=0.5, order=3, spectra=[(0, 5), (8, 16)], spectrum_order=2, tol=1e-5, method=method, class_weight=None
    )
    model.fit(strings, y)
    X = string_features(strings, model.parts(16), DNA, normalize=True)
    explicit = LinearSVC(C=0.5, tol=1e-5).fit(X, y)
    assert model.gap_ <= 1e-5
    assert model.lower_bound_ <= explicit.objective_ * (1 + 1e-9)
    assert explicit.lower_bound_ <= model.objective_ * (1 + 1e-9)
    np.testing.assert_allclose(model.decision_function(strings), X @ model.coef_[0] + model.intercept_, atol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"spectra": [(0, 7)], "spectrum_order": 3}, {"normalize": False}])
def test_few_strings_are_trained_on_the_kmers_that_occur(settings, monkeypatch):
    strings, y = planted(250, length=30)
    strings[3] = strings[3][:9] + "N" + strings[3][10:]
    y[:40] = 2
    settings |= {"order": 5, "C": 3.0}
    with monkeypatch.context() as never:
        for name in ("scores", "combine"):  # no pass goes over all weights
            never.setattr(StringSource, name, None)
        few = StringSVC(**settings).fit(strings, y)
    monkeypatch.setattr(OccurringKmers, "pay", lambda source: False)
    many = StringSVC(**settings).fit(strings, y)
    for one, other in zip(few.certificates_, many.certificates_, strict=True):
        assert one.lower_bound <= other.objective
        assert other.lower_bound <= one.objective
    for k, each in enumerate(few.certificates_):
        signs = np.where(y == few.classes_[k], 1.0, -1.0)
        weights = len(y) / (3 * np.unique(y, return_counts=True)[1])[y]
        losses = np.maximum(0.0, 1.0 - signs * few.decision_function(strings)[:, k])
        assert 0.5 * few.coef_[k] @ few.coef_[k] + 3.0 * weights @ losses <= each.objective * (1 + 1e-12)
        assert each.gap <= 1e-3


def test_it_finds_planted_sites():
    model = StringSVC(order=4).fit(*planted(1500))
    unseen, y = planted(1500, seed=1)
    scores = model.decision_function(unseen)
    assert roc_auc_score(y, scores) > 0.95
    assert average_precision_score(y, scores) > 0.85
    assert model.score(unseen, y) > 0.85


def test_a_text_is_scanned_as_its_windows_are_scored():
    strings, y = planted(400)
    text = "".join(strings[:20]) + "NNNNNNNNNNNNNNNNNNNN" + "".join(strings[20:40]) + "acgtn"
    windows = [text[i : i + 16] for i in range(len(text) - 15)]
    opposite = [window.upper()[::-1].translate(str.maketrans("ACGT", "TGCA")) for window in windows]
    for normalize in (True, False):
        model = StringSVC(order=3, spectra=[(0, 6), (9, 16)], spectrum_order=3, normalize=normalize).fit(strings, y)
        np.testing.assert_allclose(model.scan(text), model.decision_function(windows), atol=1e-12)
        np.testing.assert_allclose(model.scan(text, reverse=True), model.decision_function(opposite), atol=1e-12)


def test_more_than_two_classes():
    strings, y = planted(200)
    labels = np.where(y == 1, "site", np.where([s[0] == "A" for s in strings], "a", "other"))
    model = StringSVC(order=2, C=10.0).fit(strings, labels)
    assert model.coef_.shape == (3, model.n_features_in_)
    assert set(model.predict(strings)) <= {"site", "a", "other"}
    assert model.decision_function(strings).shape == (200, 3)
    assert model.gap_ <= 1e-3


def test_a_saved_model_scores_the_same_bits(tmp_path):
    strings, y = planted(200)
    model = StringSVC(order=3, spectra=[(0, 4)], spectrum_order=2, depth=20).fit(strings, y)
    model.save(tmp_path / "model.safetensors")
    same = load(tmp_path / "model.safetensors")
    assert np.array_equal(same.decision_function(strings), model.decision_function(strings))
    assert same.gap_ == model.gap_
    assert same.length_ == 16


def test_training_from_a_file_is_training_from_memory(tmp_path):
    strings, y = planted(300)
    strings[7] = strings[7][:3] + "N" + strings[7][4:]
    path = tmp_path / "data.strings"
    write_strings(path, PackedStrings.pack(strings), y)
    here, there = StringSVC(order=3).fit(strings, y), StringSVC(order=3).fit(path)
    assert np.array_equal(here.coef_, there.coef_)
    assert np.array_equal(MappedStrings(path).labels, y)
    np.testing.assert_array_equal(there.decision_function(path), here.decision_function(strings))


def test_a_model_is_freed_when_it_is_dropped():
    strings, y = planted(100)
    model = StringSVC(order=3).fit(strings, y)
    found = weakref.ref(model)
    gc.disable()  # 100 MB of weights at order 8 are not to wait for it
    try:
        del model
        assert found() is None
    finally:
        gc.enable()


def test_a_warm_start_goes_on():
    strings, y = planted(300)
    model = StringSVC(order=3, tol=1e-2, warm_start=True).fit(strings, y)
    again = model.set_params(tol=1e-4).fit(strings, y)
    assert again.gap_ <= 1e-4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"order": 0}, "order=0 and spectra=.. leave no features"),
        ({"order": 17}, "order=17 is longer than the window of 16 letters"),
        ({"spectra": [(0, 20)]}, r"window=\(0, 20\) must lie within the 16"),
        ({"spectra": [(0,)]}, r"spectra has \(0,\); windows are pairs"),
        ({"order": 3, "depth": 2}, "order=3 and depth=2"),
        ({"alphabet": "AB"}, "String 0 has the letter"),
        ({"C": -1.0}, "C=-1.0 must be a finite number greater than 0"),
    ],
)
def test_bad_settings_are_named(settings, words):
    strings, y = planted(20)
    with pytest.raises(ValueError, match=words):
        StringSVC(**{"spectrum_order": 2, **settings}).fit(strings, y)


def test_bad_data_is_named():
    strings, y = planted(20)
    model = StringSVC(order=2).fit(strings, y)
    with pytest.raises(ValueError, match="Strings of 5 letters are given to a model of 16"):
        model.predict(["ACGTA"])
    with pytest.raises(ValueError, match=r"y of shape \(3,\) must have one label for each of 20"):
        StringSVC(order=2).fit(strings, [0, 1, 0])
    with pytest.raises(ValueError, match="There are no labels"):
        StringSVC(order=2).fit(strings)
    with pytest.raises(ValueError, match="made of ACGT, but alphabet='AB'"):
        StringSVC(order=2, alphabet="AB").fit(PackedStrings.pack(strings), y)
    with pytest.raises(ValueError, match="only one class"):
        StringSVC(order=2).fit(strings, np.zeros(20))
    with pytest.raises(ValueError, match="A window of 16 letters does not fit into a text of 3"):
        model.scan("ACG")
    with pytest.raises(ValueError, match="The text has the letter '!' at position 3"):
        model.scan("ACG!" * 9)


def test_rare_sites_are_found_by_default() -> None:
    rng = np.random.default_rng(3)
    letters = np.array(list("ACGT"))[rng.integers(4, size=(2000, 40))]
    y = rng.random(2000) < 0.03
    letters[y, 6:14] = np.where(rng.random((y.sum(), 8)) < 0.6, list("GATTACAG"), letters[y, 6:14])
    strings = ["".join(row) for row in letters]
    models = [StringSVC(order=3, **given).fit(strings[:1000], y[:1000]) for given in ({}, {"class_weight": None})]
    found, missed = (model.predict(strings[1000:])[y[1000:]].mean() for model in models)
    assert missed < 0.1
    assert found > 0.3
