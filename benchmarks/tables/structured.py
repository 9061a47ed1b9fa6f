"""The README's section on sequences."""

from __future__ import annotations

from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 60


def readme(result: dict) -> str:
    rows, machine = [], {}
    for name, cell in result["sets"].items():
        machine = cell["machine"]
        for trainer, run in cell["runs"].items():
            gap = f"{run['gap']:.2%}" if "gap" in run else ""
            rows.append(
                [name, trainer, f"{run['figure']:.2f} {cell['figure']}", f"{median(run['seconds']):.2g} s", gap]
            )
    words = (
        "Label sequences: test figure, seconds from lists of feature names to a model, and the gap that is proven. "
        f"Everyone has the same features; C was chosen on a fifth of the training data. {machine.get('cpu')}, "
        f"{machine.get('cores')} cores, {machine.get('date')}."
    )
    table = markdown_table(["data", "trainer", "test", "training", "proven gap"], rows)
    return section("Sequences", "python benchmarks/structured.py --data DIR", words, table)
