"""Training with progress: common to `train` and `quickstart`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import ConvergenceWarning

from cutplane._types import MatrixLike
from cutplane.cli import exit_codes, signals
from cutplane.cli.output import warn
from cutplane.cli.streams import hand_over
from cutplane.cli.summary import PROVEN, REACHED, certificate_facts, certificate_json, label_list
from cutplane.cli.watch import watched
from cutplane.estimators.common.persistence import save
from cutplane.report.calls import plain_params
from cutplane.report.progress import TrainingProgress
from cutplane.sources.packed import StringCollection


@dataclass(frozen=True, slots=True)
class Run:
    """A trained model and what it took."""

    model: BaseEstimator
    n_examples: int
    seconds: float

    @property
    def status(self) -> int:
        """The exit status this run deserves."""
        reason = self.model.stop_reason_
        if reason == "interrupted":
            return exit_codes.INTERRUPTED
        return exit_codes.OK if reason in REACHED else exit_codes.NOT_PROVEN

    def facts(self) -> list[tuple[str, str]]:
        """The summary for people."""
        classes = getattr(self.model, "classes_", None)
        return [
            ("data", f"{self.n_examples:,} examples, {self.model.n_features_in_:,} features"),
            *([] if classes is None else [("classes", label_list(classes))]),
            *certificate_facts(self.model),
            ("trained in", f"{self.seconds:.2f} s"),
        ]

    def styles(self) -> dict[str, str]:
        """Green for what is proven; a gap above the tolerance is not."""
        return {"certificate": "green" if self.model.stop_reason_ in PROVEN else "yellow"}

    def as_json(self) -> dict[str, object]:
        """The summary for machines."""
        return {
            "kind": type(self.model).__name__,
            "params": plain_params(self.model),
            "n_examples": self.n_examples,
            **certificate_json(self.model),
            "seconds": self.seconds,
        }


def fit(
    model: BaseEstimator,
    X: MatrixLike | StringCollection,
    y: Any,
    *,
    quiet: bool,
    watch: int | None = None,
    problems: int | None = None,
    n_examples: int | None = None,
    **metadata: object,
) -> Run:
    """Train `model` with live progress on the standard error stream.

    There is a problem for each class where there are more than two, unless `problems` says how many. Where X
    knows the targets, y is None, and `n_examples` says how many there are. `watch` is the port of a page of the run.
    `metadata` go to its `fit`.
    """
    if problems is None:
        # Kernel machines run side by side, and share one line of progress.
        problems = len(np.unique(y)) if is_classifier(model) and not hasattr(model, "kernel") else 1
    tol = model.tol if hasattr(model, "tol") else model.risk_tol
    progress = TrainingProgress(tol, problems=1 if problems == 2 else problems, enabled=not quiet)
    start = time.perf_counter()
    with quietly() as caught, progress, watched(watch, model, tol, progress) as on_step:
        fit_until_stopped(model.set_params(on_step=on_step), X, y, **metadata)
    seconds = time.perf_counter() - start
    model.set_params(on_step=None)
    for message in caught():
        warn(message)
    return Run(model, len(y) if n_examples is None else n_examples, seconds)


def fit_until_stopped(model: BaseEstimator, *examples: object, **metadata: object) -> None:
    """Fit a model; Ctrl-C and SIGTERM end it with the best so far, where there is one."""
    with signals.stops_training():
        model.fit(*examples, **metadata)


def keep(model: BaseEstimator, path: Path, notes: dict[str, object]) -> None:
    """Save a model; a signal that came after training has waited for this."""
    save(model, path, notes=notes)
    hand_over(path)
    signals.leave_at_once()


@contextmanager
def quietly() -> Iterator[Callable[[], list[str]]]:
    """Keep warnings for later, but for the one that the tolerance was not met: summary and exit status say it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield lambda: [" ".join(str(warning.message).split()) for warning in caught]
