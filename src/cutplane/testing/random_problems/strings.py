"""Random problems of `StringSVC`; its features are written down as a matrix."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from cutplane import StringSVC
from cutplane._types import Params
from cutplane.sources.alphabet import as_alphabet
from cutplane.testing.random_problems import draws
from cutplane.testing.random_problems.draws import Generator, often
from cutplane.testing.random_problems.judge import Truth
from cutplane.testing.random_problems.linear import LinearJudge
from cutplane.testing.random_problems.problem import Problem
from cutplane.testing.random_problems.recomputed import Array, Classification
from cutplane.testing.string_reference import string_features

# Features are square roots, and divided by lengths: what they may be off by, relative to themselves.
_FEATURES = 1e-14


def strings(rng: Generator) -> Problem:
    """`StringSVC` on short strings of DNA, with unknown letters among them."""
    n, length = int(rng.integers(20, 300) if often(rng, 0.1) else rng.integers(3, 20)), int(rng.integers(2, 7))
    letters = "ACGTN" if often(rng, 0.2) else "ACGT"
    X = ["".join(rng.choice(list(letters), size=length)) for _ in range(n)]
    several = n >= 6 and often(rng, 0.2)
    y = rng.integers(3 if several else 2, size=n)
    y[: 3 if several else 2] = np.arange(3 if several else 2)
    C = draws.strength(rng)
    settings: Params = {"C": C, "order": int(rng.integers(1, min(length, 3) + 1))}
    if often(rng, 0.3):
        settings |= {"spectra": [(0, length)], "spectrum_order": 2}
    if often(rng, 0.3):
        settings["normalize"] = False
    if often(rng, 0.2):
        settings["fit_intercept"] = False
    settings["class_weight"] = "balanced" if often(rng, 0.15) else None
    ways = tuple(replace(way, storage="X") for way in draws.linear_ways(rng, C, single=False))
    data = {"X": X, "y": y, "sample_weight": draws.weights(rng, n)}
    return Problem("StringSVC", settings, data, ways, loss="hinge")


class _Strings(Classification):
    """As of a matrix of features, whose rounding is allowed for."""

    def _truth(self, k: int, w: Array, origin: Array, b: float) -> Truth:
        found = super()._truth(k, w, origin, b)
        off = float(self.weights @ (np.abs(self.floats) @ np.abs(w))) * _FEATURES
        return replace(found, error=found.error + Fraction(off))


class StringJudge(LinearJudge):
    """Reads the claims of the models of one problem of strings."""

    def __init__(self, problem: Problem) -> None:
        known: Params = {
            name: problem.settings[name] for name in ("order", "spectra", "spectrum_order") if name in problem.settings
        }
        parts = StringSVC(**known).parts(len(problem.data["X"][0]))
        normalize = problem.settings.get("normalize", True)
        features = string_features(problem.data["X"], parts, as_alphabet("dna"), normalize=normalize)
        self.problem = replace(problem, data={**problem.data, "X": features})
        self.true = _Strings(self.problem)
        self.square = 0.0
