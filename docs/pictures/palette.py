"""Colours of the pictures of the site: each is drawn twice, for light pages and for dark ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

STATIC = Path(__file__).resolve().parents[1] / "_static"

# The same picture has the same bytes: no date, no random names; letters as outlines, which need no font.
mpl.rcParams.update({"svg.hashsalt": "cutplane", "svg.fonttype": "path", "font.size": 11})


@dataclass(frozen=True)
class Palette:
    """Paper, ink, lines, and the colours of what comes from above, from below, and of what is between."""

    name: str
    paper: str
    ink: str
    line: str
    above: str
    below: str
    between: str
    box: str


PALETTES = (
    Palette("light", "#ffffff", "#1f2328", "#9aa4ae", "#0550ae", "#9a4a00", "#dbe9fb", "#eef3f9"),
    Palette("dark", "#14181e", "#e6e9ed", "#77818c", "#7ab8ff", "#ffb067", "#223a5a", "#1f2935"),
)


def save(figure: Figure, name: str, palette: Palette) -> None:
    """As docs/_static/NAME-light.svg or NAME-dark.svg."""
    path = STATIC / f"{name}-{palette.name}.svg"
    figure.savefig(path, facecolor=palette.paper, metadata={"Date": None, "Creator": None})
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
