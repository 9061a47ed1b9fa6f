"""The section of docs/benchmarks.md on data larger than memory."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.tables.markdown import markdown_table, section

ORDER = 46


def overview(result: dict) -> str:
    run, machine = result["run"], result["machine"]
    words = (
        "Rows of 100 features in single precision, in a process that may have so many bytes of addresses, libraries "
        "and stacks of threads included; hinge loss, free intercept. Every pass is read from the disk, as nothing "
        "stays in the page cache; beside it, what the disk takes to deliver as many passes to one that only reads. "
        f"{machine['cpu']}, {machine['date']}, {run['threads']} threads."
    )
    header = ["rows", "limit", "addresses used, resident", "training, proven", "passes", "disk alone", "ratio"]
    row = [
        f"{run['rows']:,}, {run['gigabytes']:.3g} GB",
        f"{run['limit_gb']:g} GB",
        f"{run['most_addresses_gb']:.2f} GB, {run['most_resident_gb']:.2f} GB",
        f"{run['fit_seconds']:.3g} s, {run['gap']:.1e}",
        f"{run['passes']:.3g}",
        f"{run['passes'] * run['read_seconds']:.3g} s",
        f"{run['ratio']:.2f}",
    ]
    return section(
        "Data larger than memory",
        "python benchmarks/larger_than_memory.py",
        words,
        markdown_table(header, [row]),
    )


def plots(result: dict) -> dict:
    """Training beside what the disk takes for as many passes, and where its time goes."""
    run = result["run"]
    seconds = {
        "in all": {"training": run["fit_seconds"], "disk alone, as many passes": run["passes"] * run["read_seconds"]},
        "by phase": {phase: max(spent, 1e-3) for phase, spent in run["phases"].items()},
    }
    return {"seconds": figures.bars(f"{run['gigabytes']:.3g} GB in {run['limit_gb']:g} GB of addresses", seconds)}
