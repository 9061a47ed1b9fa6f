"""What `cutplane train` was asked to do, whatever the task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutplane.cli.kernel_options import KernelOptions
from cutplane.cli.output import print_facts, print_json
from cutplane.cli.training import Run
from cutplane.estimators.persistence import save
from cutplane.report.plots import save_convergence


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """The arguments and options of the command, checked one by one."""

    data: Path
    model_path: Path
    C: float
    tol: float
    method: str
    line_search: str
    fit_intercept: bool
    intercept_scaling: float | None
    class_weight: str | None
    max_iter: int
    time_limit: float | None
    threads: int | None
    zero_based: bool | None
    n_features: int | None
    plot: Path | None
    as_json: bool
    quiet: bool
    kernel: KernelOptions | None = None

    def solver_params(self) -> dict[str, Any]:
        """The parameters that every linear estimator takes under the same names."""
        return {
            "C": self.C,
            "tol": self.tol,
            "method": self.method,
            "line_search": self.line_search,
            "max_iter": self.max_iter,
            "time_limit": self.time_limit,
            "n_jobs": self.threads,
        }

    def finish(self, run: Run, *, notes: dict[str, Any], labels: list[Any] | None = None) -> int:
        """Save the model, and the plot if wanted, say what was done and return the exit status."""
        save(run.model, self.model_path, notes={"data": self.data.name, **notes})
        if self.plot is not None:
            save_convergence(run.model.history_, self.plot, tol=self.tol, labels=labels)
        if self.as_json:
            print_json({"model": self.model_path, "plot": self.plot, **run.as_json()})
        elif not self.quiet:
            saved = [("model", str(self.model_path))] + ([] if self.plot is None else [("plot", str(self.plot))])
            print_facts(run.facts() + saved)
        return run.status
