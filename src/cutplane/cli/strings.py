"""`cutplane train --task strings`: a model of the strings of a file."""

from __future__ import annotations

from cutplane.cli.request import TrainRequest
from cutplane.cli.training import fit
from cutplane.estimators.string_svc import StringSVC
from cutplane.io.strings import read_strings


def train(request: TrainRequest) -> int:
    """Train a classifier of the strings of a FASTA file or of one that `cutplane convert` has written."""
    strings, labels = read_strings(request.data, request.alphabet)
    if labels is None:
        raise ValueError(f"{request.data} has no labels; the first line of each entry needs 'label=...'.")
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
    run = fit(model, strings, labels, quiet=request.quiet)
    return request.finish(run, notes={}, labels=list(model.classes_))


def parse_window(text: str) -> tuple[int, int]:
    """A window given as BEGIN:END."""
    try:
        begin, end = map(int, text.split(":"))
    except ValueError:
        raise ValueError(f"--spectrum {text} is no window; give it as BEGIN:END, such as 0:59.") from None
    return begin, end
