"""Markdown for pages: tables, and sections with the command that measures them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.measure import median


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(title: str, command: str, words: str, table: str) -> str:
    return f"### {title}\n\n`{command}`\n\n{words}\n\n{table}"


def spreads(cells: Iterable[Sequence[float]]) -> str:
    """How far repeats lie apart, in a sentence for below a table of medians; nothing where nothing was repeated."""
    shares = sorted((max(runs) - min(runs)) / median(runs) for runs in cells if len(runs) > 1)
    if not shares:
        return ""
    return (
        f" Run-to-run spread: {median(shares):.0%} of the median (median cell), at most "
        f"{shares[int(0.9 * (len(shares) - 1))]:.0%} in nine of ten cells."
    )
