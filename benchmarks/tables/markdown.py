"""Markdown for the README: tables, and sections with the command that measures them."""

from __future__ import annotations


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(title: str, command: str, words: str, table: str) -> str:
    return f"### {title}\n\n`{command}`\n\n{words}\n\n{table}"
