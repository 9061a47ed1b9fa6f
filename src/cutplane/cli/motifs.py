"""Letters that all strings of a training set have in the same place: a window without them is no site."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import typer

from cutplane.io.model_file import ModelFile
from cutplane.sources.packed import StringCollection
from cutplane.sources.strings import WeightedDegree


class Motif(NamedTuple):
    """Letters, and where in a string the first of them stands, from 0."""

    letters: str
    at: int

    def __str__(self) -> str:
        return f"{self.letters} at {self.at}"


def constant_letters(strings: StringCollection) -> list[Motif]:
    """The runs of letters that are the same in all strings."""
    alphabet = strings.alphabet
    # How often each letter stands at each position: one pass over the strings.
    source = WeightedDegree(strings, 1, normalize=False)
    counts = source.combine(np.ones(len(strings))).reshape(strings.length, alphabet.size)
    always = np.rint(counts.max(axis=1)) == len(strings)
    letters = [
        alphabet.letters[code] if same else " " for code, same in zip(counts.argmax(axis=1), always, strict=True)
    ]
    runs, at = [], 0
    for run in "".join(letters).split(" "):
        if run:
            runs.append(Motif(run, at))
        at += len(run) + 1
    return runs


def noted(file: ModelFile) -> list[Motif]:
    """The runs that training has found; none where the model file does not know."""
    notes = file.metadata.get("notes")
    runs = notes.get("constant_letters") if isinstance(notes, dict) else None
    return [Motif(str(letters), int(at)) for letters, at in runs or []]


def chosen(known: list[Motif], motif: str | None, at: int | None) -> Motif | None:
    """Where to look: as asked for, which must not contradict what is known, or else the longest run that is known."""
    if motif is None:
        longest = max(known, key=lambda run: len(run.letters), default=None)
        return longest if at is None else None
    if at is None:
        places = [run.at + run.letters.find(motif) for run in known if motif in run.letters]
        if not places:
            raise typer.BadParameter("needs --at: where in a window it stands.", param_hint="--motif")
        return Motif(motif, places[0])
    asked = Motif(motif, at)
    for run in known:
        if _contradicts(asked, run):
            raise typer.BadParameter(
                f"the strings that the model was trained on all have {run}, so none has {asked}.", param_hint="--at"
            )
    places = [run.at + run.letters.find(motif) for run in known if motif in run.letters]
    if places and at not in places:
        raise typer.BadParameter(
            f"{at} is another place than in the strings that the model was trained on: they all have "
            f"{Motif(motif, places[0])}.",
            param_hint="--at",
        )
    return asked


def _contradicts(asked: Motif, run: Motif) -> bool:
    begin, end = max(asked.at, run.at), min(asked.at + len(asked.letters), run.at + len(run.letters))
    return (
        begin < end and asked.letters[begin - asked.at : end - asked.at] != run.letters[begin - run.at : end - run.at]
    )
