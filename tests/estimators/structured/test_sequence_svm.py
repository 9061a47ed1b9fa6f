"""`SequenceSVM` as its users meet it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from cutplane import SequenceSVM, StructuralSVM, load, verify
from cutplane.proof.file import ProofError
from cutplane.structured.chain import ChainModel
from cutplane.structured.metrics import entities, score_sequences

WORDS = ["the dog barks", "a cat sleeps", "the cat barks", "dogs sleep", "a dog sleeps", "cats bark"]
TAGS = ["D N V", "D N V", "D N V", "N V", "D N V", "N V"]
X = [[[word, f"ends in {word[-1]}"] for word in words.split()] for words in WORDS]
Y = [tags.split() for tags in TAGS]


def arrays(n=30, seed=0):
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(int(rng.integers(1, 6)), 4)) for _ in range(n)]
    labels = [(x[:, 0] + 0.5 * rng.normal(size=len(x)) > 0).astype(int).tolist() for x in rows]
    return rows, labels


def test_it_learns_and_proves():
    model = SequenceSVM(C=10.0, tol=1e-3).fit(X, Y)
    assert model.predict(X) == Y
    assert model.score(X, Y) == 1.0
    assert model.gap_ <= 1e-3
    assert model.lower_bound_ <= model.objective_
    assert model.stop_reason_ == "gap"
    assert model.coef_.shape == (len(model.feature_names_), 3)
    assert model.transitions_.shape == (3, 3)


def test_objective_is_that_of_the_model_returned():
    rows, labels = arrays()
    model = SequenceSVM(C=0.5, tol=1e-4).fit(rows, labels)
    chain = ChainModel(2, 4)
    w = np.concatenate([model.coef_.ravel(), model.transitions_.ravel()])
    risk = 0.0
    for x, y in zip(rows, labels, strict=True):
        found = chain.loss_augmented_argmax(x, y, w)
        risk += chain.loss(y, found) + w @ (chain.joint_feature(x, found) - chain.joint_feature(x, y))
    assert model.objective_ == pytest.approx(0.5 * w @ w + 0.5 * risk, rel=1e-9)


def test_all_kinds_of_tokens_give_the_same_model():
    rows, labels = arrays()
    dense = SequenceSVM(C=0.5).fit(rows, labels)
    sparse = SequenceSVM(C=0.5).fit([sp.csr_matrix(x) for x in rows], labels)
    named = SequenceSVM(C=0.5).fit([[{f"f{k}": v for k, v in enumerate(row)} for row in x] for x in rows], labels)
    assert np.array_equal(dense.coef_, sparse.coef_)
    assert named.feature_names_ == ["f0", "f1", "f2", "f3"]
    assert np.array_equal(dense.coef_, named.coef_)


def test_tokens_as_dicts():
    rows = [[{"word": word[0], "long": len(word[0]) > 3, "letters": len(word[0])} for word in x] for x in X]
    model = SequenceSVM(C=10.0).fit(rows, Y)
    assert {"word=dog", "long", "letters"} <= set(model.feature_names_)
    assert "long=True" not in model.feature_names_
    assert model.predict(rows) == Y
    assert model.predict([[{"never": "seen", "word": "dog"}]]) == [["N"]]


@pytest.mark.parametrize("method", ["frank-wolfe", "one-slack", "oca"])
def test_methods_agree(method):
    rows, labels = arrays()
    model = SequenceSVM(C=0.5, tol=1e-4, method=method).fit(rows, labels)
    general = StructuralSVM(ChainModel(2, 4), C=0.5, tol=1e-4).fit(rows, labels)
    assert model.objective_ == pytest.approx(general.objective_, rel=2e-4)
    assert max(model.lower_bound_, general.lower_bound_) <= min(model.objective_, general.objective_)


def test_threads_do_not_change_a_bit():
    rows, labels = arrays(n=200)
    one, two = (SequenceSVM(C=0.5, n_jobs=n).fit(rows, labels) for n in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    assert (one.objective_, one.lower_bound_) == (two.objective_, two.lower_bound_)


def test_costs_shift_what_is_predicted():
    rows, labels = arrays(n=60)
    plain = SequenceSVM(C=0.5).fit(rows, labels)
    careful = SequenceSVM(C=0.5, cost=[[0.0, 1.0], [20.0, 0.0]]).fit(rows, labels)
    count = [sum(map(sum, model.predict(rows))) for model in (plain, careful)]
    assert count[1] > count[0]


@pytest.mark.parametrize("kind", ["names", "arrays"])
def test_saved_and_loaded(kind, tmp_path):
    rows, labels = (X, Y) if kind == "names" else arrays()
    model = SequenceSVM(C=1.0).fit(rows, labels)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.predict(rows) == model.predict(rows)
    assert np.array_equal(again.transitions_, model.transitions_)
    assert (again.gap_, again.feature_names_, again.n_iter_) == (model.gap_, model.feature_names_, model.n_iter_)
    assert clone(again).get_params() == model.get_params()


def test_a_damaged_file_is_refused(tmp_path):
    from cutplane.io.model_file import ModelFileError, read_model, write_model

    SequenceSVM().fit(X, Y).save(tmp_path / "model.safetensors")
    file = read_model(tmp_path / "model.safetensors")
    arrays_ = {**file.arrays, "weights": file.arrays["weights"][:-1]}
    write_model(tmp_path / "bad.safetensors", kind=file.kind, arrays=arrays_, metadata=file.metadata)
    with pytest.raises(ModelFileError, match="weights should have 60 finite numbers"):
        load(tmp_path / "bad.safetensors")


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [
        ([], [], "X is empty; at least one sequence"),
        (X, Y[:-1], "X has 6 sequences and y 5"),
        ([*X[:-1], []], [*Y[:-1], []], "Sequence 5 is empty"),
        (X, [*Y[:-1], ["N"]], "Sequence 5 has 2 tokens and 1 labels"),
        ([[["a"], ["b"]]], [["N", "N"]], "only one class, 'N'"),
        ([[["a"], [3]]], [["N", "V"]], "Token 1 of sequence 0 has the feature 3"),
        ([[["a"], "b"]], [["N", "V"]], "Token 1 of sequence 0 is 'b'"),
        ([[{"a": None}, {}]], [["N", "V"]], "Token 0 of sequence 0 has None for the feature 'a'"),
        ([[{"a": np.nan}, {}]], [["N", "V"]], "has nan for the feature 'a'"),
        ([[[], []]], [["N", "V"]], "No token of X has a feature"),
        ([np.array([[1.0], [np.nan]])], [[0, 1]], "Sequence 0 has the value nan at feature 0"),
        ([np.ones((2, 2)), np.ones((1, 3))], [[0, 1], [1]], "Sequence 1 has 3 features a token; 2 were expected"),
        ([np.ones(2)], [[0, 1]], r"X\[0\] is an array of shape \(2,\); one with a row of features for each token"),
        ([np.ones((1, 2)), [["a"]]], [[0], [1]], r"X\[0\] is an array of numbers and X\[1\] a list of tokens"),
        ([[["a"]], np.ones((1, 2))], [[0], [1]], r"X\[1\] is an array of numbers and X\[0\] a list of tokens"),
        ((x for x in X), Y, r"X is a generator, which has no length; a list is needed: list\(X\)\."),
        (X, (y for y in Y), r"y is a generator, which has no length; a list is needed: list\(y\)\."),
        ([np.full((2, 1), 1e200)], [[0, 1]], r"the value 1e\+200 at feature 0; every value must be below 1e\+70"),
        ([[{"a": 1e200}, {}]], [[0, 1]], r"has 1e\+200 for the feature 'a'; .* below 1e\+70 in size"),
    ],
)
def test_bad_sequences(rows, labels, words):
    with pytest.raises(ValueError, match=words):
        SequenceSVM().fit(rows, labels)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"C": 0.0}, "C=0.0 must be"),
        ({"method": "cpa"}, "method='cpa' must be one of"),
        ({"cost": np.ones((3, 3))}, r"cost\[0, 0\]=1; costs must be"),
        ({"cost": np.zeros((2, 2))}, r"cost has the shape \(2, 2\); 3 labels need \(3, 3\)"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        SequenceSVM(**params).fit(X, Y)


def test_a_sequence_without_tokens_has_one_labelling() -> None:
    model = SequenceSVM().fit(X, Y)
    assert model.n_best([[]]) == [[([], 0.0)]]
    assert model.predict([[]]) == [[]]
    assert [margins.shape for margins in model.margins([[]])] == [(0,)]


def test_there_is_no_proof_and_no_advice_to_make_one() -> None:
    with pytest.raises(ProofError, match=r"^SequenceSVM has no proof file: its planes are of labellings"):
        verify(SequenceSVM().fit(X, Y), X)


def test_other_tokens_than_those_it_was_trained_on():
    rows, labels = arrays()
    named, numbers = SequenceSVM().fit(X, Y), SequenceSVM().fit(rows, labels)
    with pytest.raises(ValueError, match="X has arrays, but the model was trained on tokens with named features"):
        named.predict(rows)
    with pytest.raises(ValueError, match="X has named features, but the model was trained on arrays"):
        numbers.predict(X)
    with pytest.raises(ValueError, match="Sequence 0 has 1 features a token; 4 were expected"):
        numbers.predict([np.ones((2, 1))])
    with pytest.raises(NotFittedError):
        SequenceSVM().predict(X)
    assert named.predict([]) == []


def test_out_of_iterations():
    rows, labels = arrays()
    with pytest.warns(ConvergenceWarning, match="reached max_iter after 1 iterations"):
        model = SequenceSVM(C=100.0, tol=1e-6, max_iter=1).fit(rows, labels)
    assert model.gap_ > 1e-6


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ("O B-X I-X O", [(1, 3, "X")]),
        ("I-X I-X B-X", [(0, 2, "X"), (2, 3, "X")]),  # as the CoNLL scorer: an I- begins what nothing began
        ("B-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("S-X B-X E-X I-X", [(0, 1, "X"), (1, 3, "X"), (3, 4, "X")]),
        ("NOUN VERB", []),
    ],
)
def test_entities(labels, found):
    assert [tuple(entity) for entity in entities(labels.split())] == found


def test_scores():
    scores = score_sequences([["B-X", "I-X", "O"], ["B-Y"]], [["B-X", "I-X", "O"], ["B-X"]])
    assert scores.tokens == 4
    assert scores.accuracy == 0.75
    assert (scores.entities.right, scores.entities.wrong, scores.entities.missed) == (1, 1, 1)
    assert scores.entities.f1 == 0.5
    assert scores.by_type["Y"].recall == 0.0
    with pytest.raises(ValueError, match="Sequence 0 has 2 labels, but 1 were predicted"):
        score_sequences([["a", "b"]], [["a"]])


def test_the_best_labelling_is_the_prediction_and_margins_are_the_distance_to_others():
    model = SequenceSVM(C=10.0, tol=1e-3).fit(X, Y)
    ways = model.n_best(X, 4)
    assert [sequence[0][0] for sequence in ways] == model.predict(X)
    for sequence, margins in zip(ways, model.margins(X), strict=True):
        scores = [score for _, score in sequence]
        assert scores == sorted(scores, reverse=True)
        assert margins.min() == pytest.approx(scores[0] - scores[1])
    assert len(model.n_best([[["the"]]], 10)[0]) == 3  # there are three labels
    assert model.n_best([], 3) == model.margins([]) == []
    with pytest.raises(ValueError, match="n=0"):
        model.n_best(X, 0)


def test_margins_of_arrays():
    rows, labels = arrays()
    model = SequenceSVM(C=0.5).fit(rows, labels)
    assert [margins.shape for margins in model.margins(rows)] == [(len(x),) for x in rows]
    assert all((margins >= 0.0).all() for margins in model.margins([sp.csr_matrix(x) for x in rows]))


def test_top_features_and_transitions_are_the_largest_weights():
    model = SequenceSVM(C=10.0, tol=1e-3).fit(X, Y)
    top = model.top_features(3)
    assert list(top) == ["D", "N", "V"]
    for number, named in enumerate(top.values()):
        weights = [weight for _, weight in named]
        assert [abs(w) for w in weights] == sorted(np.abs(model.coef_[:, number]), reverse=True)[: len(weights)]
        assert [model.coef_[model.feature_names_.index(name), number] for name, _ in named] == weights
    before, after, weight = model.top_transitions(1)[0]
    where = (list(model.classes_).index(before), list(model.classes_).index(after))
    assert model.transitions_[where] == weight
    assert abs(weight) == np.abs(model.transitions_).max()


def test_files_hold_weights_other_than_zero(tmp_path):
    sentences = [[[f"word {k}"], ["end"]] for k in range(300)]
    model = SequenceSVM(C=0.1).fit(sentences, [["a" if k % 3 else "b", "c"] for k in range(300)])
    model.coef_[50:] = 0.0  # as with features that no mistake is about
    model.save(tmp_path / "model.safetensors")
    assert (tmp_path / "model.safetensors").stat().st_size < model.coef_.nbytes + 10_000
    loaded = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    np.testing.assert_array_equal(loaded.transitions_, model.transitions_)
    assert loaded.predict(sentences) == model.predict(sentences)


def test_weights_that_there_is_no_memory_for_are_refused(monkeypatch):
    monkeypatch.setattr("cutplane.estimators.structured.sequence_svm.free_memory", lambda: 64 * 40)
    with pytest.raises(ValueError, match=r"17 features and 3 labels have 60 weights, more than 0.0 GB of free memory"):
        SequenceSVM().fit(X, Y)
