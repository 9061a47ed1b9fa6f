"""Positional oligomer importance: what a k-mer at a position changes in the score of a model of strings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._types import Array
from cutplane.sources.alphabet import as_alphabet
from cutplane.sources.kmers import blocks, kmer
from cutplane.sources.strings import StringPart

#: More k-mers than this at a position are not worked out.
MOST_KMERS = 4096


class Oligomer(NamedTuple):
    """A k-mer, where it begins, and what it changes in the score."""

    kmer: str
    position: int
    importance: float


def oligomer_importance(model: BaseEstimator, order: int, row: int = 0) -> Array:
    """How much each k-mer at each position raises the score, in the mean over all strings that have it there.

    The mean is over strings of evenly distributed letters, before they are scaled to length 1: positional oligomer
    importance matrices (POIMs; Sonnenburg, Zien, Philips and Rätsch 2008). All k-mers that overlap count, of whatever
    order.

    Parameters
    ----------
    model : StringSVC
        Fitted.
    order : int
        Letters of the k-mers; the model's own order may be higher or lower.
    row : int
        The class, if there are more than two.

    Returns
    -------
    array of shape (length - order + 1, letters**order)
        k-mers in alphabetical order; those of a position sum to zero.

    Examples
    --------
    >>> from cutplane import StringSVC
    >>> from cutplane.report.poims import oligomer_importance
    >>> model = StringSVC(order=2).fit(["ACGT", "AAGT", "TCGA", "TAGA"], [0, 1, 0, 1])
    >>> "ACGT"[oligomer_importance(model, 1)[1].argmax()]
    'A'
    """
    letters = as_alphabet(model.alphabet).size
    if not 1 <= order <= model.length_ or letters**order > MOST_KMERS:
        deepest = min(model.length_, int(np.log(MOST_KMERS) / np.log(letters) + 1e-9))
        raise ValueError(f"order={order} must lie between 1 and {deepest} for strings of {letters} different letters.")
    last = model.length_ - order
    result = np.zeros((last + 1, letters**order))
    for part, weights in weights_by_part(model, row):
        for start, k, where in blocks(part, letters):
            block = part.values[k - 1] * (weights[where] - weights[where].mean())
            first, final = (start, start) if part.positional else (part.begin, part.end - k)
            for shift in range(1 - k, order):
                # The k-mers begin `shift` letters after the oligomer, at positions from first to final.
                begin, end = max(0, first - shift), min(last, final - shift)
                if begin <= end:
                    result[begin : end + 1] += _seen(block, letters, k, order, shift)
    return result


def _seen(block: Array, letters: int, k: int, order: int, shift: int) -> Array:
    """The mean of centred weights of k-mers over the letters that an oligomer does not say, for each oligomer."""
    begin, end = max(0, -shift), min(k, order - shift)
    known = block.reshape(letters**begin, letters ** (end - begin), letters ** (k - end)).mean(axis=(0, 2))
    before = max(0, shift)
    after = order - before - (end - begin)
    whole = np.broadcast_to(known[None, :, None], (letters**before, len(known), letters**after))
    return np.asarray(whole).ravel()


def poims(model: BaseEstimator, deepest: int = 4, row: int = 0) -> list[Array]:
    """`oligomer_importance` of orders 1 to `deepest`, or as far as there are not too many k-mers.

    What is known of the highest order is known of those below it: the mean over the letters that they do not say.
    """
    letters = as_alphabet(model.alphabet).size
    top = max(k for k in range(1, min(deepest, model.length_) + 1) if k == 1 or letters**k <= MOST_KMERS)
    found = [oligomer_importance(model, top, row)]
    for order in range(top - 1, 0, -1):
        longer = found[0].reshape(-1, letters, letters**order)
        behind = found[0].reshape(-1, letters**order, letters)
        found.insert(0, np.concatenate([behind.mean(axis=2), longer[-1:].mean(axis=1)]))
    return found


def strongest_oligomers(model: BaseEstimator, importance: Array, most: int) -> list[Oligomer]:
    """The k-mers and positions that change the score most, either way."""
    alphabet = as_alphabet(model.alphabet)
    order = model.length_ - len(importance) + 1
    chosen = np.argsort(-np.abs(importance), axis=None, kind="stable")[:most]
    places = [np.unravel_index(index, importance.shape) for index in chosen]
    return [
        Oligomer(kmer(int(code), order, alphabet), int(position), float(importance[position, code]))
        for position, code in places
    ]


def weights_by_part(model: BaseEstimator, row: int) -> list[tuple[StringPart, Array]]:
    """The parts of a model of strings, with the weights of each."""
    parts = model.parts(model.length_)
    letters = as_alphabet(model.alphabet).size
    ends = np.cumsum([part.dimension(letters) for part in parts])
    return list(zip(parts, np.split(np.asarray(model.coef_)[row], ends[:-1]), strict=True))
