"""Models of parts of the examples, each asked for the rest: common to `path` and `cross-validate`."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sklearn.base import BaseEstimator

from cutplane.cli.data import Examples, Sentences
from cutplane.cli.divided import Divided, Measured
from cutplane.cli.summary import REACHED
from cutplane.cli.training import fit_until_stopped, quietly


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a model of some examples makes of others, and what is proven of it."""

    measured: Measured
    gap: float
    reached: bool
    seconds: float
    n_examples: int


def fit_quietly(model: BaseEstimator, examples: Examples | Sentences, task: Divided) -> float:
    """Train and return the seconds that it took; Ctrl-C ends the command."""
    start = time.perf_counter()
    with quietly():
        fit_until_stopped(model, examples.X, examples.y, **task.metadata(examples))
    if model.stop_reason_ == "interrupted":
        raise KeyboardInterrupt
    return time.perf_counter() - start


def fit_and_measure(
    model: BaseEstimator, training: Examples | Sentences, left_out: Examples | Sentences, task: Divided
) -> Fitted:
    """Train a model on some examples and judge it by others."""
    seconds = fit_quietly(model, training, task)
    measured = task.measure(model, left_out)
    return Fitted(measured, float(model.gap_), model.stop_reason_ in REACHED, seconds, len(left_out.y))
