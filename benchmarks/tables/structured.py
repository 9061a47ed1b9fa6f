"""The section of docs/benchmarks.md on sequences."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 60
PAGE = "../structured-models.md"
FOLDS = {"ocr-letters": "one of ten parts", "ocr-letters-large": "nine of ten parts"}
# Letters and words right, in per cent, of `svm_hmm_learn -c C` on half of the OCR words, as published in
# github.com/KhoiLe01/CRF-Lab1-512, result/benchmark/svm_struct_svmhmm_metrics.csv.
SVM_STRUCT = {1.0: (67.57, 16.63), 10.0: (75.34, 26.23), 100.0: (82.24, 41.35), 1000.0: (84.62, 48.27)}


def overview(result: dict) -> str:
    rows, machine = [], {}
    for name, cell in result["sets"].items():
        machine = cell["machine"]
        for trainer, run in cell["runs"].items():
            gap = f"{run['gap']:.2%}" if "gap" in run else ""
            rows.append([name, trainer, f"{run['figure']:.2f} {cell['figure']}", _spread(run["seconds"]), gap])
        rows += [[name, trainer, "missing", "", ""] for trainer in cell.get("missing", [])]
    words = (
        "Label sequences: test figure, seconds from lists of feature names to a model (median, least and most of the "
        "runs, which take turns), and the gap that is proven. "
        f"Everyone has the same features; C was chosen on a fifth of the training data. {machine.get('cpu')}, "
        f"{machine.get('cores')} cores, {machine.get('date')}."
    )
    table = markdown_table(["data", "trainer", "test", "training", "proven gap"], rows)
    return section("Sequences", "python benchmarks/structured.py --data DIR", words, table)


def _spread(seconds: list[float]) -> str:
    shown = f"{median(seconds):.3g} s"
    return shown if len(seconds) < 2 else f"{shown} ({min(seconds):.3g}–{max(seconds):.3g})"


def tables(result: dict) -> dict[str, str]:
    """OCR letters: shares labelled wrongly in both settings, and halves beside SVM-struct."""
    found = {"letters": _letters(result), "svm-struct": _halves(result.get("halves", {}).get("rows", []))}
    return {name: text for name, text in found.items() if text}


def _letters(result: dict) -> str:
    """On the published split and, if measured, over folds."""
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
    return markdown_table(header, rows) if rows else ""


def _halves(rows: list[dict]) -> str:
    """By C: SVM-struct as published, ours over the halves that were drawn."""
    lines = []
    for C in dict.fromkeys(row["C"] for row in rows):
        own = [row for row in rows if row["C"] == C]
        theirs = [f"{share:.1f} %" for share in SVM_STRUCT.get(C, ())] or ["", ""]
        means = []
        for what in ("letters", "words"):
            values = [row[what] for row in own]
            means.append(f"{sum(values) / len(values):.1f} % ({min(values):.1f}–{max(values):.1f})")
        lines.append([f"{C:,g}", *theirs, *means, _spread([row["seconds"] for row in own])])
    header = ["C of SVM-struct", "its letters", "its words", "our letters", "our words", "our training"]
    return markdown_table(header, lines) if lines else ""


def plots(result: dict) -> dict:
    """Seconds of every trainer."""
    seconds = {
        name: {trainer: median(run["seconds"]) for trainer, run in cell["runs"].items()}
        for name, cell in result["sets"].items()
    }
    return {"seconds": figures.bars("Label sequences: training", seconds)} if seconds else {}
