"""The section of docs/benchmarks.md on reading files."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section, spreads

ORDER = 80


def overview(result: dict) -> str:
    machine = result["machine"]
    rows = [
        [
            f"`{file['file']}`, {file['bytes'] / 1e6:.0f} MB",
            *(f"{file['median_seconds'][name]:.2g} s" for name in file["median_seconds"]),
            f"{file['times_scikit_learn']['cutplane']:.1f}x",
        ]
        for file in result["files"]
    ]
    header = ["file", *result["files"][0]["median_seconds"], "ratio"]
    words = (
        "Reading svmlight files: covtype with every digit, with six, and compressed."
        f"{spreads(times for file in result['files'] for times in file['seconds'].values())} "
        f"{machine['cores']} cores, {machine['cpu']}, {result['date']}."
    )
    command = "python benchmarks/reading.py --data DIR --out benchmarks/results/reading.json"
    return section("Reading files", command, words, markdown_table(header, rows))


def plots(result: dict) -> dict:
    """Seconds of every reader."""
    seconds = {
        file["file"]: {reader: median(times) for reader, times in file["seconds"].items()} for file in result["files"]
    }
    return {"seconds": figures.bars("Reading a file", seconds)} if seconds else {}
