"""The report of `cutplane train --report`: what it needs is read before training, what it says is written after."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import typer

from cutplane.cli.data import Examples, Sentences, read_data
from cutplane.cli.loading_code import loading_code
from cutplane.cli.outputs import check_report_output
from cutplane.cli.training import Run
from cutplane.report import trained
from cutplane.report.build import write_report
from cutplane.report.trained import Trained


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was asked for, with the held-out examples and the names that go into it."""

    path: Path
    test: Path | None
    names: Path | None
    command: str

    @classmethod
    def asked(
        cls, context: typer.Context, path: Path | None, test: Path | None, names: Path | None, inputs: list[Path]
    ) -> Report | None:
        """What the options ask for, checked; None for no report."""
        if path is None:
            for option, value in (("--test", test), ("--feature-names", names)):
                if value is not None:
                    raise typer.BadParameter("is for reports: give --report too.", param_hint=option)
            return None
        check_report_output(path, inputs=[*inputs, *(each for each in (test, names) if each is not None)])
        words = context.find_root().obj or []
        return cls(path, test, names, shlex.join(["cutplane", *words]))

    def read_test(self, train: Examples, threads: int | None) -> Examples | None:
        """The held-out examples, as wide as those trained on."""
        if self.test is None:
            return None
        examples = read_data(self.test, zero_based=train.zero_based, threads=threads)
        found, expected = examples.X.shape[1], train.X.shape[1]
        if found > expected:
            raise ValueError(f"{self.test} has {found} features, but the data to train on has {expected}.")
        examples.X.resize((len(examples.y), expected))
        return examples

    def read_names(self, n_features: int) -> list[str] | None:
        """The names of the features, one line each."""
        if self.names is None:
            return None
        names = self.names.read_text(encoding="utf-8").splitlines()
        if len(names) != n_features:
            raise ValueError(f"{self.names} has {len(names)} lines, but there are {n_features} features to name.")
        return names

    def write(
        self,
        run: Run,
        data: Path,
        train: Examples | Sentences | None,
        held_out: Examples | Sentences | None,
        names: list[str] | None,
        template: Path | None = None,
        alphabet: str = "dna",
    ) -> None:
        """Write the page."""
        read = [data, self.test, self.names, template]
        about = Trained(
            run.model,
            train=None if train is None else trained.Examples(train.X, train.y, train.qid),
            held_out=None if held_out is None else trained.Examples(held_out.X, held_out.y, held_out.qid),
            feature_names=names,
            first_feature=0 if train is not None and train.zero_based else 1,
            data=data.name,
            command=self.command,
            files=[each for each in read if each is not None],
            loading=None if train is None else loading_code(data, train, template, alphabet),
            seconds=run.seconds,
        )
        write_report(about, self.path)
