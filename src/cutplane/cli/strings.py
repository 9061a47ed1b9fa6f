"""`cutplane train --task strings`: a model of the strings of a file."""

from __future__ import annotations

from pathlib import Path

from cutplane._types import Labels, Params
from cutplane.cli.classification import measure_classes
from cutplane.cli.data import Examples
from cutplane.cli.divided import Divided, Measured, Read, Reading, stratified
from cutplane.cli.motifs import constant_letters
from cutplane.cli.request import TrainRequest
from cutplane.cli.settings import Settings
from cutplane.cli.training import fit
from cutplane.estimators.strings.string_svc import StringSVC
from cutplane.io.strings import read_strings
from cutplane.sources.alphabet import Alphabet


def train(request: TrainRequest) -> int:
    """Train a classifier of the strings of a FASTA file or of one that `cutplane convert` has written."""
    examples = read_labelled(request.data, request.alphabet)
    held_out = _read_held_out(request, examples)
    model = model_for(request, examples.y)
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch)
    return request.finish(
        run,
        notes={"constant_letters": constant_letters(examples.X)},
        labels=list(model.classes_),
        train=examples,
        held_out=held_out,
    )


def model_for(settings: Settings, y: Labels) -> StringSVC:
    """The estimator that the options ask for, not trained."""
    weights: Params = {} if settings.class_weight is None else {"class_weight": settings.weights(y)}
    return StringSVC(
        **settings.solver_params(),
        order=settings.order,
        spectra=[parse_window(text) for text in settings.spectrum or ()],
        spectrum_order=settings.spectrum_order,
        depth=settings.depth,
        alphabet=settings.alphabet,
        fit_intercept=not settings.no_intercept,
        **weights,
    )


def read_labelled(path: Path, alphabet: str | Alphabet) -> Examples:
    """The strings of a file and their labels."""
    strings, labels = read_strings(path, alphabet)
    if labels is None:
        raise ValueError(f"{path} has no labels; the first line of each entry needs 'label=...'.")
    return Examples(strings, labels, None)


def _read_held_out(request: TrainRequest, examples: Examples) -> Examples | None:
    """The strings that the model is not trained on, before any training."""
    if request.feature_names is not None:
        raise ValueError("--feature-names is not for strings: their features are called by their letters.")
    if request.test is None:
        return None
    held_out = read_labelled(request.test, request.alphabet)
    found, expected = held_out.X.length, examples.X.length
    if found != expected:
        raise ValueError(f"{request.test} has strings of {found} letters, those to train on have {expected}.")
    return held_out


def parse_window(text: str) -> tuple[int, int]:
    """A window given as BEGIN:END."""
    try:
        begin, end = map(int, text.split(":"))
    except ValueError:
        raise ValueError(f"--spectrum {text} is no window; give it as BEGIN:END, such as 0:59.") from None
    return begin, end


def _read(reading: Reading) -> Read:
    examples = read_labelled(reading.data, reading.alphabet)
    return Read(examples, {"constant_letters": constant_letters(examples.X)})


def _measure(model: StringSVC, examples: Examples) -> Measured:
    """The area under the ROC curve decides: sites are rare, so that accuracy says little."""
    figures, said = measure_classes(model, examples)
    return Measured({name: figures[name] for name in ("area under ROC", "F1", "accuracy")}, said)


DIVIDED = Divided(_read, stratified, _measure)
