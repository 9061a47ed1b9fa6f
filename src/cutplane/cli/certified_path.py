"""`cutplane path --certify`: the C that is proven best, and what is proven."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from cutplane.cli.data import Examples, Sentences
from cutplane.cli.grid import chooser_for
from cutplane.cli.output import print_facts
from cutplane.estimators.linear.cross_validation import LinearSVCCV
from cutplane.report.certified_plot import save_certified_plot


@dataclass(frozen=True)
class CertifiedPath:
    """The model with the C that was chosen, and how long that took."""

    chosen: BaseEstimator
    seconds: float

    @property
    def proven(self) -> bool:
        """Whether the choice is, and the model that was trained with it."""
        return bool(self.chosen.certified_.proven and self.chosen.gap_ <= self.chosen.tol)

    def as_json(self) -> dict[str, object]:
        """The summary for machines."""
        found = self.chosen.certified_
        pieces = {"edges": found.edges.tolist(), "lower_bounds": found.lower_bounds.tolist()}
        tried = zip(self.chosen.Cs_.tolist(), self.chosen.scores_.tolist(), strict=True)
        return {
            "best_C": self.chosen.C_,
            "scoring": "accuracy",
            "seconds": self.seconds,
            "certified": {**asdict(found), **pieces, "proven": found.proven},
            "path": [{"C": C, "scores": scores} for C, scores in tried],
        }

    def print(self) -> None:
        """The summary for people."""
        found = self.chosen.certified_
        reach = f"no C from {found.edges[0]:.3g} to {found.edges[-1]:.3g} has less than {found.lower_bound:.2%}"
        facts = {
            "best C": f"{self.chosen.C_:.4g}",
            "cross-validated error": f"{found.error:.2%}",
            "proven": reach,
            "asked for": f"an error within {found.certify:.2%} of every C",
            "ended": f"{found.stop_reason}, {found.n_fits} values of C in {self.seconds:.2f} s",
        }
        print_facts(list(facts.items()))

    def save_plot(self, path: Path) -> None:
        """Errors and their lower bound over C."""
        save_certified_plot(self.chosen, path)


def certified_path(
    plain: BaseEstimator, examples: Examples | Sentences, grid: list[float], **how: Any
) -> CertifiedPath:
    """Choose C until the choice is proven, from the values of a grid on."""
    begin = time.perf_counter()
    chosen: BaseEstimator = chooser_for(LinearSVCCV, plain, grid, **how).fit(examples.X, examples.y)
    return CertifiedPath(chosen, time.perf_counter() - begin)
