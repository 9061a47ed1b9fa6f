"""What `cutplane train` was asked to do, whatever the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cutplane._types import Label, Params
from cutplane.cli.data import Examples, Sentences, read_data
from cutplane.cli.kernel_options import KernelOptions
from cutplane.cli.output import print_facts, print_json
from cutplane.cli.reporting import Report
from cutplane.cli.training import Run, keep
from cutplane.report.plots import save_convergence


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """The arguments and options of the command, checked one by one."""

    data: Path
    model_path: Path
    C: float | None
    tol: float | None
    loss: str | None
    loss_options: dict[str, float]
    method: str
    line_search: str | None
    fit_intercept: bool
    intercept_scaling: float | None
    class_weight: str | None
    max_iter: int | None
    time_limit: float | None
    threads: int | None
    zero_based: bool | None
    n_features: int | None
    plot: Path | None
    report: Report | None
    as_json: bool
    quiet: bool
    order: int = 8
    spectrum: tuple[str, ...] = ()
    spectrum_order: int = 8
    depth: int | None = None
    alphabet: str = "dna"
    template: Path | None = None
    kernel: KernelOptions | None = None
    proof: bool = False
    probability: bool = False
    checkpoint: Path | None = None
    checkpoint_every: float = 30.0
    watch: int | None = None

    def read(self) -> Examples:
        """The examples of the svmlight file."""
        return read_data(
            self.data,
            zero_based=self.zero_based,
            threads=self.threads,
            n_features=self.n_features,
            quiet=self.quiet,
        )

    def read_for_report(self, examples: Examples) -> tuple[Examples | None, list[str] | None]:
        """Held-out examples and names of features, where a report was asked for: before any training."""
        if self.report is None:
            return None, None
        return self.report.read_test(examples, self.threads), self.report.read_names(examples.X.shape[1])

    def solver_params(self) -> Params:
        """The parameters that every linear estimator takes under the same names."""
        every = None if self.checkpoint is None else self.checkpoint_every
        return {
            "method": self.method,
            **self.given("C", "tol", "line_search", "max_iter", "time_limit", "checkpoint"),
            **({} if every is None else {"checkpoint_every": every}),
            "n_jobs": self.threads,
        }

    def given(self, *names: str) -> Params:
        """Of these parameters, those that the command line sets; an estimator has its own defaults for the others."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def loss_params(self) -> Params:
        """The loss, for estimators that have several; the estimator's own unless given."""
        params: Params = {} if self.loss is None else {"loss": self.loss}
        return params | ({"loss_options": self.loss_options} if self.loss_options else {})

    def finish(
        self,
        run: Run,
        *,
        notes: dict[str, object],
        labels: Sequence[Label] | None = None,
        train: Examples | Sentences | None = None,
        held_out: Examples | Sentences | None = None,
        names: list[str] | None = None,
    ) -> int:
        """Save the model, the plot and the report if wanted, say what was done and return the exit status.

        `train`, `held_out` and `names` (of features) go into the report.
        """
        keep(run.model, self.model_path, {"data": self.data.name, **notes})
        if self.plot is not None:
            save_convergence(run.model.history_, self.plot, tol=run.model.tol, labels=labels)
        if self.report is not None:
            self.report.write(run, self.data, train, held_out, names, self.template, self.alphabet)
        files = {"model": self.model_path, "plot": self.plot, "report": self.report and self.report.path}
        if self.as_json:
            print_json({**files, **run.as_json()})
        elif not self.quiet:
            print_facts(run.facts() + [(name, str(path)) for name, path in files.items() if path is not None])
        return run.status
