"""A badge: how much of the package the tests run, in whole percent of lines and branches.

python docs/pictures/coverage_badge.py coverage.xml     writes docs/_static/coverage.svg
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

BADGE = Path(__file__).resolve().parents[1] / "_static" / "coverage.svg"
COLOURS = ((90, "#1a7f37"), (75, "#8a6100"), (0, "#b3261e"))  # white letters on each have a contrast of at least 4.5

SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="108" height="20" role="img" aria-label="coverage: {percent} %">
  <title>coverage: {percent} %</title>
  <rect width="64" height="20" rx="3" fill="#444c56"/>
  <rect x="60" width="48" height="20" rx="3" fill="{colour}"/>
  <rect x="60" width="4" height="20" fill="{colour}"/>
  <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
    <text x="30" y="14" textLength="50">coverage</text>
    <text x="84" y="14">{percent} %</text>
  </g>
</svg>
"""


def percent_covered(report: Path) -> int:
    """Of lines and branches together, as coverage.py counts them; rounded down, so that 100 means all."""
    root = ElementTree.parse(report).getroot()
    covered, valid = (
        sum(int(root.attrib[f"{what}-{which}"]) for what in ("lines", "branches")) for which in ("covered", "valid")
    )
    return 100 * covered // valid


def badge(percent: int) -> str:
    """The picture."""
    colour = next(colour for least, colour in COLOURS if percent >= least)
    return SVG.format(percent=percent, colour=colour)


if __name__ == "__main__":
    BADGE.write_text(badge(percent_covered(Path(sys.argv[1]))))
