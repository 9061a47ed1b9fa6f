"""What a model of strings looks at: sequence logos, and k-mers by position."""

from __future__ import annotations

import numpy as np

from cutplane._types import Array
from cutplane.report.heat_map import heat_legend, heat_map
from cutplane.report.logo import MOST_POSITIONS, logo
from cutplane.report.markup import Markup, details, element, figure, paragraph, table
from cutplane.report.page import Section
from cutplane.report.poims import poims, strongest_oligomers
from cutplane.report.trained import Trained
from cutplane.sources.alphabet import as_alphabet
from cutplane.sources.kmers import kmer

_MOST_KMERS = 12
_STRONGEST = 10
_WIDTH = 420.0


def section(trained: Trained) -> Section | None:
    """A logo and importance matrices of orders 1 to 4, of each class where there are several."""
    model = trained.model
    if not np.any(model.coef_):
        return None
    intro = paragraph(
        "By how much a letter or a k-mer at its position raises the score, in the mean over strings of evenly "
        "distributed letters (positional oligomer importance). Positions count from 0.",
        "soft",
    )
    classes = trained.classes
    if len(classes) == 2:
        first = _logo(trained, poims(model, 1)[0], classes[1], classes[0])
        rest = _class(trained, 0, classes[1], classes[0])
        return Section("strings", "What it looks at", Markup(intro + first + rest))
    bodies = [details(f"Class {name}", _class(trained, row, name, "the rest")) for row, name in enumerate(classes)]
    logos = [_logo(trained, poims(model, 1, row)[0], name, "the rest") for row, name in enumerate(classes)]
    return Section("strings", "What it looks at", Markup("".join([intro, *logos, *bodies])))


def _class(trained: Trained, row: int, towards: str, against: str) -> Markup:
    """Of one row of weights a matrix for each order, and the strongest k-mers."""
    found = poims(trained.model, row=row)
    maps = [_matrix(trained, importance, towards, against) for importance in found]
    rows = [
        (each.kmer, f"{each.position:,}", f"{each.importance:.4g}")
        for importance in found
        for each in strongest_oligomers(trained.model, importance, _STRONGEST)
    ]
    name = f"The strongest k-mers for {towards}, of each order"
    strongest = table(name, ["k-mer", "position", "importance"], rows)
    return Markup(element("div", *maps, class_="pair") + details(name, strongest))


def _logo(trained: Trained, importance: Array, towards: str, against: str) -> Markup:
    letters = as_alphabet(trained.model.alphabet).letters
    best = strongest_oligomers(trained.model, importance, 3)
    words = "; ".join(f"{each.kmer} at {each.position} {each.importance:.3g}" for each in best)
    drawn = logo(f"Sequence logo of {towards}", f"The strongest letters: {words}.", importance, letters)
    part = "" if len(importance) <= MOST_POSITIONS else f" The {MOST_POSITIONS} positions that matter most."
    caption = f"Letters above the line speak for {towards}, below it for {against}.{part}"
    return figure(caption, element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=caption))


def _matrix(trained: Trained, importance: Array, towards: str, against: str) -> Markup:
    """The k-mers that reach highest, by position."""
    alphabet = as_alphabet(trained.model.alphabet)
    positions, size = importance.shape
    order = trained.model.length_ - positions + 1
    chosen = np.sort(np.argsort(-np.abs(importance).max(axis=0), kind="stable")[:_MOST_KMERS])
    names = [kmer(int(code), order, alphabet) for code in chosen]
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 500, 5000) if positions / step <= 12 or step == 5000)
    marks = [str(position) if position % every == 0 else "" for position in range(positions)]
    best = strongest_oligomers(trained.model, importance, 3)
    words = "; ".join(f"{each.kmer} at {each.position} {each.importance:.3g}" for each in best)
    chart = heat_map(
        f"Importance of k-mers of order {order}",
        f"The strongest: {words}.",
        names,
        marks,
        importance[:, chosen].T,
        cell=(_WIDTH / positions, 15.0),
        label=44,
        upright=True,
    )
    few = "" if len(chosen) == size else f", the {len(chosen)} of {size:,} that reach highest"
    return figure(f"Order {order}{few}.", chart, heat_legend(f"for {against}", f"for {towards}"))
