"""A source needs `shape`, `scores`, `combine` and `take`; the check finds what is wrong with one."""

from __future__ import annotations

import numpy as np
import pytest

from cutplane.sources.base import Array, Rows, Source
from cutplane.testing import check_source


class Plain(Source):
    """The least that a source can be."""

    def __init__(self, X: Array) -> None:
        self.X = X

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def scores(self, w: Array) -> Array:
        return self.X @ w

    def combine(self, coef: Array) -> Array:
        return self.X.T @ coef

    def take(self, rows: Rows) -> Source:
        return type(self)(self.X[rows])


class Transposed(Plain):
    @property
    def shape(self) -> tuple[int, int]:
        return self.X.T.shape


class Scaled(Plain):
    def scores(self, w: Array) -> Array:
        return 1.0001 * (self.X @ w)


class Single(Plain):
    def combine(self, coef: Array) -> Array:
        return (self.X.T @ coef).astype(np.float32)


class FlatScores(Plain):
    def scores(self, w: Array) -> Array:
        return (self.X @ w).ravel()


class NotANumber(Plain):
    def combine(self, coef: Array) -> Array:
        return self.X.T @ coef * np.nan


class SortedRows(Plain):
    def take(self, rows: Rows) -> Source:
        return type(self)(self.X[np.sort(rows)])


class FullCurvature(Plain):
    def curvature(self, rows: Rows, weights: Array, v: Array) -> Array:
        return self.X.T @ (self.X @ v)


class UpperGram(Plain):
    def gram(self, rows: Rows, weights: Array) -> Array:
        return np.triu(super().gram(rows, weights))


X = np.random.default_rng(0).normal(size=(30, 4))


def test_four_members_are_enough() -> None:
    check_source(Plain(X), X, twins=[Plain(X)])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Transposed, r"shape is \(4, 30\)"),
        (Scaled, "scores.* is not X @ w"),
        (FlatScores, r"scores.*: the shape is \(30,\) instead of \(30, 1\)"),
        (Single, "combine.* is not X.T @ coef"),
        (NotANumber, "combine.* is not X.T @ coef: .*nan"),
        (SortedRows, "take, some rows, shuffled: scores"),
        (FullCurvature, "curvature"),
        (UpperGram, "lower triangle of gram"),
    ],
)
def test_what_is_wrong_is_said(wrong: type[Plain], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_source(wrong(X), X)


def test_bits_that_depend_on_threads_are_found() -> None:
    with pytest.raises(AssertionError, match="number of threads"):
        check_source(Plain(X), X, twins=[Plain(X * (1.0 + 1e-15))])
