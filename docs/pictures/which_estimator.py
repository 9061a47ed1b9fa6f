"""Which estimator: the decision guide as a picture.

python docs/pictures/which_estimator.py     writes docs/_static/which-estimator-light.svg and -dark.svg
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from palette import PALETTES, Palette, save

# What you have, and for each further answer what to take.
GUIDE = {
    "classes": (
        ("a linear boundary, any number of rows", "LinearSVC"),
        ("probabilities", "LogisticRegression"),
        ("a curved boundary", "SVC or NuSVC"),
        ("curved, more rows than a kernel matrix can have", "SampledCutSVC"),
        ("the same by features of a kernel", "CholeskyFeatures or WhitenedKernelMap, then LinearSVC"),
        ("a rare class: ROC area, F1, precision at k", 'LinearSVC(loss="roc_area")'),
    ),
    "numbers": (
        ("a linear function; quantiles; outliers", "LinearSVR"),
        ("a curve", "SVR or NuSVR"),
    ),
    "an order": (
        ("within queries, or of all rows", "RankSVM"),
        ("ordered classes", "OrdinalSVC"),
    ),
    "no labels": (
        ("what is unlike the others, linear", "LinearOneClassSVM"),
        ("the same with a kernel", "OneClassSVM"),
    ),
    "strings": (("DNA, proteins: sites, genomes to scan", "StringSVC"),),
    "objects": (
        ("a label for each token", "SequenceSVM"),
        ("trees, sets, matchings, your own", "StructuralSVM"),
        ("with a kernel", "KernelStructuralSVM"),
    ),
    "a C to choose": (
        ("classes", "LinearSVCCV"),
        ("probabilities", "LogisticRegressionCV"),
        ("numbers", "LinearSVRCV"),
    ),
}

WIDTH, ROW, SPACE = 12.6, 0.42, 0.22  # inches
HAVE, ASK, TAKE = (0.1, 1.6), (2.1, 4.6), (7.1, 5.4)  # where a column begins, and how wide it is


def box(axes: Axes, column: tuple[float, float], middle: float, height: float, text: str, face: str, ink: str) -> None:
    """A rounded box with a line of text."""
    left, width = column
    shape = FancyBboxPatch(
        (left, middle - height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.1",
        facecolor=face,
        linewidth=0,
    )
    axes.add_patch(shape)
    axes.text(left + width / 2, middle, text, ha="center", va="center", color=ink, fontsize=13)


def join(axes: Axes, left: tuple[float, float], right: tuple[float, float], colour: str) -> None:
    """A curve from the right of one box to the left of another."""
    (x0, y0), (x1, y1) = left, right
    between = 0.5 * (x0 + x1)
    axes.plot([x0, between, between, x1], [y0, y0, y1, y1], color=colour, linewidth=1.3, solid_joinstyle="round")


def draw(palette: Palette) -> Figure:
    """Three columns: what you have, what you want of it, what to take."""
    rows = sum(len(answers) for answers in GUIDE.values())
    height = rows * ROW + len(GUIDE) * SPACE + 0.75
    figure = Figure(figsize=(WIDTH, height), facecolor=palette.paper)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(0, height))
    axes.set_axis_off()
    y = height - 0.35
    for (left, width), title in zip((HAVE, ASK, TAKE), ("you have", "you want", "take"), strict=True):
        axes.text(left + width / 2, y, title, ha="center", va="center", color=palette.ink, fontsize=14, weight="bold")
    y -= 0.25
    for have, answers in GUIDE.items():
        y -= SPACE
        middle = y - 0.5 * len(answers) * ROW
        box(axes, HAVE, middle, 0.8 * ROW, have, palette.between, palette.ink)
        for ask, take in answers:
            y -= ROW
            row = y + ROW / 2
            join(axes, (sum(HAVE), middle), (ASK[0], row), palette.line)
            join(axes, (sum(ASK), row), (TAKE[0], row), palette.line)
            box(axes, ASK, row, 0.8 * ROW, ask, palette.box, palette.ink)
            box(axes, TAKE, row, 0.8 * ROW, take, palette.above, palette.paper)
    return figure


def main() -> None:
    """Both of them."""
    for palette in PALETTES:
        save(draw(palette), "which-estimator", palette)


if __name__ == "__main__":
    main()
