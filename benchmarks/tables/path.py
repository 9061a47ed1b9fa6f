"""The section of docs/benchmarks.md on paths of C."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 20


def overview(result: dict) -> str:
    rows = []
    for cell in result["cells"]:
        ours, theirs = cell["ours"], cell["peers"]["LIBLINEAR"]
        path, dearest = median(ours["path"]), max(median(times) for times in ours["singles"].values())
        liblinear = sum(theirs["seconds"])
        rows.append(
            [
                f"{cell['data']}, {cell['loss']}",
                f"{path:.2g} s",
                f"{path / dearest:.1f}",
                f"{liblinear:.2g} s",
                f"{liblinear / path:.{0 if liblinear >= 10 * path else 1}f}x",
                f"{sum(above <= 1e-3 for above in theirs['above'])} of {len(theirs['above'])}",
                f"{max(theirs['above']):.1%}",
            ]
        )
    words = (
        "Seconds of 13 values of C from 1e-4 to 100, every model proven to 1e-3, and how many times our slowest "
        "single fit that is. LIBLINEAR's C code has the same grid, at each C with its loosest tolerance that comes "
        "within 1e-3 of the optimum. If LIBLINEAR never converges, its closest attempt counts. The last columns say "
        "at how many C it converges, and how far above the optimum it ends at worst. "
        f"2 threads, {result['machine']['cpu']}, {result['machine']['date']}."
    )
    header = ["data", "path", "/ slowest fit", "LIBLINEAR", "ratio", "arrives", "its worst"]
    return section("The path of C", "python benchmarks/path.py --data DIR", words, markdown_table(header, rows))


def plots(result: dict) -> dict:
    """Seconds of whole grids."""
    seconds = {}
    for cell in result["cells"]:
        theirs = cell["peers"].get("LIBLINEAR", {}).get("seconds")
        ours = {"our path": median(cell["ours"]["path"])}
        seconds[f"{cell['data']}, {cell['loss']}"] = ours | ({"LIBLINEAR": sum(theirs)} if theirs else {})
    return {"seconds": figures.bars("13 values of C", seconds)} if seconds else {}
