"""Training with progress, and what is said about it: common to `train` and `quickstart`."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane._warnings import CertificateWarning
from cutplane.cli import exit_codes
from cutplane.cli.data import label_list
from cutplane.cli.output import plain_label, warn
from cutplane.estimators.linear_svc import LinearSVC
from cutplane.report.certificate import proven_within
from cutplane.report.progress import TrainingProgress

_REASONS = {
    "gap": "the tolerance is proven",
    "max_iter": "the iteration limit came first",
    "time_limit": "the time limit came first",
    "interrupted": "interrupted",
    "stalled": "no further progress was possible in floating-point arithmetic",
}


@dataclass(frozen=True, slots=True)
class Run:
    """A trained model and what it took."""

    model: LinearSVC
    n_examples: int
    seconds: float

    @property
    def status(self) -> int:
        """The exit status this run deserves."""
        reason = str(self.model.stop_reason_)
        if reason == "interrupted":
            return exit_codes.INTERRUPTED
        return exit_codes.OK if reason == "gap" else exit_codes.NOT_PROVEN

    def facts(self) -> list[tuple[str, str]]:
        """The summary for people."""
        model = self.model
        return [
            ("data", f"{self.n_examples:,} examples, {model.n_features_in_:,} features"),
            ("classes", label_list(model.classes_)),
            ("certificate", proven_within(float(model.gap_))),
            ("objective", f"{model.lower_bound_:.8g} ≤ optimum ≤ {model.objective_:.8g}, this model's"),
            ("stopped", explain_stop(model)),
            ("trained in", f"{self.seconds:.2f} s"),
        ]

    def as_json(self) -> dict[str, Any]:
        """The summary for machines."""
        model = self.model
        return {
            "n_examples": self.n_examples,
            "n_features": model.n_features_in_,
            "classes": [plain_label(label) for label in model.classes_],
            "objective": model.objective_,
            "lower_bound": model.lower_bound_,
            "gap": model.gap_,
            "tol": model.tol,
            "proven": model.stop_reason_ == "gap",
            "stop_reason": model.stop_reason_,
            "n_iter": model.n_iter_,
            "seconds": self.seconds,
        }


def explain_stop(model: LinearSVC) -> str:
    """Why training ended, and when."""
    return f"{_REASONS[model.stop_reason_]}, after {model.n_iter_:,} iterations"


def fit(model: LinearSVC, X: Any, y: NDArray[Any], *, quiet: bool) -> Run:
    """Train `model` with live progress on the standard error stream.

    Warnings that only repeat the stop reason are dropped: the summary and the exit status say it.
    """
    classes = np.unique(y)
    progress = TrainingProgress(
        model.tol, problems=1 if len(classes) <= 2 else len(classes), enabled=not quiet
    )
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, progress:
        model.set_params(on_step=progress).fit(X, y)
    seconds = time.perf_counter() - start
    model.set_params(on_step=None)
    for warning in caught:
        if not issubclass(warning.category, CertificateWarning):
            warn(" ".join(str(warning.message).split()))
    return Run(model, X.shape[0], seconds)
