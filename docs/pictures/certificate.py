"""The certificate as a picture: bounds of a real run, from above and from below.

python docs/pictures/certificate.py     writes docs/_static/certificate-light.svg and -dark.svg
"""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from palette import PALETTES, Palette, save

from cutplane import LinearSVC
from cutplane.datasets import load_adult

SHOWN = 40


def draw(model: LinearSVC, palette: Palette) -> Figure:
    """Upper and lower bound by iteration, what lies between them, and the gap that is left."""
    steps = model.history_[:SHOWN]
    iterations = [step.iteration for step in steps]
    upper, lower = [step.upper for step in steps], [step.lower for step in steps]
    figure = Figure(figsize=(8, 3.6), layout=ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.15))
    axes = figure.add_subplot(facecolor=palette.paper)
    axes.fill_between(iterations, lower, upper, color=palette.between, label="the optimum is in here")
    axes.plot(iterations, upper, color=palette.above, linewidth=2, label="objective of the best model so far")
    axes.plot(iterations, lower, color=palette.below, linewidth=2, label="lower bound: no model is below it")
    axes.set_xlim(iterations[0], iterations[-1])
    spread = upper[-1]
    axes.set_ylim(0.75 * spread, 1.15 * spread)
    axes.set_xlabel("planes found", color=palette.ink)
    axes.set_ylabel("½|w|² + C·Σ losses", color=palette.ink)
    axes.annotate(
        f"after {iterations[-1]} planes: at most {steps[-1].gap:.1%}\nabove the optimum, proven",
        (iterations[-1], upper[-1]),
        (0.66 * iterations[-1], 1.07 * spread),
        color=palette.ink,
        ha="center",
        arrowprops={"arrowstyle": "->", "color": palette.line},
    )
    axes.tick_params(colors=palette.ink)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(palette.line)
    legend = axes.legend(loc="lower right", frameon=False)
    for text in legend.get_texts():
        text.set_color(palette.ink)
    return figure


def main() -> None:
    """Train by the paper's algorithm on the census data that comes with the package, and draw it."""
    model = LinearSVC(C=0.1, method="oca", tol=1e-3).fit(*load_adult())
    for palette in PALETTES:
        save(draw(model, palette), "certificate", palette)


if __name__ == "__main__":
    main()
