"""The report of a run that goes on: the page as far as it is known, made when it is asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cutplane.report.certificate import proven_within
from cutplane.report.markup import Markup, element, number, seconds, text
from cutplane.report.page import render_page
from cutplane.report.sections import convergence, phases
from cutplane.report.time_left import in_words, time_left
from cutplane.report.trained import Trained
from cutplane.report.verdict import warning_mark
from cutplane.solvers.certificates import ProblemCertificate
from cutplane.solvers.result import Step

# What brings the page up to date; a reader may stop it, as whatever moves must be stoppable.
SCRIPT = """
const button = document.getElementById('pause');
let paused = false;
button.hidden = false;
button.onclick = () => {
  paused = !paused;
  button.textContent = paused ? 'Go on' : 'Pause';
};
async function look() {
  if (!paused) {
    try {
      const answer = await fetch(location.href, {cache: 'no-store'});
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      document.getElementById('results').replaceWith(page.getElementById('results'));
      if (page.getElementById('ended')) { button.hidden = true; return; }
    } catch (error) {
      document.getElementById('state').textContent = 'The run can no longer be reached: it has ended.';
      button.hidden = true;
      return;
    }
  }
  setTimeout(look, 1000);
}
setTimeout(look, 1000);
"""


@dataclass
class _SoFar:
    """As much of a fitted model as the sections of a page ask for."""

    tol: float
    certificates_: list[ProblemCertificate] = field(default_factory=list)


class LiveRun:
    """Takes the steps of a run as they come (pass the object as ``on_step``), and shows them as a page.

    Steps come from the thread that trains, pages are asked for by others.

    Parameters
    ----------
    title : str
        The heading.
    tol : float
        What the run is to prove.
    """

    def __init__(self, title: str, tol: float) -> None:
        self._title, self._tol = title, tol
        self._lock = threading.Lock()
        self._steps: dict[int, list[Step]] = {}
        self._ended = False

    def __call__(self, step: Step) -> None:
        """Keep a step."""
        with self._lock:
            self._steps.setdefault(step.problem, []).append(step)

    def end(self) -> None:
        """Say that no more steps come."""
        with self._lock:
            self._ended = True

    def page(self) -> str:
        """The page as it is now."""
        with self._lock:
            runs, ended = {problem: list(steps) for problem, steps in self._steps.items()}, self._ended
        model: Any = _SoFar(self._tol, [_so_far(problem, steps, len(runs) > 1) for problem, steps in runs.items()])
        trained = Trained(model)
        found = [each for each in (convergence.section(trained), phases.section(trained)) if each is not None]
        now = datetime.now(UTC).strftime("%-d %B %Y, %H:%M:%S UTC")
        top = Markup(self._state(runs, ended) + self._figures(runs))
        button = element("button", text("Pause"), id="pause", type="button", hidden="")
        footer = "Bounds hold at every moment: what is called proven is proven, whether the run goes on or not."
        return render_page(self._title, f"As of {now}.", top, found, footer, script=SCRIPT, controls=button)

    def _state(self, runs: dict[int, list[Step]], ended: bool) -> Markup:
        if ended:
            words = "The run has ended"
        elif not runs:
            words = "No step has been taken yet"
        elif len(runs) == 1:
            words = f"Running: {proven_within(_last_gap(runs))} so far"
        else:
            words = f"Running: problem {len(runs)}, the worst so far {proven_within(_last_gap(runs))}"
        strong = element("strong", text(words), id="state")
        sign = element("div", strong, element("p", text(f"Asked for: {self._tol:g}.")), id="ended" if ended else None)
        return element("div", warning_mark(), sign, class_="verdict plain" if ended else "verdict open")

    def _figures(self, runs: dict[int, list[Step]]) -> Markup:
        if not runs:
            return Markup("")
        run = runs[max(runs)]
        last = run[-1]
        known = [
            ("Time", seconds(sum(steps[-1].seconds for steps in runs.values()))),
            ("Iterations", f"{last.iteration:,}"),
        ]
        if last.estimate is None:
            left = time_left([step.seconds for step in run], [step.gap for step in run], self._tol)
            known += [("Proven gap", f"{last.gap:.1e}"), ("Optimum", f"{number(last.lower)} to {number(last.upper)}")]
            known += [("To the tolerance", in_words(left))] if left else []
        else:
            known += [("Above the model", f"{last.violation:.1e}"), ("Objective", number(last.objective))]
        tiles = [element("div", element("dt", text(k)), element("dd", text(v)), class_="tile") for k, v in known]
        return element("dl", *tiles, class_="tiles")


def _so_far(problem: int, steps: list[Step], named: bool) -> ProblemCertificate:
    last = steps[-1]
    label = f"problem {problem + 1}" if named else None
    return ProblemCertificate(label, last.upper, last.lower, "interrupted", last.iteration, last.seconds, steps)


def _last_gap(runs: dict[int, list[Step]]) -> float:
    return max(steps[-1].gap for steps in runs.values())
