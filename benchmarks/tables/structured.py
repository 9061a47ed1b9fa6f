"""The README's section on sequences."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.harness import spread
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
    """OCR letters over the folds: means with the worst and the best."""
    if "folds" not in result:
        return {}
    rows = []
    for name, trained in FOLDS.items():
        folds = result["folds"]["rows"][name]
        for trainer in folds[0]:
            errors = [100.0 - fold[trainer]["figure"] for fold in folds]
            seconds = spread([fold[trainer]["seconds"] for fold in folds])
            mean = sum(errors) / len(errors)
            rows.append([trained, trainer, f"{mean:.1f} % ({min(errors):.1f}–{max(errors):.1f})", f"{seconds} s"])
    machine = result["folds"]["machine"]
    words = (
        "OCR letters: share of letters labelled wrongly, mean over ten folds (the best and the worst), and seconds. "
        "The parts are drawn anew with a fixed seed, as the file does not say which fold a word is in. "
        f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}."
    )
    return {"folds": f"{words}\n\n{markdown_table(['trained on', 'trainer', 'wrong', 'training'], rows)}"}


def plots(result: dict) -> dict:
    """Seconds of every trainer."""
    seconds = {
        name: {trainer: median(run["seconds"]) for trainer, run in cell["runs"].items()}
        for name, cell in result["sets"].items()
    }
    return {"seconds": figures.bars("Label sequences: training", seconds)} if seconds else {}
