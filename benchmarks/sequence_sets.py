"""Sequence data of the structured benchmark: tokens as lists of feature names, and their labels."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.io

from cutplane.io.conll import Sentence, read_tokens
from cutplane.io.feature_template import FeatureTemplate

# The window features of crfsuite's and CRF++'s chunking examples: words and parts of speech.
WINDOW = FeatureTemplate.usual(2)


class SequenceSet(NamedTuple):
    """Training and test sequences; `figure` says what is reported: F1 of entities or accuracy of tokens."""

    X: list
    Y: list
    X_test: list
    Y_test: list
    figure: str


def conll2000(data: Path) -> SequenceSet:
    """Chunking of newspaper text: 8,936 + 2,012 sentences, 22 labels."""
    parts = []
    for name in ("train", "test"):
        sentences = read_tokens(data / "conll2000" / f"{name}.txt.gz")
        parts.append([WINDOW.apply([row[:2] for row in sentence]) for sentence in sentences])
        parts.append([[row[2] for row in sentence] for sentence in sentences])
    return SequenceSet(*parts, "F1")


def _shape(word: str) -> str:
    kinds = ["X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c for c in word]
    return "".join(c for k, c in enumerate(kinds) if not k or c != kinds[k - 1])


def _word_features(sentence: Sentence) -> list[list[str]]:
    """Words around, and what a word begins and ends with."""
    words = ["<s>", "<s>", *(row[0].lower() for row in sentence), "</s>", "</s>"]
    tokens = []
    for place, (word, _) in enumerate(sentence):
        low = words[place + 2]
        around = [f"w{k}={words[place + 2 + k]}" for k in range(-2, 3)]
        pairs = [f"w-1/0={words[place + 1]}/{low}", f"w0/1={low}/{words[place + 3]}"]
        ends = [f"p{k}={low[:k]}" for k in range(1, 5)] + [f"s{k}={low[-k:]}" for k in range(1, 5)]
        tokens.append(["bias", *around, *pairs, *ends, f"shape={_shape(word)}"])
    return tokens


def ud_english_ewt(data: Path) -> SequenceSet:
    """Universal parts of speech in web text: 12,544 + 2,077 sentences, 17 labels."""
    parts = []
    for name in ("train", "test"):
        sentences = read_tokens(data / "ud_english_ewt" / f"en_ewt-ud-{name}.conllu.xz")
        parts.append([_word_features(sentence) for sentence in sentences])
        parts.append([[row[1] for row in sentence] for sentence in sentences])
    return SequenceSet(*parts, "accuracy")


def ocr_arrays(data: Path) -> list[list[np.ndarray]]:
    """Handwritten words: pixels of training words, their letters, and the same of test words; a row for each letter."""
    file = scipy.io.loadmat(data / "ocr_letters" / "ocr_taskar.mat")
    parts = []
    for name in ("train", "test"):
        images = [np.asarray(word) for word in file[f"patterns_{name}"][0]]
        labels = [np.asarray(word).ravel() for word in file[f"labels_{name}"][0]]
        parts.append([x if x.shape[0] == len(y) else x.T for x, y in zip(images, labels, strict=True)])
        parts.append(labels)
    return parts


def ocr_letters(data: Path) -> SequenceSet:
    """Handwritten words, 128 pixels a letter: 626 words to train on and 6,251 to test, 26 labels."""
    parts = []
    for index, part in enumerate(ocr_arrays(data)):
        if index % 2:
            parts.append([[str(code) for code in word.tolist()] for word in part])
        else:
            parts.append([[["bias", *(f"p{k}" for k in np.flatnonzero(row))] for row in word] for word in part])
    return SequenceSet(*parts, "accuracy")


def ocr_letters_large(data: Path) -> SequenceSet:
    """The same words the other way round: 6,251 to train on and 626 to test."""
    small = ocr_letters(data)
    return SequenceSet(small.X_test, small.Y_test, small.X, small.Y, small.figure)


def ocr_folds(data: Path, count: int = 10) -> list[SequenceSet]:
    """All words in ten parts, drawn with a fixed seed: the file does not say which of the published folds a word is in.

    Each set has one part to test and the others to train on.
    """
    whole = ocr_letters(data)
    X, Y = whole.X + whole.X_test, whole.Y + whole.Y_test
    order = np.random.default_rng(0).permutation(len(X)).tolist()
    folds = []
    for k in range(count):
        rest = [place for at, place in enumerate(order) if at % count != k]
        test = order[k::count]
        parts = ([values[place] for place in part] for part in (rest, test) for values in (X, Y))
        folds.append(SequenceSet(*parts, whole.figure))
    return folds


def ocr_halves(data: Path, count: int = 3) -> list[SequenceSet]:
    """All words, 3,438 of them to train on and 3,439 to test: sizes that figures of SVM-struct are published for."""
    whole = ocr_letters(data)
    X, Y = whole.X + whole.X_test, whole.Y + whole.Y_test
    halves = []
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(len(X)).tolist()
        parts = ([values[place] for place in part] for part in (order[:3438], order[3438:]) for values in (X, Y))
        halves.append(SequenceSet(*parts, whole.figure))
    return halves


SETS = {
    "conll2000": conll2000,
    "ocr-letters": ocr_letters,
    "ocr-letters-large": ocr_letters_large,
    "ud-english-ewt": ud_english_ewt,
}
