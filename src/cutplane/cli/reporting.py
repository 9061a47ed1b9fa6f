"""The report of `cutplane train --report` and of `cutplane path --report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cutplane.cli.data import Examples, Sentences
from cutplane.cli.training import Run
from cutplane.report import trained
from cutplane.report.build import write_report
from cutplane.report.searched import Searched
from cutplane.report.trained import Trained


def write(
    path: Path,
    run: Run,
    train: Examples | Sentences | None,
    held_out: Examples | Sentences | None,
    names: list[str] | None,
    *,
    command: str,
    files: Sequence[Path],
    loading: str | None,
    searched: Searched | None = None,
) -> None:
    """Write the page: `command` is what was run, `files` what it read (the examples first), `loading` Python for it.

    `searched` is the grid that the model was chosen from.
    """
    about = Trained(
        run.model,
        train=None if train is None else trained.Examples(train.X, train.y, train.qid),
        held_out=None if held_out is None else trained.Examples(held_out.X, held_out.y, held_out.qid),
        feature_names=names,
        first_feature=0 if train is not None and train.zero_based else 1,
        data=files[0].name,
        command=command,
        files=files,
        loading=loading,
        seconds=run.seconds,
        searched=searched,
    )
    write_report(about, path)
