"""How well a model labels the tokens of sequences it was not trained on."""

from __future__ import annotations

import numpy as np

from cutplane._types import Label
from cutplane.report.confusion import confusion_table, label_table
from cutplane.report.evaluation import evaluate
from cutplane.report.heat_map import heat_legend, heat_map
from cutplane.report.markup import Markup, details, element, facts, figure, table
from cutplane.report.page import Section
from cutplane.report.trained import Trained
from cutplane.structured.metrics import Counts, SequenceScores, score_sequences

_MOST_LABELS = 24
_STRONGEST = 12


def section(trained: Trained) -> Section | None:
    """Accuracy of the tokens, F1 of the entities, and which labels were taken for which."""
    found = trained.once(_scores)
    if found is None or trained.held_out is None:
        return None
    scores, predicted = found
    truth = np.array([label for labels in trained.held_out.y for label in labels])
    said = np.array([label for labels in predicted for label in labels], dtype=truth.dtype)
    result = evaluate(truth, said, None, np.asarray(trained.model.classes_))
    pairs: list[tuple[str, object]] = [
        ("Sequences", f"{len(predicted):,}"),
        ("Tokens", f"{scores.tokens:,}"),
        ("Tokens labelled rightly", _percent(scores.accuracy)),
        ("F1, mean over labels", f"{scores.token_f1:.4f}"),
    ]
    if scores.by_type:
        entities = scores.entities
        pairs += [
            ("Entities: F1", f"{entities.f1:.4f}"),
            ("Entities: precision, recall", f"{_percent(entities.precision)}, {_percent(entities.recall)}"),
        ]
    tables = element("div", label_table(result, "tokens"), confusion_table(result, "tokens"), class_="pair")
    body = facts(pairs) + (_by_type(scores) if scores.by_type else "") + tables
    return Section("sequences", "On held-out sequences", Markup(body))


def transitions(trained: Trained) -> Section | None:
    """What the model thinks of one label after another, as a heat map."""
    if not trained.labels_tokens:
        return None
    weights, labels = np.asarray(trained.model.transitions_), trained.classes
    if not np.any(weights):
        return None
    # Of many labels, those with the strongest weights: more could not be read.
    strength = np.abs(weights).max(axis=0) + np.abs(weights).max(axis=1)
    shown = np.sort(np.argsort(-strength, kind="stable")[:_MOST_LABELS])
    names = [labels[index] for index in shown]
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[:_STRONGEST]
    pairs = [(*np.unravel_index(index, weights.shape), weights.flat[index]) for index in order]
    words = "; ".join(f"{labels[a]} before {labels[b]} {value:.3g}" for a, b, value in pairs)
    chart = heat_map("Weights of transitions", words, names, names, weights[np.ix_(shown, shown)])
    more = "" if len(shown) == len(labels) else f" The {len(shown)} of {len(labels)} labels with the strongest."
    caption = f"A row is a label, a column the one after it.{more}"
    drawn = figure(caption, chart, heat_legend("follows less often", "follows more often"))
    rows = [(labels[a], labels[b], f"{value:.4g}") for a, b, value in pairs]
    strongest = table("The strongest", ["label", "next", "weight"], rows, shown=True)
    return Section("transitions", "Transitions", element("div", drawn, strongest, class_="pair"))


def tile(trained: Trained) -> list[tuple[str, str, str]]:
    """The share of tokens that are labelled rightly, for the top of the page."""
    found = trained.once(_scores)
    if found is None:
        return []
    scores = found[0]
    if scores.by_type:
        return [("Held-out F1 of entities", f"{100 * scores.entities.f1:.2f}", f"{scores.tokens:,} tokens")]
    return [("Held-out accuracy", _percent(scores.accuracy), f"{scores.tokens:,} tokens")]


def _scores(trained: Trained) -> tuple[SequenceScores, list[list[Label]]] | None:
    if trained.held_out is None or not trained.labels_tokens:
        return None
    predicted = trained.model.predict(trained.held_out.X)
    return score_sequences([list(labels) for labels in trained.held_out.y], predicted), predicted


def _by_type(scores: SequenceScores) -> Markup:
    def row(kind: str, counts: Counts) -> tuple[str, ...]:
        entities = counts.right + counts.missed
        return kind, f"{entities:,}", _percent(counts.precision), _percent(counts.recall), f"{counts.f1:.4f}"

    rows = [row(kind, counts) for kind, counts in scores.by_type.items()]
    return details("Every type of entity", table("Entities", ["type", "entities", "precision", "recall", "F1"], rows))


def _percent(share: float) -> str:
    return f"{100 * share:.2f}\u00a0%"
