"""The command line of the random problems."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

from cutplane.testing.random_problems.families import FAMILIES, ROUND, drawn
from cutplane.testing.random_problems.snippets import Cabinet
from cutplane.testing.random_problems.trial import Outcome
from cutplane.testing.random_problems.workers import Order, outcomes


class Tally:
    """Counts by estimator and loss."""

    def __init__(self) -> None:
        self.problems: Counter[tuple[str, str]] = Counter()
        self.fits: Counter[tuple[str, str]] = Counter()
        self.unproven: Counter[tuple[str, str]] = Counter()
        self.kinds: Counter[tuple[str, str, str]] = Counter()
        self.worst: dict[tuple[str, str, str], float] = {}
        self.refusals: Counter[str] = Counter()

    def add(self, name: str, loss: str, outcome: Outcome) -> None:
        """One problem more."""
        row = (name, loss)
        self.problems[row] += 1
        self.fits[row] += outcome.fits
        self.unproven[row] += sum(reason == "stalled" for reason in outcome.reasons)
        self.refusals.update(outcome.refused)
        for kind in {failure.name for failure in outcome.failures}:
            self.kinds[(*row, kind)] += 1
        for failure in outcome.failures:
            key = (*row, failure.name)
            self.worst[key] = max(self.worst.get(key, 0.0), failure.excess)

    def table(self) -> str:
        """Problems, models, those that stalled, and problems that failed, by kind."""
        lines = [f"{'estimator':<20}{'loss':<28}{'problems':>9}{'models':>8}{'stalled':>8}  failures (problems)"]
        for row in sorted(self.problems):
            failed = ", ".join(self._failed(key) for key in sorted(self.kinds) if key[:2] == row) or "none"
            counts = f"{self.problems[row]:>9}{self.fits[row]:>8}{self.unproven[row]:>8}"
            lines.append(f"{row[0]:<20}{row[1]:<28}{counts}  {failed}")
        if self.refusals:
            lines += ["", "Refused:", *(f"{count:>6}  {text}" for text, count in self.refusals.most_common(20))]
        return "\n".join(lines)

    def _failed(self, key: tuple[str, str, str]) -> str:
        worst = self.worst[key]
        return f"{key[2]}: {self.kinds[key]}" + (f" (worst {worst:.0e})" if isfinite(worst) else "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m cutplane.testing",
        description="Draw random problems, train every estimator on them and judge the certificates exactly.",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--hours", type=float, help="how long")
    length.add_argument("--problems", type=int, help="how many problems (default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=sorted(FAMILIES), metavar="NAME", help="an estimator")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds a call may take")
    parser.add_argument("--rounding", type=float, default=0.0, help="pass over what is wrong by less, relatively")
    parser.add_argument("--folder", type=Path, default=Path("failures"), help="where failures are written")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print the source of one problem, and stop")
    return parser


def _show(order: Order, number: int) -> None:
    _, problem = drawn(order.names, order.seed, number)
    print(problem.data_source())
    for way in problem.ways:
        print(problem.way_source(way))


def main(given: Sequence[str] | None = None) -> int:
    """Run; 1 if anything failed."""
    wanted = _parser().parse_args(given)
    solver = find_spec("cvxpy") is not None
    if not solver:
        print("CVXPY is not installed: bounds are held against the models of the library alone.")
    order = Order(tuple(wanted.only or ROUND), wanted.seed, wanted.rounding, wanted.limit, solver)
    if wanted.show is not None:
        _show(order, wanted.show)
        return 0
    begin, tally, cabinet = time.monotonic(), Tally(), Cabinet(wanted.folder)
    most = None if wanted.hours is not None else (wanted.problems or 1000)

    def goes_on(number: int) -> bool:
        return number < most if most is not None else time.monotonic() - begin < 3600.0 * wanted.hours

    said = begin
    for number, outcome in outcomes(order, wanted.jobs, goes_on):
        name = order.names[number % len(order.names)]
        _, problem = drawn(order.names, order.seed, number)
        tally.add(name, problem.loss, outcome)
        for failure in outcome.failures:
            path = cabinet.keep(name, problem, failure, number)
            if path is not None:
                print(f"{failure.name}: {name} {problem.loss}: {failure.message.splitlines()[-1][:160]} -> {path}")
        if time.monotonic() - said > 10.0:
            said = time.monotonic()
            count = sum(tally.problems.values())
            print(f"{count} problems in {said - begin:.0f} s, {sum(tally.kinds.values())} failures", flush=True)
    print(tally.table())
    return 1 if tally.kinds else 0
