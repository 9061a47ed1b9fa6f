"""Probabilities in ONNX graphs: logistic, softmax, calibrated, coupled, and in agreement with the label."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from cutplane.plain.one_vs_one import pairs
from cutplane.plain.onnx_graph import Graph
from cutplane.plain.probabilities import AHEAD, LEAST_PROBABILITY, Calibrated, Curve, Logistic, Probabilities, Softmax

if TYPE_CHECKING:
    from cutplane._types import Array


def vote_tables(k: int) -> tuple[Array, Array]:
    """Of shape (pairs, k): 1 for the first class of each pair, and for the second."""
    firsts, seconds = np.zeros((2, k * (k - 1) // 2, k))
    for number, (i, j) in enumerate(pairs(k)):
        firsts[number, i] = seconds[number, j] = 1.0
    return firsts, seconds


@singledispatch
def probabilities(made: Probabilities, graph: Graph, scores: str, winners: str, k: int) -> str:
    """The probability of each of k classes, of shape (n, k)."""
    raise ValueError(f"{type(made).__name__} cannot be computed by the operators of ONNX.")


@probabilities.register(Logistic)
def _(made: Logistic, graph: Graph, scores: str, winners: str, k: int) -> str:
    sides = graph.op("Sigmoid", scores)
    if k == 2:
        both = graph.op("Concat", graph.op("Sigmoid", graph.op("Neg", scores)), sides, axis=1)
        return _agree(graph, both, winners, k)
    total = graph.sum(sides, 1)
    some = graph.op("Greater", total, graph.numbers(0.0))
    shares = graph.op("Div", sides, graph.op("Where", some, total, graph.numbers(1.0)))
    return _agree(graph, graph.op("Where", some, shares, graph.numbers(1.0 / k)), winners, k)


@probabilities.register(Softmax)
def _(made: Softmax, graph: Graph, scores: str, winners: str, k: int) -> str:
    return _agree(graph, graph.op("Softmax", scores, axis=1), winners, k)


@probabilities.register(Calibrated)
def _(made: Calibrated, graph: Graph, scores: str, winners: str, k: int) -> str:
    sides = [_curve(graph, curve, graph.slice(scores, 1, m, m + 1)) for m, curve in enumerate(made.curves)]
    if k == 2:
        p = graph.op("Concat", graph.op("Sub", graph.numbers(1.0), sides[0]), sides[0], axis=1)
    else:
        joined = graph.op("Concat", *sides, axis=1)
        p = _couple(graph, joined, k) if made.pairwise else joined
        p = graph.op("Div", p, graph.sum(p, 1))
    return _agree(graph, p, winners, k)


def _curve(graph: Graph, curve: Curve, decisions: str) -> str:
    """The probability of the positive side, of shape (n, 1)."""
    if curve.kind == "sigmoid":
        slope, offset = (graph.numbers(value) for value in curve.at)
        p = graph.op("Sigmoid", graph.op("Add", graph.op("Mul", decisions, slope), offset))
    else:
        # A line in pieces is its first value plus, for each piece, its slope times what of the piece lies below.
        widths, rises = np.diff(curve.at), np.diff(curve.values)
        beyond = graph.op("Sub", decisions, graph.numbers(curve.at[None, :-1]))
        covered = graph.op("Min", graph.op("Max", beyond, graph.numbers(0.0)), graph.numbers(widths[None]))
        slopes = np.divide(rises, widths, out=np.zeros_like(rises), where=widths > 0.0)
        p = graph.op("Add", graph.op("MatMul", covered, graph.numbers(slopes[:, None])), graph.numbers(curve.values[0]))
    return graph.op("Min", graph.op("Max", p, graph.numbers(LEAST_PROBABILITY)), graph.numbers(1.0 - LEAST_PROBABILITY))


def _couple(graph: Graph, pairwise: str, k: int) -> str:
    """Class probabilities from those of the pairs, up to their sum: as `cutplane.plain.one_vs_one.couple`.

    There p solves Qp + λe = 0, eᵀp = 1. So (Q + eeᵀ)p is a multiple of e, and elimination without pivots is enough:
    the matrix is positive definite.
    """
    firsts, seconds = vote_tables(k)
    # r[i, j] is the probability of i against j, flattened to i·k + j.
    places = [(np.argmax(firsts[m]), np.argmax(seconds[m])) for m in range(len(firsts))]
    direct, turned = np.zeros((2, len(firsts), k * k))
    for m, (i, j) in enumerate(places):
        direct[m, i * k + j] = turned[m, j * k + i] = 1.0
    rest = graph.op("Sub", graph.numbers(1.0), pairwise)
    r = graph.op(
        "Add",
        graph.op("MatMul", pairwise, graph.numbers(direct)),
        graph.op("MatMul", rest, graph.numbers(turned)),
    )
    r = graph.op("Reshape", r, graph.integers([-1, k, k]))
    across = graph.op("Transpose", r, perm=[0, 2, 1])
    own = graph.op("Mul", graph.sum(graph.op("Mul", r, r), 1), graph.numbers(np.eye(k)))
    Q = graph.op("Sub", own, graph.op("Mul", r, across))
    ones = graph.op("Add", graph.op("Mul", graph.sum(Q, 2), graph.numbers(0.0)), graph.numbers(1.0))
    rows = graph.op("Concat", graph.op("Add", Q, graph.numbers(1.0)), ones, axis=2)
    for pivot in range(k):
        row = graph.slice(rows, 1, pivot, pivot + 1)
        row = graph.op("Div", row, graph.slice(row, 2, pivot, pivot + 1))
        # Of the pivot's own row, all but the scaled row is taken away.
        factors = graph.op(
            "Sub", graph.slice(rows, 2, pivot, pivot + 1), graph.numbers(np.eye(k)[:, pivot : pivot + 1])
        )
        rows = graph.op("Sub", rows, graph.op("Mul", factors, row))
    solution = graph.op("Squeeze", graph.slice(rows, 2, k, k + 1), graph.integers([2]))
    return graph.op("Max", solution, graph.numbers(0.0))


def _agree(graph: Graph, p: str, winners: str, k: int) -> str:
    """As `cutplane.plain.probabilities.agree`.

    The level to which higher classes come down is the largest of the means of the winner and the m highest others.
    """
    wins = graph.op("Equal", graph.integers(np.arange(k)[None]), winners)
    own = graph.sum(graph.op("Where", wins, p, graph.numbers(0.0)), 1)
    others = graph.op("Where", wins, graph.numbers(-1.0), p)
    ordered = graph.top(others, k - 1)
    sums = graph.op("Add", own, graph.op("CumSum", ordered, graph.integers(1)))
    levels = graph.op("Div", sums, graph.numbers(np.arange(2.0, k + 1.0)[None]))
    level = graph.op("ReduceMax", levels, axes=[1], keepdims=1)
    # As a sum: onnxruntime takes a factor that is 1 in single precision for none.
    ahead = graph.op("Add", level, graph.op("Mul", level, graph.numbers(AHEAD - 1.0)))
    moved = graph.op("Where", wins, ahead, graph.op("Min", p, level))
    moved = graph.op("Div", moved, graph.sum(moved, 1))
    wrong = graph.op("GreaterOrEqual", graph.slice(ordered, 1, 0, 1), own)
    return graph.op("Where", wrong, moved, p)
