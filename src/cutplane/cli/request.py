"""What `cutplane train` was asked to do, whatever the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import typer
from numpy.typing import ArrayLike

from cutplane._types import Label, Params
from cutplane.cli.class_weights import class_weight
from cutplane.cli.data import Examples, Sentences, read_data
from cutplane.cli.judgement import Judgement, judged
from cutplane.cli.kernel_options import gamma_or_word
from cutplane.cli.output import print_facts, print_json
from cutplane.cli.train import TrainOptions
from cutplane.cli.training import Run, keep


@dataclass(frozen=True, kw_only=True)
class TrainRequest(TrainOptions):
    """The arguments and options of the command, and the words that it was called with."""

    command: str

    @cached_property
    def data(self) -> Path:
        """The file of the examples; on a cluster that may be a pattern."""
        return Path(self.files)

    def read(self) -> Examples:
        """The examples of the file."""
        return read_data(
            self.data,
            zero_based=self.zero_based,
            threads=self.threads,
            n_features=self.n_features,
            target=self.target,
            quiet=self.quiet,
        )

    def read_test(self, train: Examples) -> Examples | None:
        """The held-out examples, as wide as those trained on: before any training."""
        if self.test is None:
            return None
        examples = read_data(self.test, zero_based=train.zero_based, threads=self.threads, target=self.target)
        return examples.widened(train.X.shape[1], self.test, "the data to train on has")

    def read_names(self, train: Examples) -> list[str] | None:
        """The names of the features: one line each of a file, or those of the columns."""
        if self.feature_names is None:
            return train.names
        names = self.feature_names.read_text(encoding="utf-8").splitlines()
        if len(names) != train.X.shape[1]:
            raise ValueError(
                f"{self.feature_names} has {len(names)} lines, but there are {train.X.shape[1]} features to name."
            )
        return names

    def notes(self, train: Examples) -> dict[str, object]:
        """What the model file keeps, for other files to be read alike."""
        notes: dict[str, object] = {"zero_based": train.zero_based}
        return notes if train.names is None else notes | {"columns": train.names, "target": self.target}

    def solver_params(self) -> Params:
        """The parameters that every linear estimator takes under the same names."""
        every = None if self.checkpoint is None else self.checkpoint_every
        return {
            "method": self.method.value,
            **self.given("C", "tol", "line_search", "max_iter", "time_limit", "checkpoint"),
            **({} if every is None else {"checkpoint_every": every}),
            "n_jobs": self.threads,
        }

    def intercept_params(self) -> Params:
        """How linear models treat the intercept."""
        return {"fit_intercept": not self.no_intercept, "intercept_scaling": self.intercept_scaling}

    def kernel_params(self) -> Params:
        """The parameters by which every estimator with a kernel is told of it."""
        return {
            "kernel": self.kernel,
            "gamma": gamma_or_word(self.gamma),
            "degree": self.degree,
            "coef0": self.coef0,
        }

    def given(self, *names: str) -> Params:
        """Of these parameters, those that the command line sets; an estimator has its own defaults for the others."""
        values = {name: getattr(self, name) for name in names}
        return {name: getattr(value, "value", value) for name, value in values.items() if value is not None}

    def loss_params(self) -> Params:
        """The loss, for estimators that have several; the estimator's own unless given."""
        options = {}
        for pair in self.loss_option or []:
            name, _, number = pair.partition("=")
            try:
                options[name] = float(number)
            except ValueError:
                raise typer.BadParameter(f"{pair!r} is not NAME=NUMBER.", param_hint="--loss-option") from None
        return self.given("loss") | ({"loss_options": options} if options else {})

    def weights(self, y: ArrayLike | None) -> str | dict[Label, float] | None:
        """The weights of classes with these labels; None for labels that are not known yet."""
        return class_weight(self.class_weight, None if y is None else np.unique(y).tolist())

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
            from cutplane.report.plots import save_convergence

            save_convergence(run.model.history_, self.plot, tol=run.model.tol, labels=labels)
        if self.report_path is not None:
            from cutplane.cli.reporting import write

            write(self.report_path, run, train, held_out, names, data=self.data.name, command=self.command)
        judgement = judged(run.model, train, held_out)
        files = {"model": self.model_path, "plot": self.plot, "report": self.report_path}
        if self.as_json:
            print_json({**files, **run.as_json(), **judgement.as_json()})
        elif not self.quiet:
            self._print(run, judgement, files)
        return run.status

    def _print(self, run: Run, judgement: Judgement, files: dict[str, Path | None]) -> None:
        judgement.warn()
        facts = [*run.facts(), *judgement.facts()]
        print_facts(facts + [(name, str(path)) for name, path in files.items() if path is not None], run.styles())
