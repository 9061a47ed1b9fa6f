"""Words in the place of numbers are one sentence that says what to call instead."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import cutplane
from cutplane.io.svmlight import load_svmlight, save_svmlight
from cutplane.structured.chain import ChainModel

RNG = np.random.default_rng(0)
ROWS, CLASSES = RNG.normal(size=(20, 2)), np.arange(20) % 2
KINDS = [
    name
    for name in cutplane.estimators.__all__
    if inspect.isclass(getattr(cutplane, name)) and hasattr(getattr(cutplane, name), "fit") and name != "StringSVC"
]
OBJECTS = ("StructuralSVM", "KernelStructuralSVM", "SequenceSVM")
INSTEAD = {
    "StructuralSVM": "a list or an array of examples is needed",
    "KernelStructuralSVM": "a list or an array of examples is needed",
    "SequenceSVM": r"cutplane\.io\.conll\.read_tokens\(path\) .* `cutplane train --task sequence` takes the file",
}
ROW_READER = r"cutplane\.io\.svmlight\.load_svmlight\(path\) .* `cutplane train` takes the file"


def estimator(name):
    return getattr(cutplane, name)(**({"model": ChainModel(2, 2)} if "Structural" in name else {}))


def data(name):
    return ([ROWS[:3], ROWS[3:6]], [CLASSES[:3], CLASSES[3:6]]) if name in OBJECTS else (ROWS, CLASSES)


@pytest.mark.filterwarnings("ignore:qid is None")
@pytest.mark.parametrize("path", ["train.svm", Path("train.svm"), b"train.svm"], ids=["str", "Path", "bytes"])
@pytest.mark.parametrize("name", KINDS)
def test_the_name_of_a_file_is_told_who_reads_it(name, path):
    words = rf"^X=b?'train\.svm' is a word or the name of a file, .* {INSTEAD.get(name, ROW_READER)}( itself)?\.$"
    with pytest.raises(ValueError, match=words):
        estimator(name).fit(path, data(name)[1])
    fitted = estimator(name).fit(*data(name))
    for method in ("predict", "decision_function", "transform", "n_best", "margins"):
        if hasattr(fitted, method):
            with pytest.raises(ValueError, match=words):
                getattr(fitted, method)(path)


@pytest.mark.filterwarnings("ignore:qid is None")
@pytest.mark.parametrize("name", [name for name in KINDS if name not in OBJECTS])
def test_texts_are_told_who_makes_numbers_of_them(name):
    text = r"^X\[1\] is 'a text', a text; features must be numbers, and scikit-learn's TfidfVectorizer"
    word = r"^Row 1 of X has the value 'red' in column 0; features must be numbers, and scikit-learn's OneHotEncoder"
    fitted = estimator(name).fit(*data(name))
    for method in ("predict", "transform"):
        calls = [lambda X: estimator(name).fit(X, [0, 1])]
        calls += [getattr(fitted, method)] if hasattr(fitted, method) else []
        for call in calls:
            for texts in (["1", "a text"], np.array(["1", "a text"]), np.array(["1", "a text"], dtype=object)):
                with pytest.raises(ValueError, match=text):
                    call(texts)
            for rows in ([[1.0, 2.0], ["red", 3.0]], np.array([[1.0, 2.0], ["red", 3.0]], dtype=object)):
                with pytest.raises(ValueError, match=word):
                    call(rows)


def test_who_is_named_reads_the_file(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    save_svmlight(tmp_path / "train.svm", ROWS, CLASSES)
    X, y, _ = load_svmlight(tmp_path / "train.svm")
    wanted = cutplane.LinearSVC().fit(ROWS, CLASSES).coef_
    np.testing.assert_allclose(cutplane.LinearSVC().fit(X, y).coef_, wanted, rtol=1e-2)
    mapped = cutplane.sources.MappedSource(cutplane.sources.open_rows(tmp_path / "rows.npy"))
    np.testing.assert_allclose(cutplane.LinearSVC().fit(mapped, CLASSES).coef_, wanted, rtol=1e-2)


def test_numbers_written_as_words_are_numbers_still():
    written = [[str(value) for value in row] for row in ROWS.tolist()]
    np.testing.assert_array_equal(
        cutplane.LinearSVC().fit(written, CLASSES).coef_, cutplane.LinearSVC().fit(ROWS, CLASSES).coef_
    )


def test_labels_are_no_file_either():
    with pytest.raises(ValueError, match=r"^y='labels\.txt' is a word or the name of a file"):
        cutplane.LinearSVC().fit(ROWS, "labels.txt")


@pytest.mark.parametrize(("wrong", "shown"), [("the dog", "'the dog'"), (3, "3")])
def test_a_sequence_is_a_list_of_tokens(wrong, shown):
    words = rf"^X\[1\] is {shown}; a sequence is a list of tokens, each a dict or a list of names of features"
    X, y = [[["the"], ["dog"]], wrong], [["D", "N"], ["D", "N"]]
    with pytest.raises(ValueError, match=words):
        cutplane.SequenceSVM().fit(X, y)
    with pytest.raises(ValueError, match=words):
        cutplane.SequenceSVM().fit(X[:1], y[:1]).predict(X)
    with pytest.raises(ValueError, match=r"^y\[0\] is 1; it must be the labels of the tokens of X\[0\]"):
        cutplane.SequenceSVM().fit(X[:1], [1])


def test_one_string_is_told_from_a_file_of_strings():
    with pytest.raises(ValueError, match=r"^X='dna\.txt' is one string; .*Path\(name\) for a file of them\.$"):
        cutplane.StringSVC().fit("dna.txt", [0, 1])
