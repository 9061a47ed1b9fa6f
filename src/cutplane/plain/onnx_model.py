"""Plain forms as ONNX models, of the standard operators alone.

The operators for support vector machines (ai.onnx.ml) are of single precision, know LIBSVM's four kernels and LIBSVM's
probabilities; these graphs compute what the model computes, in double precision.
"""

from __future__ import annotations

import json
from functools import singledispatch

try:
    import onnx
except ImportError as error:
    raise ImportError("ONNX models need the package onnx: pip install 'cutplane[onnx]'.") from error

from cutplane.io.plain_json import encode
from cutplane.plain.decisions import Decision, Highest, Inside, Sign, Thresholds, Value, Votes
from cutplane.plain.form import PlainForm
from cutplane.plain.kernels import dense
from cutplane.plain.one_vs_one import pairs
from cutplane.plain.onnx_graph import Graph, onnx_labels
from cutplane.plain.onnx_probabilities import probabilities, vote_tables
from cutplane.plain.onnx_strings import string_scores
from cutplane.plain.scores import KernelScores, LinearScores, PrecomputedScores, Scores
from cutplane.plain.strings import StringScores


def to_onnx(form: PlainForm, *, double: bool) -> onnx.ModelProto:
    """The model, its certificate in the metadata; `ValueError` where ONNX cannot compute it."""
    letters = getattr(form.scores, "length", None)  # of strings
    kind = "letters" if letters is not None else "double" if double else "float"
    graph = Graph(form.scores.n_features if letters is None else letters, kind)
    scores = graph_scores(form.scores, graph)
    winners = decide(form.decision, graph, scores)
    if form.probabilities is not None and winners is not None:
        classes: int = len(form.decision.classes)  # type: ignore[attr-defined]
        graph.output("probabilities", probabilities(form.probabilities, graph, scores, winners, classes), "f", classes)
    metadata = {
        "cutplane.kind": form.kind,
        "cutplane.objective": form.objective,
        "cutplane.certificate": json.dumps(encode(form.certificate)),
    }
    if form.feature_names is not None:
        metadata["cutplane.feature_names"] = json.dumps(form.feature_names)
    return graph.model(form.kind, metadata)


# --- scores, of shape (n, machines) ---


@singledispatch
def graph_scores(scores: Scores, graph: Graph) -> str:
    """The scores of X; `ValueError` where no operator computes them."""
    raise ValueError(f"{type(scores).__name__} cannot be computed by the operators of ONNX.")


@graph_scores.register(LinearScores)
def _(scores: LinearScores, graph: Graph) -> str:
    products = graph.op("MatMul", graph.X, graph.numbers(scores.coef.T))
    return graph.op("Add", products, graph.numbers(scores.intercept))


@graph_scores.register(PrecomputedScores)
def _(scores: PrecomputedScores, graph: Graph) -> str:
    values = graph.op("Gather", graph.X, graph.integers(scores.support), axis=1)
    products = graph.op("MatMul", values, graph.numbers(scores.columns))
    return graph.op("Add", products, graph.numbers(scores.intercept))


@graph_scores.register(KernelScores)
def _(scores: KernelScores, graph: Graph) -> str:
    if scores.kernel == "linear":
        return graph_scores(scores.linear, graph)
    if scores.kernel not in _KERNELS:
        raise ValueError(
            f"kernel={scores.kernel!r} has no operators in ONNX that compute it without an array of examples x support "
            f"vectors x features; {', '.join(['linear', *_KERNELS])} and precomputed kernels can be exported."
        )
    vectors = dense(scores.vectors)
    products = graph.op("MatMul", graph.X, graph.numbers(vectors.T))
    values = _KERNELS[scores.kernel](scores, graph, products)
    return graph.op("Add", graph.op("MatMul", values, graph.numbers(scores.columns)), graph.numbers(scores.intercept))


@graph_scores.register(StringScores)
def _(scores: StringScores, graph: Graph) -> str:
    return string_scores(scores, graph)


def _rbf(scores: KernelScores, graph: Graph, products: str) -> str:
    squares = (dense(scores.vectors) ** 2).sum(axis=1)
    own = graph.sum(graph.op("Mul", graph.X, graph.X), 1)
    both = graph.op("Add", own, graph.numbers(squares))
    distances = graph.op("Sub", both, graph.op("Mul", products, graph.numbers(2.0)))
    clipped = graph.op("Max", distances, graph.numbers(0.0))
    return graph.op("Exp", graph.op("Mul", clipped, graph.numbers(-scores.gamma)))


