"""String features against the matrix they stand for, for every order, alphabet, window and weighting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.sources.alphabet import DNA, PROTEIN, Alphabet
from cutplane.sources.kmers import OccurringKmers, feature_name
from cutplane.sources.packed import PackedStrings
from cutplane.sources.stacked import Stacked
from cutplane.sources.strings import Spectrum, StringPart, StringSource, WeightedDegree, degree_weights
from cutplane.testing import check_source
from cutplane.testing.string_reference import string_features

ALPHABETS = [Alphabet("01"), Alphabet("abc"), DNA, Alphabet("vwxyz", unknown="?")]


def random_strings(rng, alphabet, n, length, unknown=0.0):
    letters = np.array(list(alphabet.letters))[rng.integers(alphabet.size, size=(n, length))]
    if alphabet.unknown:
        letters[rng.random((n, length)) < unknown] = alphabet.unknown[0]
    return ["".join(row) for row in letters]


@st.composite
def problems(draw):
    alphabet = draw(st.sampled_from(ALPHABETS))
    length = draw(st.integers(1, 9))
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, length - 1))
        end = draw(st.integers(begin + 1, length))
        order = draw(st.integers(1, min(end - begin, 3)))
        weights = (*(draw(st.sampled_from([0.0, 0.5, 1.0, 2.0])) for _ in range(order - 1)), 1.0)
        parts.append(StringPart(draw(st.booleans()), begin, end, weights, draw(st.booleans())))
    unknown = draw(st.sampled_from([0.0, 0.2]))
    return alphabet, length, parts, draw(st.booleans()), unknown, draw(st.integers(0, 2**20))


@given(problems())
def test_the_source_is_the_explicit_feature_matrix(problem):
    alphabet, length, parts, normalize, unknown, seed = problem
    strings = random_strings(np.random.default_rng(seed), alphabet, 7, length, unknown)
    packed = PackedStrings.pack(strings, alphabet)
    X = string_features(strings, parts, alphabet, normalize=normalize)
    source = StringSource(packed, parts, normalize=normalize, n_threads=1)
    w = np.random.default_rng(seed).normal(size=X.shape[1])
    coef = np.random.default_rng(seed).normal(size=len(strings)) * [1, 0, 1, 1, 0, 1, 1]
    assert source.shape == X.shape
    assert sum(part.dimension(alphabet.size) for part in parts) == X.shape[1]
    np.testing.assert_allclose(source.scores(w), X @ w, atol=1e-11)
    np.testing.assert_allclose(source.combine(coef), X.T @ coef, atol=1e-11)


@given(problems())
def test_columns_of_the_kmers_that_occur_are_the_features_rotated(problem):
    alphabet, length, parts, normalize, unknown, seed = problem
    parts = [replace(part, normalize=False) for part in parts]
    strings = random_strings(np.random.default_rng(seed), alphabet, 7, length, unknown)
    X = string_features(strings, parts, alphabet, normalize=normalize)
    few = OccurringKmers(StringSource(PackedStrings.pack(strings, alphabet), parts, normalize=normalize, n_threads=1))
    columns = few.scores(np.eye(few.shape[1]))
    w = np.random.default_rng(seed).normal(size=(2, few.shape[1])) * columns.any(axis=0)
    expanded = few.expanded(w)
    np.testing.assert_allclose(columns @ columns.T, X @ X.T, atol=1e-12)
    np.testing.assert_allclose(X @ expanded.T, columns @ w.T, atol=1e-11)
    np.testing.assert_allclose(expanded @ expanded.T, w @ w.T, atol=1e-11)
    assert few.extent.reach >= np.linalg.norm(X, axis=1).max()


def test_a_string_of_its_own_takes_one_column():
    strings = random_strings(np.random.default_rng(1), DNA, 50, 60)
    part = StringPart(True, 0, 60, tuple(degree_weights(12)), False)
    few = OccurringKmers(StringSource(PackedStrings.pack(strings), [part], normalize=True))
    assert few.shape[1] < 60 * (4 + 16 + 50 / 2) + 50  # no pair of strings has many of the longer k-mers
    assert few.per_row < 60 * 4


@pytest.mark.parametrize("unknown", [0.0, 0.05])
@pytest.mark.parametrize("alphabet", ALPHABETS, ids=lambda alphabet: alphabet.letters)
def test_the_contract_of_sources(alphabet, unknown):
    strings = random_strings(np.random.default_rng(1), alphabet, 50, 12, unknown)
    packed = PackedStrings.pack(strings, alphabet)

    def stack(threads):
        parts = [
            Spectrum(packed, 2, window=(0, 5), n_threads=threads),
            WeightedDegree(packed, 3, normalize=False, n_threads=threads),
            Spectrum(packed, 3, window=(6, 12), normalize=False, n_threads=threads),
        ]
        return Stacked(*parts, n_threads=threads)

    parts = [
        StringPart(False, 0, 5, tuple(degree_weights(2))),
        StringPart(True, 0, 12, tuple(degree_weights(3)), False),
        StringPart(False, 6, 12, tuple(degree_weights(3)), False),
    ]
    check_source(stack(1), string_features(strings, parts, alphabet), twins=[stack(2), stack(3)])


def test_threads_do_not_change_a_bit_of_large_passes():
    rng = np.random.default_rng(2)
    text = np.frombuffer(b"ACGT", np.uint8)[rng.integers(4, size=(70_000, 20))]  # more than a piece of packed strings
    packed = PackedStrings.pack(text)
    one, two = (
        Stacked(
            Spectrum(packed, 5, normalize=False),
            WeightedDegree(packed, 5, normalize=False),
            normalize=True,
            n_threads=t,
        )
        for t in (1, 2)
    )
    w, coef = rng.normal(size=one.shape[1]), rng.normal(size=len(text))
    assert np.array_equal(one.scores(w), two.scores(w))
    assert np.array_equal(one.combine(coef), two.combine(coef))
    assert np.isclose(one.scores(w) @ coef, w @ one.combine(coef))
    some = np.array([3, 65_535, 65_536, 69_999])
    np.testing.assert_allclose(one.take(some).scores(w), one.scores(w)[some], rtol=1e-12)


def test_every_vector_has_length_one():
    strings = random_strings(np.random.default_rng(3), DNA, 20, 15, 0.1)
    for source in (Spectrum(strings, 4), WeightedDegree(strings, 4)):
        X = source.scores(np.eye(source.shape[1]))
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)


def test_a_string_of_unknown_letters_has_no_features():
    source = Spectrum(["NNNN", "ACGT"], 2)
    np.testing.assert_array_equal(source.scores(np.ones(source.shape[1])) > 0, [False, True])


def test_features_over_the_same_strings_cost_one_lookup_a_position():
    packed = PackedStrings.pack(random_strings(np.random.default_rng(4), DNA, 3, 141))
    left, right = (Spectrum(packed, 8, window=window, normalize=False) for window in ((0, 59), (61, 141)))
    degree = WeightedDegree(packed, 8, normalize=False)
    whole = Stacked(left, right, degree, normalize=True)
    ((shared, _),) = whole._places
    assert shared.lookups == 134
    # Shogun counts 12,495,340: there the last seven positions have k-mers that reach over the end.
    missing = sum(4**k * (k - 1) for k in range(1, 9))
    assert whole.shape[1] == 12_495_340 - missing


def test_other_sources_can_stand_between_strings():
    import scipy.sparse as sp

    from cutplane.sources import CsrSource, DenseSource

    rng = np.random.default_rng(5)
    strings = random_strings(rng, DNA, 12, 6)
    packed = PackedStrings.pack(strings)
    dense, sparse = rng.normal(size=(12, 3)), sp.random_array((12, 4), density=0.5, format="csr", rng=rng)
    source = Stacked(Spectrum(packed, 2), DenseSource(dense), WeightedDegree(packed, 2), CsrSource(sparse))
    parts = [StringPart(kind, 0, 6, tuple(degree_weights(2))) for kind in (False, True)]
    spectrum, degree = (string_features(strings, [part], DNA) for part in parts)
    check_source(source, np.hstack([spectrum, dense, degree, sparse.toarray()]))


def test_packed_strings_read_as_they_were():
    strings = random_strings(np.random.default_rng(6), PROTEIN, 9, 11)
    packed = PackedStrings.pack(strings, "protein")
    assert [packed.text(i) for i in range(len(packed))] == strings
    assert [packed.take(np.array([4, 4, 0])).text(i) for i in range(3)] == [strings[4], strings[4], strings[0]]
    as_arrays = [
        np.array(strings),
        np.array(strings, dtype="S"),
        np.array([list(s.encode()) for s in strings], np.uint8),
    ]
    for array in as_arrays:
        assert np.array_equal(PackedStrings.pack(array, "protein").data, packed.data)


def test_weights_are_shoguns():
    np.testing.assert_allclose(degree_weights(3), [3 / 6, 2 / 6, 1 / 6])
    np.testing.assert_allclose(degree_weights(2, 40), [40 / 820, 39 / 820])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Spectrum(["ACG", "AC"]), "String 1 has 2 letters .* 3; all must be of one length"),
        (lambda: Spectrum(np.array([b"ACG", b"AC"])), "String 1 has 2 letters"),
        (lambda: Spectrum(["ACG", "AxG"], 2), "String 1 has the letter 'x' at position 1; letters are ACGT"),
        (lambda: Spectrum(["ACG", "A€G"], 2), "String 1 has the letter '€'"),
        (lambda: Spectrum(["ACG"], 4), "order=4 is longer than the window of 3 letters"),
        (lambda: WeightedDegree(["ACG"], 2, window=(2, 3)), "order=2 is longer than the window of 1"),
        (lambda: Spectrum(["ACG"], 2, window=(1, 4)), r"window=\(1, 4\) must lie within the 3 letters"),
        (lambda: Spectrum(["ACG"], 0), "order=0 must be an integer greater than 0"),
        (lambda: Spectrum(["A" * 30], 13), "order=13 with 4 letters makes 6.7e.07 k-mers"),
        (lambda: Spectrum(["ACG"], 2, weights=[1.0, -1.0]), "weights=.* must be 2 finite numbers"),
        (lambda: Spectrum([], 2), "There are 0 strings"),
        (lambda: Spectrum(["", ""], 2), "2 strings of 0 letters"),
        (lambda: Alphabet("A"), "An alphabet has 2 to 254 different letters"),
        (lambda: Alphabet("ACA"), "has 2 of 3"),
        (lambda: Alphabet("ACGT", unknown="A"), "both a letter and unknown"),
        (lambda: Stacked(), "at least one source"),
        (lambda: Stacked(Spectrum(["AC"], 1), Spectrum(["AC", "AA"], 1)), "Sources of 1, 2 examples"),
        (lambda: Stacked(Spectrum(["AC"], 1), Spectrum(["AC"], 1), normalize=True), "over the same strings"),
        (lambda: degree_weights(9, 8), "order=9 and depth=8"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_what_is_no_string_is_named():
    with pytest.raises(TypeError, match="String 1 is 3; strings must be str or bytes"):
        Spectrum(["ACG", 3], 2)
    with pytest.raises(IndexError, match="There is no string 2"):
        Spectrum(["ACG", "AAA"], 2).take(np.array([0, 2]))


@pytest.mark.parametrize("positional", [True, False])
def test_features_are_called_by_their_letters(positional):
    """The feature of that name is in the string that has the k-mer there, and in no other."""
    alphabet = Alphabet("abc")
    text = ["abcab", "ccbaa", "acacb"]
    packed = PackedStrings.pack(text, alphabet)
    source = WeightedDegree(packed, 3, window=(1, 5)) if positional else Spectrum(packed, 3, window=(1, 5))
    X = source.scores(np.eye(source.shape[1]))
    for index in range(source.shape[1]):
        kmer, _, place = feature_name(source.parts, alphabet, index).split()
        if positional:
            has = [string.startswith(kmer, int(place)) for string in text]
        else:
            assert place == "1:5"
            has = [kmer in string[1:] for string in text]
        assert (X[:, index] > 0).tolist() == has
    with pytest.raises(IndexError):
        feature_name(source.parts, alphabet, source.shape[1])


def test_lengths_of_strings_that_repeat_themselves():
    """k-mers beyond the fifth order are counted by those that repeat."""
    rng = np.random.default_rng(3)
    random = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(3)]
    strings = [*random, "AC" * 30, "A" * 60, random[0][:30] * 2, "ACGTTGCAAT" * 6]
    parts = [StringPart(False, 2, 59, tuple(degree_weights(7)))]
    X = string_features(strings, parts, DNA, normalize=True)
    w = rng.normal(size=X.shape[1])
    for threads in (1, 2, 3):
        source = StringSource(PackedStrings.pack(strings), parts, normalize=True, n_threads=threads)
        np.testing.assert_allclose(source.scores(w), X @ w, rtol=1e-12)
