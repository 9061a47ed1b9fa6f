"""Scores of strings in ONNX graphs. X has the number of each letter in the alphabet, -1 for unknown ones."""

from __future__ import annotations

import numpy as np

from cutplane.plain.onnx_graph import Graph
from cutplane.plain.strings import Kmers, StringScores


def string_scores(scores: StringScores, graph: Graph) -> str:
    """As a call of `StringScores`, order by order, all starts at once."""
    # A row of zeros at the end, for k-mers that do not count.
    table = graph.numbers(np.vstack([scores.coef.T, np.zeros(scores.machines)]))
    total, squares = graph.numbers(np.zeros((1, scores.machines))), graph.numbers(np.zeros((1, 1)))
    first = 0
    for part in scores.parts:
        places, count = part.places(scores.letters)
        kmers = known = None
        for k, (value, place) in enumerate(zip(part.values, places, strict=True), 1):
            kmers, known = _longer(graph, scores, part, k, kmers, known)
            where = graph.op("Add", kmers, graph.integers((first + place)[None]))
            where = graph.op("Where", known, where, graph.integers(scores.n_features))
            weights = graph.op("Squeeze", graph.sum(graph.op("Gather", table, where, axis=0), 1), graph.integers([1]))
            total = graph.op("Add", total, graph.op("Mul", weights, graph.numbers(float(value))))
            counted = graph.codes(known) if part.positional else _equal_pairs(graph, kmers, known)
            square = graph.op("Mul", graph.sum(counted, 1), graph.numbers(float(value) ** 2))
            squares = graph.op("Add", squares, square)
        first += count
    if scores.normalize:
        some = graph.op("Where", graph.op("Greater", squares, graph.numbers(0.0)), squares, graph.numbers(1.0))
        total = graph.op("Div", total, graph.op("Sqrt", some))
    return graph.op("Add", total, graph.numbers(scores.intercept))


def _longer(
    graph: Graph, scores: StringScores, part: Kmers, k: int, kmers: str | None, known: str | None
) -> tuple[str, str]:
    """The numbers of the k-mers at each start, from those one letter shorter, and whether all letters are known."""
    last = graph.slice(graph.X, 1, part.begin + k - 1, part.end)
    valid = graph.op("GreaterOrEqual", last, graph.integers(0))
    if kmers is None or known is None:
        return last, valid
    starts = part.end - part.begin - k + 1
    shorter = graph.op("Mul", graph.slice(kmers, 1, 0, starts), graph.integers(scores.letters))
    return graph.op("Add", shorter, last), graph.op("And", graph.slice(known, 1, 0, starts), valid)


def _equal_pairs(graph: Graph, kmers: str, known: str) -> str:
    """For each start, how many starts have the same k-mer; none where it has an unknown letter."""
    rows, columns = (graph.op("Unsqueeze", kmers, graph.integers([axis])) for axis in (2, 1))
    counted = [graph.op("Unsqueeze", known, graph.integers([axis])) for axis in (2, 1)]
    same = graph.op("And", graph.op("Equal", rows, columns), graph.op("And", *counted))
    return graph.op("Squeeze", graph.sum(graph.codes(same), 2), graph.integers([2]))