def _affine(scores: KernelScores, graph: Graph, products: str) -> str:
    return graph.op("Add", graph.op("Mul", products, graph.numbers(scores.gamma)), graph.numbers(scores.coef0))


def _poly(scores: KernelScores, graph: Graph, products: str) -> str:
    return graph.op("Pow", _affine(scores, graph, products), graph.numbers(float(scores.degree)))


def _tanh(scores: KernelScores, graph: Graph, products: str) -> str:
    return graph.op("Tanh", _affine(scores, graph, products))


_KERNELS = {"rbf": _rbf, "poly": _poly, "sigmoid": _tanh}


# --- decisions: outputs `label` or `value` and `scores`, and the number of the class that wins, of shape (n, 1) ---


@singledispatch
def decide(decision: Decision, graph: Graph, scores: str) -> str | None:
    """Make the outputs."""
    raise ValueError(f"{type(decision).__name__} cannot be computed by the operators of ONNX.")


@decide.register(Value)
def _(decision: Value, graph: Graph, scores: str) -> str | None:
    graph.output("value", graph.column(scores), "f")
    return None


@decide.register(Inside)
def _(decision: Inside, graph: Graph, scores: str) -> str | None:
    compared = graph.op("GreaterOrEqual" if decision.border else "Greater", scores, graph.numbers(0.0))
    signs = graph.op("Where", compared, graph.integers(1), graph.integers(-1))
    graph.output("label", graph.column(signs), "i")
    graph.output("scores", graph.column(scores), "f")
    return None


@decide.register(Sign)
def _(decision: Sign, graph: Graph, scores: str) -> str | None:
    winners = graph.indices(graph.op("Greater", scores, graph.numbers(0.0)))
    _label(decision, graph, winners)
    graph.output("scores", graph.column(scores), "f")
    return winners


@decide.register(Highest)
def _(decision: Highest, graph: Graph, scores: str) -> str | None:
    winners = graph.op("ArgMax", scores, axis=1, keepdims=1)
    _label(decision, graph, winners)
    graph.output("scores", scores, "f", len(decision.classes))
    return winners


@decide.register(Thresholds)
def _(decision: Thresholds, graph: Graph, scores: str) -> str | None:
    above = graph.codes(graph.op("Greater", scores, graph.numbers(decision.thresholds)))
    winners = graph.indices(graph.sum(above, 1))
    _label(decision, graph, winners)
    graph.output("scores", graph.column(scores), "f")
    return winners


@decide.register(Votes)
def _(decision: Votes, graph: Graph, scores: str) -> str | None:
    k = len(decision.classes)
    by_class = _class_scores(graph, scores, k)
    counted = by_class if decision.break_ties else _votes(graph, graph.op("Greater", scores, graph.numbers(0.0)), k)
    winners = graph.op("ArgMax", counted, axis=1, keepdims=1)
    _label(decision, graph, winners)
    shown, width = (by_class, k) if decision.by_class else (scores, len(pairs(k)))
    graph.output("scores", shown, "f", width)
    return winners


def _votes(graph: Graph, first: str, k: int) -> str:
    """How many of its pairs each class wins; `first`: whether the first class of a pair wins."""
    firsts, seconds = vote_tables(k)
    won = graph.codes(first)
    lost = graph.op("Sub", graph.numbers(1.0), won)
    of_first, of_second = (
        graph.op("MatMul", each, graph.numbers(table)) for each, table in ((won, firsts), (lost, seconds))
    )
    return graph.op("Add", of_first, of_second)


def _class_scores(graph: Graph, scores: str, k: int) -> str:
    """As `cutplane.plain.one_vs_one.class_scores`."""
    firsts, seconds = vote_tables(k)
    votes = _votes(graph, graph.op("GreaterOrEqual", scores, graph.numbers(0.0)), k)
    confidence = graph.op("MatMul", scores, graph.numbers(firsts - seconds))
    size = graph.op("Mul", graph.op("Add", graph.op("Abs", confidence), graph.numbers(1.0)), graph.numbers(3.0))
    return graph.op("Add", votes, graph.op("Div", confidence, size))


def _label(decision: Sign | Highest | Votes | Thresholds, graph: Graph, winners: str) -> None:
    kind = {"i": "i", "b": "b", "f": "f", "O": "s"}[onnx_labels(decision.classes).dtype.kind]
    graph.output("label", graph.op("Gather", graph.labels(decision.classes), graph.column(winners)), kind)
