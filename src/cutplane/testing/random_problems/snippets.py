"""Failures as Python files that show them: the exact call, the data as literals."""

from __future__ import annotations

import re
from pathlib import Path

from cutplane.testing.random_problems.judge import Failure
from cutplane.testing.random_problems.problem import Problem


def snippet(problem: Problem, failure: Failure) -> str:
    """A file that trains the model in question and prints what it says."""
    about = "\n".join(f"# {line}" for line in f"{failure.name}: {failure.message}".splitlines())
    size = "" if failure.excess in (0.0, float("inf")) else f"# Relative to the objective: {failure.excess:.2g}.\n"
    shows = (
        "for model in models:\n"
        "    print(model)\n"
        "    print('objective', model.objective_, 'lower bound', model.lower_bound_, 'gap', model.gap_)\n"
        "    print('stopped for', model.stop_reason_)\n"
    )
    return f"{about}\n{size}{problem.data_source()}{problem.way_source(problem.ways[failure.way])}{shows}"


def file_name(name: str, problem: Problem, failure: Failure, number: int) -> str:
    """Words and the number of the problem."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", f"{failure.name}_{name}_{problem.loss}").strip("_")
    return f"{words}_{number}.py"


class Cabinet:
    """A folder of failures: of each kind, estimator and loss the shortest few."""

    def __init__(self, folder: Path, most: int = 3) -> None:
        self.folder = folder
        self.most = most
        self._kept: dict[tuple[str, str, str], list[tuple[int, Path]]] = {}

    def keep(self, name: str, problem: Problem, failure: Failure, number: int) -> Path | None:
        """Write the failure down, unless there are shorter ones of its kind."""
        text = snippet(problem, failure)
        kept = self._kept.setdefault((failure.name, name, problem.loss), [])
        if len(kept) >= self.most and len(text) >= kept[-1][0]:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / file_name(name, problem, failure, number)
        if any(path == other for _, other in kept):
            return None
        path.write_text(text)
        kept.append((len(text), path))
        kept.sort(key=lambda pair: pair[0])
        for _, longer in kept[self.most :]:
            longer.unlink(missing_ok=True)
        del kept[self.most :]
        return path
