"""BED files: scored places on chromosomes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Hit(NamedTuple):
    """A place on a chromosome, from `begin` up to `end`, which is not included."""

    chromosome: str
    begin: int
    end: int
    score: float
    strand: str


def bed_line(hit: Hit, name: str) -> str:
    """Seven tab-separated columns: chromosome, begin, end, name, score, strand, and the real score.

    Scores of BED files are whole numbers from 0 to 1000, of which browsers make shades of grey: 500 stands for 0, by
    the logistic function. Names have no blanks.
    """
    shade = round(500.0 * (1.0 + math.tanh(0.5 * hit.score)))
    called = "_".join(name.split()) or "."
    return f"{hit.chromosome}\t{hit.begin}\t{hit.end}\t{called}\t{shade}\t{hit.strand}\t{hit.score:.6g}\n"


def hits_above(
    chromosome: str,
    scores: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    threshold: float,
    place: tuple[int, int],
    length: int,
    strand: str,
) -> Iterator[Hit]:
    """The windows with a score above the threshold, as the letters of each that `place` says.

    Parameters
    ----------
    chromosome : str
    scores, chosen : array
        Of the windows in the order of the chromosome; which of them are looked at.
    threshold : float
    place : (int, int)
        The letters of a window that are reported, as the strand is read.
    length : int
        Letters of a window.
    strand : {"+", "-"}
    """
    found = np.flatnonzero(chosen & (scores > threshold))
    yield from hits_at(chromosome, found, scores[found], place, length, strand)


def hits_at(
    chromosome: str,
    starts: NDArray[np.int64],
    scores: NDArray[np.float64],
    place: tuple[int, int],
    length: int,
    strand: str,
) -> Iterator[Hit]:
    """The same of windows whose begins and scores are known."""
    begin, end = place if strand == "+" else (length - place[1], length - place[0])
    for start, score in zip(starts.tolist(), scores.tolist(), strict=True):
        yield Hit(chromosome, start + begin, start + end, score, strand)
