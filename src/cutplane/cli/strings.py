"""`cutplane train --task strings`: a model of the strings of a file."""

from __future__ import annotations

from pathlib import Path

from cutplane.cli.data import Examples
from cutplane.cli.request import TrainRequest
from cutplane.cli.training import fit
from cutplane.estimators.strings.string_svc import StringSVC
from cutplane.io.strings import read_strings
from cutplane.sources.alphabet import Alphabet


def train(request: TrainRequest) -> int:
    """Train a classifier of the strings of a FASTA file or of one that `cutplane convert` has written."""
    examples = read_labelled(request.data, request.alphabet)
    held_out = _read_held_out(request, examples)
    if request.intercept_scaling is not None:
        raise ValueError("--intercept-scaling is not for strings: their intercept is free.")
    model = StringSVC(
        **request.solver_params(),
        order=request.order,
        spectra=[parse_window(text) for text in request.spectrum],
        spectrum_order=request.spectrum_order,
        depth=request.depth,
        alphabet=request.alphabet,
        fit_intercept=request.fit_intercept,
        class_weight=request.class_weight,
    )
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch)
    return request.finish(run, notes={}, labels=list(model.classes_), train=examples, held_out=held_out)


def read_labelled(path: Path, alphabet: str | Alphabet) -> Examples:
    """The strings of a file and their labels."""
    strings, labels = read_strings(path, alphabet)
    if labels is None:
        raise ValueError(f"{path} has no labels; the first line of each entry needs 'label=...'.")
    return Examples(strings, labels, None)


def _read_held_out(request: TrainRequest, examples: Examples) -> Examples | None:
    """The strings for the report that the model is not trained on, before any training."""
    if request.report is None:
        return None
    if request.report.names is not None:
        raise ValueError("--feature-names is not for strings: their features are called by their letters.")
    if request.report.test is None:
        return None
    held_out = read_labelled(request.report.test, request.alphabet)
    found, expected = held_out.X.length, examples.X.length
    if found != expected:
        raise ValueError(f"{request.report.test} has strings of {found} letters, those to train on have {expected}.")
    return held_out


def parse_window(text: str) -> tuple[int, int]:
    """A window given as BEGIN:END."""
    try:
        begin, end = map(int, text.split(":"))
    except ValueError:
        raise ValueError(f"--spectrum {text} is no window; give it as BEGIN:END, such as 0:59.") from None
    return begin, end
