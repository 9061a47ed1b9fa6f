"""The README's section on sequences."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 60
PAGE = "../structured-models.md"
FOLDS = {"ocr-letters": "one of ten parts", "ocr-letters-large": "nine of ten parts"}


def readme(result: dict) -> str:
    rows, machine = [], {}
    for name, cell in result["sets"].items():
        machine = cell["machine"]
        for trainer, run in cell["runs"].items():
            gap = f"{run['gap']:.2%}" if "gap" in run else ""
            rows.append(
                [name, trainer, f"{run['figure']:.2f} {cell['figure']}", f"{median(run['seconds']):.3g} s", gap]
            )
    words = (
        "Label sequences: test figure, seconds from lists of feature names to a model, and the gap that is proven. "
        f"Everyone has the same features; C was chosen on a fifth of the training data. {machine.get('cpu')}, "
        f"{machine.get('cores')} cores, {machine.get('date')}."
    )
    table = markdown_table(["data", "trainer", "test", "training", "proven gap"], rows)
    return section("Sequences", "python benchmarks/structured.py --data DIR", words, table)


def tables(result: dict) -> dict[str, str]:
    """Shares of OCR letters labelled wrongly in both settings: on the published split and, if measured, over folds."""
    rows = []
    for name, trained in FOLDS.items():
        runs = result["sets"].get(name, {}).get("runs", {})
        folds = result.get("folds", {}).get("rows", {}).get(name, [])
        for trainer, run in runs.items():
            errors = [100.0 - fold[trainer]["figure"] for fold in folds if trainer in fold]
            mean = (
                f"{sum(errors) / len(errors):.1f} % ({min(errors):.1f}–{max(errors):.1f})" if errors else "not measured"
            )
            rows.append([trained, trainer, f"{100.0 - run['figure']:.1f} %", mean])
    header = ["trained on", "trainer", "wrong, published split", "wrong, ten folds"]
    return {"letters": markdown_table(header, rows)} if rows else {}


def plots(result: dict) -> dict:
    """Seconds of every trainer."""
    seconds = {
        name: {trainer: median(run["seconds"]) for trainer, run in cell["runs"].items()}
        for name, cell in result["sets"].items()
    }
    return {"seconds": figures.bars("Label sequences: training", seconds)} if seconds else {}
