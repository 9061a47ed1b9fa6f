"""The report of a training run, put together from its sections."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from cutplane.io.atomic import replace_file
from cutplane.report.page import Section, render_page
from cutplane.report.sections import (
    convergence,
    data,
    features,
    held_out,
    path,
    phases,
    ranking,
    regression,
    reproduce,
    search,
    sequences,
    summary,
)
from cutplane.report.trained import Trained

REPORT_FORMATS = ("html", "htm")

# In the order of the page. An estimator adds its own by a method `_report_sections(trained)` that returns a list.
SECTIONS: tuple[Callable[[Trained], Section | None], ...] = (
    convergence.section,
    search.section,
    held_out.section,
    sequences.section,
    sequences.transitions,
    ranking.section,
    regression.section,
    features.section,
    path.section,
    data.section,
    phases.section,
    reproduce.section,
)
_OWN = 7  # where an estimator's own sections stand: after what it does on held-out data


def render_report(trained: Trained, title: str | None = None) -> str:
    """The page as text."""
    found = [make(trained) for make in SECTIONS[:_OWN]]
    own = getattr(trained.model, "_report_sections", None)
    found += own(trained) if own is not None else []
    found += [make(trained) for make in SECTIONS[_OWN:]]
    kind = type(trained.model).__name__
    heading = title or (kind if trained.data is None else f"{kind} on {trained.data}")
    now = datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC")
    subtitle = f"Training report, {now}. Cutplane {version('cutplane')}."
    tiles = [*held_out.tile(trained), *sequences.tile(trained), *ranking.tile(trained), *_size(trained)]
    footer = "Bounds are sums in double precision: what is called proven holds up to its rounding, about 1e-12."
    return render_page(heading, subtitle, summary.top(trained, tiles), [each for each in found if each], footer)


def write_report(trained: Trained, where: str | os.PathLike[str], title: str | None = None) -> None:
    """Write the page to a file; an existing one is replaced once the new one is complete."""
    text = render_report(trained, title)
    with replace_file(where) as file:
        file.write(text.encode("utf-8"))


def check_report_name(where: str | os.PathLike[str]) -> None:
    """`ValueError` unless the name is one that browsers open."""
    if Path(where).suffix.lower().removeprefix(".") not in REPORT_FORMATS:
        raise ValueError(f"{where} does not end in .html, so no browser would open the report.")


def _size(trained: Trained) -> list[tuple[str, str, str]]:
    features_in = getattr(trained.model, "n_features_in_", None)
    if features_in is None:
        return []
    shape = getattr(trained.train.X, "shape", None) if trained.train is not None else None
    if shape is None:
        return [("Features", f"{features_in:,}", "")]
    return [("Trained on", f"{shape[0]:,}", f"examples of {features_in:,} features")]
