"""How near the predictions of a regression come on data it was not trained on."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_regressor

from cutplane.report.markup import Markup, facts, number
from cutplane.report.optimum import intervals_explained, optimum_figures
from cutplane.report.page import Section
from cutplane.report.trained import Trained


def section(trained: Trained) -> Section | None:
    """Errors of a regression; rankings have a section of their own."""
    held = trained.held_out
    if held is None or held.qid is not None or not is_regressor(trained.model):
        return None
    truth = np.asarray(held.y, dtype=np.float64)
    predicted = np.asarray(trained.model.predict(held.X), dtype=np.float64)
    if truth.shape != predicted.shape or truth.ndim != 1 or not len(truth):
        return None
    off = np.abs(predicted - truth)
    optimum = trained.once(optimum_figures)
    scatter = float(np.sum((truth - truth.mean()) ** 2))
    shown = f"{1.0 - float(np.sum(off**2)) / scatter:.4f}" if scatter > 0.0 else "not defined, all targets are equal"
    known: list[tuple[str, object]] = [
        ("Examples", f"{len(truth):,}"),
        ("R²", optimum.beside("r2", shown, percent=False)),
        ("Mean absolute error", number(float(off.mean()))),
        ("Root of the mean square", number(float(np.sqrt(np.mean(off**2))))),
        ("Half of them within", number(float(np.median(off)))),
        ("Nine in ten within", number(float(np.quantile(off, 0.9)))),
        ("Targets", f"{number(float(truth.min()))} to {number(float(truth.max()))}"),
    ]
    return Section("regression", "On held-out data", Markup("".join([facts(known), *intervals_explained(optimum)])))
