"""Every class against the rest on a GPU, together and one by one: columns proven, and seconds.

    python benchmarks/gpu_classes.py --budget 500

Rows are float16 on the device. "scaled" and a number: class centres that far apart and normal noise, times a scale for
each feature that falls from 3 to 0.2. "isotropic": rows of length one around random points. "heavy": noise of four
degrees of freedom, rows of very different lengths, one label in twenty wrong. One by one: a few binary problems of the
same rows, one after the other, times the number of classes. Cells are drawn in an order that is always the same, until
the budget is spent.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import harness
from benchmarks.gpu_data import cupy
from benchmarks.measure import fit_seconds
from benchmarks.tables.gpu_classes import figures, tables
from cutplane import LinearSVC

ROWS = {2: 400_000, 10: 400_000, 100: 400_000, 1000: 200_000}
DATA = ("scaled 0.3", "scaled 0.18", "scaled 0.1", "isotropic", "heavy")
LOSSES, CS = ("hinge", "squared_hinge", "logistic"), (1e-6, 1e-4, 1e-2, 0.1, 1.0, 10.0)
FEATURES, BLOCK = 768, 50_000
#: Binary problems that stand for all of them, and seconds for each.
ALONE, ALONE_SECONDS = 2, 5.0


class Cell(NamedTuple):
    """What is fitted."""

    data: str
    classes: int
    loss: str
    C: float
    intercept: bool


def drawn(classes: int) -> Iterator[Cell]:
    """The cells of a number of classes: more of hinge with an intercept first."""
    cells = [Cell(data, classes, *rest) for data in DATA for rest in product(LOSSES, CS, (True, False))]
    random.Random(0).shuffle(cells)
    late = {cell: 20 * (cell.loss != "hinge") + 20 * (not cell.intercept) for cell in cells}
    yield from (cell for _, cell in sorted(enumerate(cells), key=lambda pair: pair[0] + late[pair[1]]))


def examples(data: str, n: int, classes: int) -> tuple[Any, Any]:
    """Rows and labels on the device."""
    xp = cupy()
    rng = xp.random.RandomState(0)
    y, X = rng.randint(0, classes, n).astype(xp.int32), xp.empty((n, FEATURES), xp.float16)
    apart = float(data.split()[1]) if data.startswith("scaled") else 0.18 if data == "heavy" else 1.0
    centres = apart * rng.standard_normal((classes, FEATURES), dtype=xp.float32)
    scale = xp.linspace(3.0, 0.2, FEATURES, dtype=xp.float32) if data != "isotropic" else xp.float32(1.0)
    for begin in range(0, n, BLOCK):
        part = slice(begin, begin + BLOCK)
        rows = rng.standard_normal((len(y[part]), FEATURES), dtype=xp.float32)
        if data == "heavy":
            rows /= xp.sqrt(0.25 * (rng.standard_normal((len(rows), 4), dtype=xp.float32) ** 2).sum(axis=1))[:, None]
        rows = (rows + centres[y[part]]) * scale
        if data == "isotropic":
            rows /= xp.sqrt((rows**2).sum(axis=1, keepdims=True))
        X[part] = rows.clip(-6e4, 6e4)
    if data == "heavy":
        wrong = rng.random_sample(n) < 0.05
        y[wrong] = rng.randint(0, classes, int(wrong.sum()))
    return X, y


def _alone(cell: Cell, X: Any, y: Any, settings: dict[str, Any]) -> tuple[list[float], int]:
    """Seconds of a few classes against the rest, one after the other, and how many of them are proven."""
    seconds, proven = [], 0
    for k in range(min(ALONE, cell.classes)):
        model = LinearSVC(**settings | {"time_limit": ALONE_SECONDS})
        seconds.append(fit_seconds(model, X, (y == k).astype(cupy().int8)))
        proven += model.stop_reason_ == "gap"
    return seconds, proven


def _row(cell: Cell, X: Any, y: Any, options) -> dict:
    limit = options.limit
    settings = {"C": cell.C, "loss": cell.loss, "fit_intercept": cell.intercept, "time_limit": limit}
    model = LinearSVC(**settings)
    together = fit_seconds(model, X, y)
    alone, known = _alone(cell, X, y, settings)
    each = sum(alone) / len(alone)
    problems = len(model.certificates_)
    what = f"{cell.loss.replace('_', ' ')}, C = {cell.C:g}" + ("" if cell.intercept else ", no intercept")
    row = {"data": f"{cell.data}, {len(X):,} x {FEATURES}, {cell.classes:,} classes", "what": what, "of": problems}
    row |= {"proven": sum(c.stop_reason == "gap" for c in model.certificates_), "gap": model.gap_}
    row |= {"alone_proven": known, "alone_of": len(alone), "limit": limit}
    row["accuracy"] = float((model.predict(X[:BLOCK]) == y[:BLOCK]).mean())
    return row | {"seconds": {"device": together, "one by one": each * problems}}


def measured(classes: int, options) -> list[dict]:
    """The cells of a number of classes, within their part of the budget."""
    rows, begun, last = [], perf_counter(), None
    n = ROWS[classes] // (20 if options.quick else 1)
    fit_seconds(LinearSVC(C=0.01, time_limit=20.0), *examples(DATA[0], 20_000, classes))  # compiles
    for cell in islice(drawn(classes), options.cells):
        if perf_counter() - begun > options.budget / len(ROWS):
            print(f"{classes} classes: the budget is spent", flush=True)
            break
        if last is None or last[0] != cell.data:
            last = None
            cupy().get_default_memory_pool().free_all_blocks()
            last = cell.data, *examples(cell.data, n, classes)
        rows.append(_row(cell, last[1], last[2], options))
        print(rows[-1], flush=True)
    return rows


PARTS = {f"classes-{classes}": lambda options, classes=classes: measured(classes, options) for classes in ROWS}


def main() -> None:
    """Measure what is asked for."""
    parser = harness.parser(__doc__, "gpu_classes", tuple(PARTS))
    parser.add_argument("--budget", type=float, default=480.0, help="seconds for all parts (%(default)s)")
    parser.add_argument("--cells", type=int, default=30, help="of each part, at most (%(default)s)")
    parser.set_defaults(limit=20.0)
    harness.run(parser.parse_args(), PARTS, ("cupy-cuda12x", "cupy-cuda13x"), tables, figures)


if __name__ == "__main__":
    main()
