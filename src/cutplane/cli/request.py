"""What `cutplane train` was asked to do, whatever the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cutplane._types import Label, Params
from cutplane.cli.data import Examples, Sentences, read_data
from cutplane.cli.divided import number_notes, read_numbers
from cutplane.cli.judgement import Judgement, certify, judged
from cutplane.cli.output import print_facts, print_json
from cutplane.cli.settings import Settings
from cutplane.cli.streams import named
from cutplane.cli.tables import not_utf8
from cutplane.cli.thresholds import Rule, check_two_classes
from cutplane.cli.train import TrainOptions
from cutplane.cli.training import Run, keep


@dataclass(frozen=True, kw_only=True)
class TrainRequest(TrainOptions, Settings):
    """The arguments and options of the command, the words it was called with, and which of its options were given."""

    command: str
    given_options: dict[str, object]

    @cached_property
    def data(self) -> Path:
        """The file of the examples; on a cluster that may be a pattern."""
        return Path(self.files)

    def read(self) -> Examples:
        """The examples of the file."""
        return read_numbers(self)

    def read_test(self, train: Examples) -> Examples | None:
        """The held-out examples, as wide as those trained on: before any training."""
        if self.test is None:
            return None
        examples = read_data(self.test, zero_based=train.zero_based, threads=self.threads, target=self.target)
        found, expected = examples.X.shape[1], train.X.shape[1]
        if found > expected and train.names is None:
            raise ValueError(
                f"{self.test} has {found} features, but the data to train on has {expected}; "
                f"--n-features {found} is for both."
            )
        return examples.widened(expected, self.test, "the data to train on has")

    def read_names(self, train: Examples) -> list[str] | None:
        """The names of the features: one line each of a file, or those of the columns."""
        if self.feature_names is None:
            return train.names
        try:
            names = self.feature_names.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            raise not_utf8(self.feature_names) from None
        if len(names) != train.X.shape[1]:
            raise ValueError(
                f"{self.feature_names} has {len(names)} lines, but there are {train.X.shape[1]} features to name."
            )
        return names

    def notes(self, train: Examples) -> dict[str, object]:
        """What the model file keeps, for other files to be read alike."""
        return number_notes(self, train)

    @property
    def kept(self) -> Params:
        """A proof in the model file, and checkpoints."""
        every = {} if self.checkpoint is None else {"checkpoint_every": self.checkpoint_every}
        return self.given("checkpoint") | every

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
        if isinstance(train, Examples) and isinstance(held_out, Examples):
            certify(run.model, train)
            notes = notes | self._threshold(run.model, held_out)
        keep(run.model, self.model_path, {"data": self.data.name, **notes, "options": self.given_options})
        if self.plot is not None:
            from cutplane.report.plots import save_convergence

            save_convergence(run.model.history_, self.plot, tol=run.model.tol, labels=labels)
        if self.report_path is not None:
            from cutplane.cli.loading_code import loading_code
            from cutplane.cli.reporting import write

            read = [self.data, self.test, self.feature_names, self.template]
            code = None if train is None else loading_code(self.data, train, self.template, self.alphabet)
            write(
                self.report_path,
                run,
                train,
                held_out,
                names,
                command=self.command,
                files=[each for each in read if each is not None],
                loading=code,
            )
        judgement = judged(run.model, train, held_out, notes.get("threshold"))
        files = {"model": self.model_path, "plot": self.plot, "report": self.report_path}
        if self.as_json:
            print_json({**files, **run.as_json(), **judgement.as_json()})
        elif not self.quiet:
            self._print(run, judgement, files)
        return run.status

    def _threshold(self, model: Any, held_out: Examples) -> dict[str, object]:
        """What `--threshold` asks for, chosen on the held-out examples."""
        if self.threshold is None:
            return {}
        rule, classes = Rule.parsed(self.threshold), check_two_classes(model)
        return {"threshold": rule.best(model.decision_function(held_out.X), held_out.y == classes[1])}

    def _print(self, run: Run, judgement: Judgement, files: dict[str, Path | None]) -> None:
        judgement.warn()
        useless = judgement.found is not None and judgement.found.is_useless
        styles = {"accuracy": "yellow"} if useless else run.styles()
        facts = [*run.facts(), *judgement.facts()]
        print_facts(facts + [(name, named(str(path))) for name, path in files.items() if path is not None], styles)
